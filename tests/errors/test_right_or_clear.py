"""Programs that engines or capture once refused in words of their own: right on a dialect, or one clear error of ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim

import torch2mlir
from torch2mlir.errors import Torch2MLIRError

DIALECTS = ("stablehlo", "linalg-on-tensors", "tosa")
B = Dim("B", min=1, max=64)
EDGES = Dim("edges", min=1, max=64)


def _doubled_where_positive(x: torch.Tensor) -> torch.Tensor:
    x = x.clone()
    x[x > 0] = x[x > 0] * 2
    return x


def _some_columns(x: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    x = x.clone()
    x[rows, columns] = 0.0
    return x


def _message_passing(x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
    sums = torch.zeros_like(x).index_add(0, edges[1], x[edges[0]])
    return torch.relu(sums @ torch.ones(3, 3))


def _larger(factor: float) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda x: nn.functional.interpolate(x, scale_factor=factor)


Given = tuple[Any, tuple[torch.Tensor, ...], Any]
RIGHT: dict[str, Given] = {
    "remainder_of_a_number": (lambda x: 7 % x, (torch.rand(3) + 1,), None),
    "one_place": (
        nn.Conv2d(16, 16, 3, stride=2, bias=False),
        (torch.randn(2, 16, 4, 4),),
        ({0: B},),
    ),
    "no_rows": (lambda x: x[:, 3:], (torch.rand(4, 3),), ({0: B},)),
    "mask": (_doubled_where_positive, (torch.randn(5, 3),), None),
    "graph": (
        _message_passing,
        (torch.randn(5, 3), torch.tensor([[0, 1, 2], [1, 2, 4]])),
        ({0: B}, {1: EDGES}),
    ),
    "place_of_the_largest": (
        lambda x: torch.argmax(x, keepdim=True),
        (torch.randn(3, 4),),
        ({0: B},),
    ),
    "mask_beside_places": (
        _some_columns,
        (torch.randn(3, 4), torch.tensor([0, 1]), torch.tensor([True, False, True, False])),
        None,
    ),
    "bytes_against_aliasing": (
        lambda x: nn.functional.interpolate(x, size=(3, 3), mode="bilinear", antialias=True),
        (torch.arange(49, dtype=torch.uint8).view(1, 1, 7, 7),),
        None,
    ),
    "twice_as_large": (_larger(2.0), (torch.randn(1, 2, 4, 4),), ({2: B},)),
    "larger_by_a_half": (_larger(1.5), (torch.randn(1, 2, 4, 4),), ({2: Dim("H", min=2, max=9)},)),
}
REFUSED: dict[str, Given] = {
    # weights of 16 bits are known for sizes that are
    "bytes_of_any_size": (
        lambda x: nn.functional.interpolate(x, size=(3, 3), mode="bilinear", antialias=True),
        (torch.arange(49, dtype=torch.uint8).view(1, 1, 7, 7),),
        ({2: B},),
    ),
    # floor(h * 1.4) in doubles is no quotient of whole numbers
    "larger_by_two_fifths": (
        _larger(1.4),
        (torch.randn(1, 2, 4, 4),),
        ({2: Dim("H", min=2, max=9)},),
    ),
}


@torch.no_grad()
@pytest.mark.share(32)
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", RIGHT)
def test_is_right(name: str, dialect: str) -> None:
    model, given, shapes = RIGHT[name]
    compiled = torch2mlir.compile(model, *given, output_type=dialect, dynamic_shapes=shapes)
    for _ in range(3):
        args = [torch.rand_like(x) - 0.3 if x.is_floating_point() else x.flip(0) for x in given]
        expected = model(*[x.clone() for x in args])
        torch.testing.assert_close(compiled(*args), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.share(2)
def test_is_refused_with_op_line_and_way_out(name: str, dialect: str) -> None:
    model, given, shapes = REFUSED[name]
    with pytest.raises(Torch2MLIRError) as caught:
        torch2mlir.compile(model, *given, output_type=dialect, dynamic_shapes=shapes)(*given)
    error = caught.value
    assert error.op is not None
    assert error.location is not None and "test_right_or_clear.py" in error.location
    assert error.hint is not None
