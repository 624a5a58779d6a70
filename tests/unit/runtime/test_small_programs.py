"""Programs for one thread are told from those that several are faster at, in every dialect."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim

import torch2mlir
from tests.threads import SMALL as MOST
from torch2mlir.runtime.lowered import LoweredFunction
from torch2mlir.runtime.small_programs import does_at_most

DIALECTS = ("stablehlo", "linalg-on-tensors", "tosa", "onnx")


def _mlp(layers: int, width: int) -> nn.Module:
    each = [layer for _ in range(layers) for layer in (nn.Linear(width, width), nn.ReLU())]
    return nn.Sequential(*each).eval().requires_grad_(False)


def _counted(x: Tensor) -> Tensor:
    return torch.while_loop(lambda x: x.sum() < 100, lambda x: (x + 1,), (x,))[0]


SMALL: dict[str, tuple[Callable[..., Tensor], tuple[int, ...]]] = {
    "eight layers of 64": (_mlp(8, 64), (1, 64)),
    "a few elements": (lambda x: torch.softmax(x.exp(), -1), (16, 64)),
    "a window": (nn.Conv2d(3, 8, 3).requires_grad_(False), (1, 3, 8, 8)),
}
LARGE: dict[str, tuple[Callable[..., Tensor], tuple[int, ...]]] = {
    "eight layers of 512": (_mlp(8, 512), (1, 512)),
    "many rows": (_mlp(8, 64), (512, 64)),
    "many elements": (torch.relu, (1024, 512)),
    "an image": (nn.Conv2d(3, 8, 3).requires_grad_(False), (1, 3, 64, 64)),
    "a loop": (_counted, (4,)),
}


def _lowered(
    model: Callable[..., Tensor], shape: tuple[int, ...], dialect: str, varies: bool = False
) -> LoweredFunction:
    shapes = ({0: Dim("rows")},) if varies else None
    module = torch2mlir.export_and_import(
        model, torch.randn(shape), output_type=dialect, dynamic_shapes=shapes
    )
    return LoweredFunction.of(module.operation, dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", SMALL)
@pytest.mark.share(2)
def test_small(name: str, dialect: str) -> None:
    assert does_at_most(MOST, _lowered(*SMALL[name], dialect))


@pytest.mark.share(4)
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", LARGE)
def test_not_small(name: str, dialect: str) -> None:
    assert not does_at_most(MOST, _lowered(*LARGE[name], dialect))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_unknown_sizes(dialect: str) -> None:
    model, shape = SMALL["a few elements"]
    assert not does_at_most(MOST, _lowered(model, shape, dialect, varies=True))
