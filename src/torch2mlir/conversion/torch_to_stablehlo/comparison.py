"""Comparisons, predicates and logic in StableHLO; results are booleans."""

from __future__ import annotations

from xdsl.ir import Operation

from torch2mlir.conversion import promotion
from torch2mlir.conversion.lowering import Operand, Tensor
from torch2mlir.conversion.torch_to_stablehlo.elementwise import Binary
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering, lowers
from torch2mlir.dialects import stablehlo as hlo

DIRECTIONS = ("eq", "ne", "lt", "le", "gt", "ge")

LOGICAL: dict[str, type[Operation]] = {
    "aten.logical_and": hlo.AndOp,
    "aten.logical_or": hlo.OrOp,
    "aten.logical_xor": hlo.XorOp,
}


def _comparison(direction: str) -> Binary:
    def lower_comparison(lower: StablehloLowering, x: Operand, y: Operand) -> Tensor:
        dtype = lower.computed_dtype(x, y)
        a, b = (lower.broadcast_to(lower.operand(o, dtype), lower.out.sizes) for o in (x, y))
        return lower.compare(direction, a, b)

    return lower_comparison


def _logical(op_class: type[Operation]) -> Binary:
    def lower_logical(lower: StablehloLowering, x: Operand, y: Operand) -> Tensor:
        a, b = (lower.operand(o, lower.bool) for o in (x, y))
        return lower.elementwise(op_class, a, b)

    return lower_logical


for _name in DIRECTIONS:
    lowers(f"aten.{_name}.Tensor", f"aten.{_name}.Scalar")(_comparison(_name.upper()))
for _name, _op in LOGICAL.items():
    lowers(_name)(_logical(_op))


@lowers("aten.logical_not")
def logical_not(lower: StablehloLowering, x: Tensor) -> Tensor:
    """Whether an element is zero."""
    return lower.elementwise(hlo.NotOp, lower.operand(x, lower.bool))


@lowers("aten.isnan")
def isnan(lower: StablehloLowering, x: Tensor) -> Tensor:
    """NaN is what differs from itself."""
    return lower.compare("NE", x, x)


@lowers("aten.isinf")
def isinf(lower: StablehloLowering, x: Tensor) -> Tensor:
    """Plus or minus infinity; integers never are."""
    if not promotion.is_float(x.dtype):
        return lower.splat(False, x.sizes, lower.bool)
    magnitude = lower.op(hlo.AbsOp, [x], x.sizes, x.dtype)
    return lower.compare("EQ", magnitude, lower.splat(float("inf"), x.sizes, x.dtype))
