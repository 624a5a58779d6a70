"""Sorting in ONNX: ``TopK``, for a sort of as many elements as there are, which keeps the order of equal ones.

NaN is beyond all numbers. ``TopK`` does not know that, so where there is one a second sort moves NaNs to their end.
"""

from __future__ import annotations

import math

from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import si64
from torch2mlir.conversion.control_flow import region_of
from torch2mlir.conversion.lowering import ResultType, Tensor
from torch2mlir.conversion.torch_to_onnx.lowering import OnnxLowering, lowers
from torch2mlir.conversion.torch_to_onnx.words import ui8
from torch2mlir.dialects import onnx
from torch2mlir.dialects.torch.dims import KnownSize


@lowers("aten.sort.stable")
def sort(
    lower: OnnxLowering, x: Tensor, stable: bool | None, dim: int, descending: bool
) -> list[Tensor]:
    """The elements along a dimension in order, and where each was."""
    if x.rank == 0 or 0 in x.sizes:
        return [x, lower.splat(0, x.sizes, si64)]
    return _first(lower, x, x.sizes[dim], dim, descending)


@lowers("aten.topk")
def topk(
    lower: OnnxLowering, x: Tensor, k: KnownSize, dim: int, largest: bool, ordered: bool
) -> list[Tensor]:
    """The first ``k`` elements along a dimension in order, and where each was."""
    if x.rank == 0:
        return [x, lower.splat(0, (), si64)]
    sizes = lower.results[0].sizes
    if 0 in sizes or 0 in x.sizes:
        return [lower.splat(0, sizes, dtype) for dtype in (x.dtype, si64)]
    return _first(lower, x, k, dim % x.rank, largest)


def _first(
    lower: OnnxLowering, x: Tensor, count: KnownSize, axis: int, descending: bool
) -> list[Tensor]:
    """So many elements of each line in order, and where each was."""
    if not element_types.is_float(x.dtype):
        keys = lower.cast(x, ui8) if element_types.is_bool(x.dtype) else x
        values, places = _sorted(lower, keys, axis, descending, count)
        return [lower.cast(values, x.dtype), places]
    undefined = lower.apply("IsNaN", x, dtype=i1)
    every = lower.vector(range(x.rank))
    any_nan = lower.node(
        "ReduceMax", lower.cast(undefined, ui8), every, sizes=(), dtype=ui8, keepdims=0
    )
    sizes = _line_of(x, axis, count)
    results = [ResultType(sizes, x.dtype), ResultType(sizes, si64)]

    def of_numbers() -> list[SSAValue]:
        return [each.value for each in _sorted(lower, x, axis, descending, count)]

    def with_nan() -> list[SSAValue]:
        every = _nan_last(lower, x, undefined, axis, descending)
        starts, steps = [0] * x.rank, [1] * x.rank
        return [lower.slice(each, starts, sizes, steps).value for each in every]

    bodies = [region_of(lower, [], b, onnx.YieldOp) for b in (with_nan, of_numbers)]
    types = [lower.tensor_type(r.sizes, r.dtype) for r in results]
    condition = lower.cast(any_nan, i1)
    op = lower.emit(onnx.op_class("If"), [condition.value], types, regions=bodies)
    return [Tensor(v, r.sizes, r.dtype) for v, r in zip(op.results, results, strict=True)]


def _line_of(x: Tensor, axis: int, count: KnownSize) -> tuple[KnownSize, ...]:
    return (*x.sizes[:axis], count, *x.sizes[axis + 1 :])


def _sorted(
    lower: OnnxLowering, x: Tensor, axis: int, descending: bool, count: KnownSize
) -> list[Tensor]:
    sizes = _line_of(x, axis, count)
    results = [ResultType(sizes, x.dtype), ResultType(sizes, si64)]
    options = {"axis": axis, "largest": int(descending), "sorted": 1}
    return lower.nodes("TopK", [x, lower.shape([count])], results, **options)


def _nan_last(
    lower: OnnxLowering, x: Tensor, undefined: Tensor, axis: int, descending: bool
) -> list[Tensor]:
    """By number first and by being one then; both sorts keep the order of equals."""
    length = x.sizes[axis]
    _, by_number = _sorted(lower, lower.select(undefined, math.inf, x), axis, descending, length)

    def along(values: Tensor, places: Tensor) -> Tensor:
        sizes, dtype = values.sizes, values.dtype
        return lower.node("GatherElements", values, places, sizes=sizes, dtype=dtype, axis=axis)

    flags = along(lower.cast(undefined, ui8), by_number)
    _, by_flag = _sorted(lower, flags, axis, descending, length)
    places = along(by_number, by_flag)
    return [along(x, places), places]
