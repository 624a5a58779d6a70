"""Branches and loops as ONNX's ``If`` and ``Loop``, whose bodies read outer values as regions do."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from torch2mlir.contract.element_types import si64
from torch2mlir.conversion.control_flow import Loop, region_of
from torch2mlir.conversion.lowering import Scalar
from torch2mlir.conversion.torch_to_onnx.lowering import OnnxLowering, lowers
from torch2mlir.dialects import onnx


@lowers("prim.Loop")
def loop(lower: OnnxLowering, loop: Loop) -> Sequence[SSAValue]:
    """The body takes the iteration's number, whether the loop goes on, and the carried values."""
    trips = None if loop.trips is None else lower.splat(loop.trips, (), si64)
    if trips is not None and isinstance(loop.trips, Scalar):
        # fewer than none are none; OpenVINO takes -1 for a loop without end
        trips = lower.apply("Max", trips, 0)
    go_on = loop.condition or lower.splat(True, (), i1)
    types = [value.type for value in loop.initial]

    def step(number: SSAValue, _: SSAValue, *values: SSAValue) -> list[SSAValue]:
        end, *results = loop.step(Scalar(number, si64), values)
        return [end, *results]

    arguments = [lower.tensor_type((), si64), lower.tensor_type((), i1), *types]
    body = region_of(lower, arguments, step, onnx.YieldOp)
    operands = [lower._input(trips), go_on.value, *loop.initial]
    return lower.emit(onnx.op_class("Loop"), operands, types, regions=[body]).results
