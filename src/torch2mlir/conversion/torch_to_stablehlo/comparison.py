"""Comparisons, predicates and logic in StableHLO; results are booleans."""

from __future__ import annotations

import math

from xdsl.dialects.builtin import ComplexType, IntegerType, i1
from xdsl.ir import Operation

from torch2mlir.conversion.lowering import Operand, Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering, lowers
from torch2mlir.dialects import stablehlo as hlo

LOGICAL: dict[str, type[Operation]] = {
    "aten.logical_and": hlo.AndOp,
    "aten.logical_or": hlo.OrOp,
    "aten.logical_xor": hlo.XorOp,
}


def _register_comparison(name: str) -> None:
    @lowers(f"aten.{name}.Tensor", f"aten.{name}.Scalar")
    def comparison(lower: StablehloLowering, x: Operand, y: Operand) -> Tensor:
        computed = lower.computed_dtype(x, y)
        return lower.elementwise(
            lambda lower, x, y: lower.compare(name.upper(), x, y), x, y, computed=computed
        )


def _register_logical(name: str, op_class: type[Operation]) -> None:
    @lowers(name)
    def logical(lower: StablehloLowering, x: Operand, y: Operand) -> Tensor:
        return lower.elementwise(op_class, x, y, computed=i1)


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _register_comparison(_name)
for _name, _op in LOGICAL.items():
    _register_logical(_name, _op)


@lowers("aten.logical_not")
def logical_not(lower: StablehloLowering, x: Tensor) -> Tensor:
    """Whether an element is zero."""
    return lower.apply(hlo.NotOp, x) if x.dtype == i1 else lower.compare("EQ", x, 0)


@lowers("aten.isnan")
def isnan(lower: StablehloLowering, x: Tensor) -> Tensor:
    """NaN is what differs from itself; integers never are."""
    if isinstance(x.dtype, IntegerType):
        return lower.splat(False, x.sizes, i1)
    return lower.compare("NE", x, x)


@lowers("aten.isinf")
def isinf(lower: StablehloLowering, x: Tensor) -> Tensor:
    """Whether an element, or a part of it, is infinite; integers never are."""
    if isinstance(x.dtype, IntegerType):
        return lower.splat(False, x.sizes, i1)
    if isinstance(x.dtype, ComplexType):
        parts = [lower.part(op_class, x) for op_class in (hlo.RealOp, hlo.ImagOp)]
        return lower.apply(hlo.OrOp, *(_is_infinite(lower, p) for p in parts))
    return _is_infinite(lower, x)


def _is_infinite(lower: StablehloLowering, x: Tensor) -> Tensor:
    return lower.compare("EQ", lower.apply(hlo.AbsOp, x), math.inf)
