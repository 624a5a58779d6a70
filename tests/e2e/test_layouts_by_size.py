"""Sizes of 1, and slices that are the whole, make views of what is a copy for other sizes: ``x.t().reshape(-1)``.

PyTorch traces sizes that vary as if none were 1. A write to such a view, or a question for its strides, went the
example's way in every call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.export import Dim
from torch.testing import assert_close

import torch2mlir


def _written(view: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    def program(x: Tensor) -> Tensor:
        y = x.clone()
        view(y).mul_(2)
        return y

    return program


def _written_argument(x: Tensor) -> Tensor:
    return x.t().reshape(-1).mul_(2).sum()


def _asked(x: Tensor) -> Tensor:
    return x * 2 if x.t().is_contiguous() else x + 1


def _stride(x: Tensor) -> Tensor:
    return x * x.t().contiguous().stride(0)


PROGRAMS: dict[str, Callable[[Tensor], Tensor]] = {
    "reshape": _written(lambda y: y.t().reshape(-1)),
    "contiguous": _written(lambda y: y.t().contiguous()),
    "flatten": _written(lambda y: y.t().flatten()),
    "by name": _written(lambda y: torch.reshape(input=y.t(), shape=(-1,))),
    "ravel": _written(lambda y: y.t().ravel()),
    "column": _written(lambda y: y[:, 0].contiguous()),
    "slice": _written(lambda y: y[:, :2].reshape(-1)),
    "square": _written(lambda y: y[:, : y.shape[0]].reshape(-1)),
    "expand": _written(lambda y: y[:1].expand(y.shape[0], -1).contiguous()),
    "permute": _written(lambda y: y[None].permute(2, 0, 1).reshape(y.shape[1], -1)),
    "argument": _written_argument,
    "is_contiguous": _asked,
    "stride": _stride,
}
SIZES = ((4, 6), (5, 7), (1, 4), (3, 1), (1, 1), (2, 2), (6, 6), (4, 2))


@pytest.mark.share(6)
@pytest.mark.parametrize("output_type", ["stablehlo", "onnx"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_each_size_has_its_layout(program: str, output_type: Any) -> None:
    torch.manual_seed(0)
    shapes: Any = ({0: Dim.AUTO, 1: Dim.AUTO},)
    example = torch.randn(4, 6)
    ours = torch2mlir.compile(
        PROGRAMS[program], example, dynamic_shapes=shapes, output_type=output_type
    )
    for sizes in SIZES:
        given = torch.randn(sizes)
        x, y = given.clone(), given.clone()
        assert_close(ours(x), PROGRAMS[program](y))
        assert_close(x, y)


def test_a_view_that_nobody_writes_to_goes_through_one_program() -> None:
    def program(x: Tensor) -> Tensor:
        return torch.relu_(x.t().reshape(-1) + 1) + x.sum()

    ours = torch2mlir.compile(
        program, torch.randn(4, 6), dynamic_shapes=({0: Dim.AUTO, 1: Dim.AUTO},), output_type="onnx"
    )
    decided = {name for each in ours.program.signature.decisions for name in each.symbols}
    assert not decided
    for sizes in SIZES:
        x = torch.randn(sizes)
        assert_close(ours(x), program(x))


OF_STRIDES: dict[str, Callable[[Tensor], Tensor]] = {
    "product": lambda x: _twice((x * 1), lambda y: y.reshape(-1)),
    "clone": lambda x: _twice(x.clone(), lambda y: y.t().reshape(-1)),
    "zeros": lambda x: _twice(torch.zeros_like(x) + 1, lambda y: y.contiguous()) + x,
}
"""Programs of what has the strides of their argument."""


def _twice(y: Tensor, view: Callable[[Tensor], Tensor]) -> Tensor:
    view(y).mul_(2)
    return y


@pytest.mark.parametrize("program", OF_STRIDES)
@pytest.mark.parametrize("vary", [False, True])
@pytest.mark.share(3)
def test_strides_of_arguments_decide_too(program: str, vary: bool) -> None:
    shapes: Any = ({0: Dim.AUTO, 1: Dim.AUTO},) if vary else None
    ours = torch2mlir.compile(
        OF_STRIDES[program], torch.randn(3, 6), dynamic_shapes=shapes, output_type="onnx"
    )
    for x in (
        torch.randn(3, 6),
        torch.randn(6, 3).t(),
        torch.randn(6, 12)[::2, ::2],
        torch.randn(3, 6),
    ):
        assert_close(ours(x), OF_STRIDES[program](x))
