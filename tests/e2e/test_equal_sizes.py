"""Chains of ops drawn at random in which every size is three: images, kernels, channels, batches and matrices.

Optimizers of engines look at sizes to find what can be fused with a weight or packed once for two, and where sizes are
the same they took one dimension for another. ``--full`` takes more programs, and each on
every engine; IREE compiles them for seconds.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn import functional

import torch2mlir
from tests.e2e.configurations import TARGETS, require
from torch2mlir.errors import Torch2MLIRError

CHAINS, PROGRAMS = 3, 60
OFF = 5e-4
"""Of the largest element of a result: chains divide by numbers that may be small."""
SHAPES = [
    *((3,), (3, 1), (1, 3), (3, 3), (3, 1, 1), (1, 3, 1, 1)),
    *((3, 3, 3), (1, 3, 3, 3), (3, 3, 3, 3), ()),
]
Op = Callable[[Tensor], Tensor]


class Drawn:
    """Constants of an op, and what else it is drawn with."""

    def __init__(self, numbers: random.Random, generator: torch.Generator) -> None:
        def drawn(*sizes: int) -> Tensor:
            return torch.randn(sizes, generator=generator)

        self.any = drawn(*numbers.choice(SHAPES))
        self.kernel, self.line = drawn(3, 3, 3, 3), drawn(3)
        self.dim, self.other = numbers.sample(range(4), 2)
        self.order = numbers.sample(range(4), 4)


SHARED = Drawn(random.Random(0), torch.Generator().manual_seed(0))
"""Constants that several ops of a program read, each in its own way."""


OPS: dict[str, Callable[[Drawn], Op]] = {
    "scaled": lambda d: lambda x: x * d.any,
    "moved": lambda d: lambda x: x + d.any,
    "taken from": lambda d: lambda x: d.any - x,
    "divided": lambda d: lambda x: x / (d.any.abs() + 0.5),
    "magnitude": lambda d: lambda x: (x * d.any).abs(),
    "chosen": lambda d: lambda x: torch.where(x > d.any, x, d.any),
    "larger": lambda d: lambda x: torch.maximum(x, d.any),
    "joined": lambda d: lambda x: torch.cat([x, x * 2], d.dim).narrow(d.dim, 1, 3),
    "convolved": lambda d: lambda x: functional.conv2d(x, d.kernel, d.line, padding=1),
    "convolved with shared": lambda d: lambda x: functional.conv2d(x, SHARED.kernel, padding=1),
    "convolved back": lambda d: lambda x: functional.conv_transpose2d(x, SHARED.kernel, padding=1),
    "by channel": lambda d: lambda x: functional.conv2d(x, d.kernel[:, :1], padding=1, groups=3),
    "of one place": lambda d: lambda x: functional.conv2d(x, d.kernel[..., :1, :1], d.line),
    "multiplied": lambda d: lambda x: x @ SHARED.kernel[0, 0],
    "multiplied by the transpose": lambda d: lambda x: x @ SHARED.kernel[0, 0].mT,
    "multiplied from the left": lambda d: lambda x: SHARED.kernel[0, 0] @ x,
    "linear": lambda d: lambda x: functional.linear(x, d.kernel[0, 0], d.line),
    "batches": lambda d: lambda x: x @ SHARED.kernel + x @ SHARED.kernel.mT,
    "contracted": lambda d: lambda x: torch.einsum("abcd,ce->abed", x, d.kernel[0, 0]),
    "softmax": lambda d: lambda x: x.softmax(d.dim),
    "normalized": lambda d: lambda x: functional.layer_norm(x, (3,), d.line, d.line),
    "batch norm": lambda d: (
        lambda x: functional.batch_norm(x, d.line, d.line.abs() + 0.5, d.line, d.line)
    ),
    "group norm": lambda d: lambda x: functional.group_norm(x, 1, d.line, d.line),
    "instance norm": lambda d: lambda x: functional.instance_norm(x, weight=d.line, bias=d.line),
    "pooled": lambda d: lambda x: functional.max_pool2d(x, 3, 1, 1),
    "averaged": lambda d: lambda x: functional.avg_pool2d(x, 3, 1, 1),
    "gated": lambda d: lambda x: x * x.mean((2, 3), keepdim=True).sigmoid(),
    "permuted": lambda d: lambda x: x.permute(d.order),
    "rolled": lambda d: lambda x: x.roll(1, d.dim),
    "flipped": lambda d: lambda x: x.flip(d.dim),
    "padded": lambda d: lambda x: functional.pad(x, (1, 1, 1, 1))[..., 1:4, 0:3],
    "mean": lambda d: lambda x: x - x.mean(d.dim, keepdim=True),
    "deviation": lambda d: lambda x: x.var(d.dim, correction=0, keepdim=True) + x,
    "running": lambda d: lambda x: x.cumsum(d.dim),
    "gelu": lambda d: functional.gelu,
    "silu": lambda d: functional.silu,
    "prelu": lambda d: lambda x: functional.prelu(x, d.line),
    "clamped": lambda d: lambda x: x.clamp(-0.7, 0.7),
    "negative": lambda d: torch.neg,
}


def _program(seed: int) -> tuple[Callable[[Tensor], tuple[Tensor, ...]], list[list[str]]]:
    numbers, generator = random.Random(seed), torch.Generator().manual_seed(seed)
    names = [numbers.choices(list(OPS), k=numbers.randint(2, 6)) for _ in range(CHAINS)]
    chains = [[OPS[name](Drawn(numbers, generator)) for name in chain] for chain in names]

    def program(x: Tensor) -> tuple[Tensor, ...]:
        results = []
        for chain in chains:
            result = x
            for op in chain:
                result = op(result)
            results.append(result)
        return tuple(results)

    return program, names


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    full = metafunc.config.getoption("--full")
    every = [(seed, *target) for seed in range(PROGRAMS) for target in TARGETS]
    quick = (target for target in TARGETS if target[1] != "iree")
    runs = every if full else [(seed, *target) for seed, target in enumerate(quick)]
    metafunc.parametrize("seed, output_type, engine", runs)


@torch.no_grad()
@pytest.mark.share(2)
def test_right_or_refused(seed: int, output_type: str, engine: str) -> None:
    require(engine)
    program, names = _program(seed)
    generator = torch.Generator().manual_seed(seed)
    inputs = [torch.randn(3, 3, 3, 3, generator=generator) for _ in range(4)]
    try:
        compiled = torch2mlir.compile(program, inputs[0], output_type=output_type, engine=engine)
    except Torch2MLIRError as refused:
        pytest.skip(f"refused: {str(refused).splitlines()[0]}")
    for x in inputs[1:]:
        for chain, found, expected in zip(names, compiled(x), program(x), strict=True):
            scale = max(float(expected.abs().max()), 1e-3)
            assert float((found - expected).abs().max()) <= OFF * scale, chain
