"""Gradients of the random programs through ``torch.compile(backend="torch2mlir")`` against eager mode's.

    python -m tests.fuzz.gradients --count 500 --seed 7 --on onnx-onnxruntime

Each program takes three steps: results, gradients of its arguments and weights, and buffers are compared. Where
``torch.compile(backend="aot_eager")``, which runs PyTorch's own graphs of forward and backward by PyTorch, does not give
eager mode's gradients either, it is PyTorch's difference and not ours.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import asdict
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from tests.fuzz import families as _kinds  # noqa: F401 - registers the lines
from tests.fuzz.entrances import Target
from tests.fuzz.generate import FAMILIES, generate
from tests.fuzz.program import Program
from tests.fuzz.trial import CONFIGURATIONS
from torch2mlir.errors import Torch2MLIRError

HALVES = {"float16", "bfloat16"}
"""Whose gradients are sums of rounded terms: eager mode's say little."""
TIES = ("sort", "topk", "kthvalue", "mode", "median", "cummax", "cummin")
"""Which of equal elements gets the gradient is not said."""
RELATIVE = 1e-3
OF_LARGEST = {torch.float32: 3e-4, torch.float64: 1e-8}
"""How far from eager mode's a gradient may be, as a part of the largest: sums of some hundred terms."""
OUTCOMES = ("right", "refused", "not compared", "PyTorch's")
"""What may become of a program; everything else is a finding."""

Compiled = Callable[..., Sequence[Tensor]]


class Step(NamedTuple):
    """What a step leaves: forward, backward, state."""

    results: list[Tensor]
    gradients: list[Tensor | None]
    buffers: list[Tensor]


class _Leaves(nn.Module):
    """A program of leaves of autograd, which it may write to."""

    def __init__(self, program: Program) -> None:
        super().__init__()
        self.program = program.module()

    def forward(self, *leaves: Tensor) -> Sequence[Tensor]:
        return self.program(*(x * 1 if x.requires_grad else x for x in leaves))  # type: ignore[no-any-return]


def step(run: Compiled, module: nn.Module, arguments: Sequence[Tensor], seed: int) -> Step | None:
    """A forward, a loss that takes in every result, and a backward; None if no result wants a gradient."""
    leaves = [x.detach().clone().requires_grad_(x.is_floating_point()) for x in arguments]
    module.zero_grad(set_to_none=True)
    results = list(run(*leaves))
    generator, terms = torch.Generator().manual_seed(seed), list[Tensor]()
    for result in results:
        if result.requires_grad:
            factors = torch.randint(-2, 3, result.shape, generator=generator)
            terms.append((result.double() * factors).sum())
    if not terms:
        return None
    torch.stack(terms).sum().backward()
    gradients = [x.grad for x in (*leaves, *module.parameters())]
    return Step([x.detach() for x in results], gradients, [b.clone() for b in module.buffers()])


def _differs(ours: Tensor | None, theirs: Tensor | None) -> bool:
    if ours is None or theirs is None:
        given = theirs if ours is None else ours
        return given is not None and bool(
            given.any()
        )  # autograd gives zeros, or nothing in their place
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return True
    if ours.dtype not in OF_LARGEST:
        return not torch.equal(ours, theirs)
    finite = theirs.abs().nan_to_num(0, 0, 0)
    largest = max(1.0, float(finite.max()) if finite.numel() else 0.0)
    absolute = OF_LARGEST[ours.dtype] * largest
    return not torch.allclose(ours, theirs, rtol=RELATIVE, atol=absolute, equal_nan=True)


def difference(program: Program, **options: Any) -> str | None:
    """How three steps of a program through ``torch.compile`` differ from eager mode's; None if nothing is compared.

    Args:
        program: it.
        options: of ``torch.compile``: the backend and its options.

    Raises:
        Exception: it is refused.
    """
    eager = _Leaves(program)
    ours = deepcopy(eager)
    torch._dynamo.reset()
    compiled = torch.compile(ours, dynamic=program.dynamic, **options)
    bounds = program.sizes.bounds[program.seed % len(program.sizes.bounds)]
    sizes = (program.sizes.captured, program.sizes.captured, bounds)
    compared = False
    for turn, each in enumerate(sizes[: 2 + program.dynamic]):
        arguments = [_without_nans(x) for x in program.arguments(turn, each)]
        try:
            theirs = step(eager, eager, arguments, turn)
        except Exception:  # eager mode refuses these sizes, or this backward
            return "" if compared else None
        if theirs is None:
            return None
        found = step(compiled, ours, arguments, turn)
        for name, now, then in zip(Step._fields, found or (), theirs, strict=bool(found)):
            places = [i for i, (a, b) in enumerate(zip(now, then, strict=True)) if _differs(a, b)]
            if places or not found:
                return f"step {turn + 1}: {name} {places}"
        compared = True
    return ""


def _without_nans(x: Tensor) -> Tensor:
    """Numbers in place of NaNs, at which the gradients of PyTorch's vector and scalar kernels differ (``elu``)."""
    return torch.where(x.isnan(), torch.ones_like(x), x) if x.is_floating_point() else x


def _is_fit(program: Program) -> bool:
    has_ties = any(word in text for text in program.lines for word in TIES)
    return not has_ties and all(x.dtype not in HALVES for x in program.inputs)


def findings(
    first: int,
    count: int,
    target: Target,
    tally: Counter[str],
    until: float = float("inf"),
    families: Sequence[str] = (),
) -> Iterator[str]:
    """What differs of the programs of consecutive seeds.

    Args:
        first: the first program's seed.
        count: how many programs.
        target: what they are compiled to.
        tally: counts what becomes of them: one of :data:`OUTCOMES`, or ``found``.
        until: of ``time.monotonic``, when no new program is taken.
        families: kinds of lines, those of all campaigns if empty.
    """
    for seed in range(first, first + count):
        if time.monotonic() > until:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = generate(seed, families, None)
            outcome = _outcome(program, target)
        tally[outcome if outcome in OUTCOMES else "found"] += 1
        if outcome not in OUTCOMES:
            yield f"{outcome}\n{program.report()}"


def _outcome(program: Program, target: Target) -> str:
    if not _is_fit(program):
        return "not compared"
    try:
        found = difference(program, backend="torch2mlir", options=asdict(target))
    except Exception as error:
        if isinstance(error.__cause__ or error, Torch2MLIRError):
            return "refused"
        found = f"{type(error).__name__}: {error}"
    if found is None:
        return "not compared"
    return "right" if not found else "PyTorch's" if _is_pytorchs(program) else found


def _is_pytorchs(program: Program) -> bool:
    """Whether PyTorch's own graphs differ from eager mode as well, or cannot be made."""
    try:
        return bool(difference(program, backend="aot_eager"))
    except Exception:
        return True


def main() -> int:
    """Runs a campaign; 1 if something differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.gradients", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="how many programs")
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="no new ones after")
    parser.add_argument("--families", default="", help=f"of {', '.join(sorted(FAMILIES))}")
    parser.add_argument("--on", default="stablehlo-xla", choices=CONFIGURATIONS)
    options = parser.parse_args()
    tally, until = Counter[str](), time.monotonic() + 60 * options.minutes
    target = Target(*CONFIGURATIONS[options.on])
    families = tuple(part for part in options.families.split(",") if part)
    for finding in findings(options.seed, options.count, target, tally, until, families):
        print(f"## {finding}", flush=True)
    print(", ".join(f"{name} {count}" for name, count in sorted(tally.items())))
    return 1 if tally["found"] else 0


if __name__ == "__main__":
    sys.exit(main())
