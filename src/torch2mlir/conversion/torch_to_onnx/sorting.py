"""Sorting in ONNX: ``TopK`` of as many elements as there are, which keeps the order of equal ones.

NaN is beyond all numbers. ``TopK`` does not know that, so where there is one a second sort moves NaNs to their end.
"""

from __future__ import annotations

import math

from xdsl.dialects.builtin import i1
from xdsl.ir import Region, SSAValue

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import si64
from torch2mlir.conversion.control_flow import region_block
from torch2mlir.conversion.lowering import ResultType, Tensor
from torch2mlir.conversion.torch_to_onnx.lowering import OnnxLowering, lowers
from torch2mlir.conversion.torch_to_onnx.words import ui8
from torch2mlir.dialects import onnx


@lowers("aten.sort.stable")
def sort(
    lower: OnnxLowering, x: Tensor, stable: bool | None, dim: int, descending: bool
) -> list[Tensor | None]:
    """The elements along a dimension in order, and where each was."""
    if x.rank == 0 or 0 in x.sizes:
        return [x, lower.splat(0, x.sizes, si64)]
    axis = dim
    if not element_types.is_float(x.dtype):
        keys = lower.cast(x, ui8) if element_types.is_bool(x.dtype) else x
        values, places = _sorted(lower, keys, axis, descending)
        return [lower.cast(values, x.dtype), places]
    undefined = lower.apply("IsNaN", x, dtype=i1)
    every = lower.vector(range(x.rank))
    any_nan = lower.node(
        "ReduceMax", lower.cast(undefined, ui8), every, sizes=(), dtype=ui8, keepdims=0
    )
    results = [ResultType(x.sizes, x.dtype), ResultType(x.sizes, si64)]

    def of_numbers() -> list[SSAValue]:
        return [each.value for each in _sorted(lower, x, axis, descending)]

    def with_nan() -> list[SSAValue]:
        return [each.value for each in _nan_last(lower, x, undefined, axis, descending)]

    bodies = [Region(region_block(lower, [], b, onnx.YieldOp)) for b in (with_nan, of_numbers)]
    types = [lower.tensor_type(r.sizes, r.dtype) for r in results]
    condition = lower.cast(any_nan, i1)
    op = lower.emit(onnx.op_class("If"), [condition.value], types, regions=bodies)
    return [Tensor(v, r.sizes, r.dtype) for v, r in zip(op.results, results, strict=True)]


def _sorted(lower: OnnxLowering, x: Tensor, axis: int, descending: bool) -> list[Tensor]:
    results = [ResultType(x.sizes, x.dtype), ResultType(x.sizes, si64)]
    count = lower.shape([x.sizes[axis]])
    return lower.nodes("TopK", [x, count], results, axis=axis, largest=int(descending), sorted=1)


def _nan_last(
    lower: OnnxLowering, x: Tensor, undefined: Tensor, axis: int, descending: bool
) -> list[Tensor]:
    """By number first and by being one then; both sorts keep the order of equals."""
    _, by_number = _sorted(lower, lower.select(undefined, math.inf, x), axis, descending)

    def along(values: Tensor, places: Tensor) -> Tensor:
        sizes, dtype = values.sizes, values.dtype
        return lower.node("GatherElements", values, places, sizes=sizes, dtype=dtype, axis=axis)

    flags = along(lower.cast(undefined, ui8), by_number)
    _, by_flag = _sorted(lower, flags, axis, descending)
    places = along(by_number, by_flag)
    return [along(x, places), places]
