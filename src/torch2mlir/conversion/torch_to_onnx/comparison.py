"""Comparisons, predicates and logic in ONNX; results are booleans."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType, Signedness, i1

from torch2mlir.contract import element_types
from torch2mlir.conversion.lowering import Operand, Tensor, dtype_of
from torch2mlir.conversion.torch_to_onnx.lowering import Code, OnnxLowering, lowers

ui8 = IntegerType(8, Signedness.UNSIGNED)

COMPARISONS: dict[str, Code] = {
    "eq": "Equal",
    "ne": lambda lower, x, y: lower.apply("Not", lower.compare("Equal", x, y)),
    "lt": "Less",
    "le": "LessOrEqual",
    "gt": "Greater",
    "ge": "GreaterOrEqual",
}
LOGICAL = {"aten.logical_and": "And", "aten.logical_or": "Or", "aten.logical_xor": "Xor"}


def _register_comparison(name: str, code: Code) -> None:
    @lowers(f"aten.{name}.Tensor", f"aten.{name}.Scalar")
    def comparison(lower: OnnxLowering, x: Operand, y: Operand) -> Tensor:
        computed = dtype_of(x, y)
        if element_types.is_bool(computed) and name not in ("eq", "ne"):
            computed = ui8  # ONNX orders no booleans
        tensors = [lower.operand(operand, computed) for operand in (x, y)]
        result = lower.apply(code, *tensors, dtype=i1)
        return lower.broadcast_to(result, lower.out.sizes)


def _register_logical(name: str, code: str) -> None:
    @lowers(name)
    def logical(lower: OnnxLowering, x: Operand, y: Operand) -> Tensor:
        return lower.elementwise(code, x, y, computed=i1)


for _name, _code in COMPARISONS.items():
    _register_comparison(_name, _code)
for _name, _op in LOGICAL.items():
    _register_logical(_name, _op)


@lowers("aten.logical_not")
def logical_not(lower: OnnxLowering, x: Tensor) -> Tensor:
    """Whether an element is zero."""
    return lower.apply("Not", x) if element_types.is_bool(x.dtype) else lower.compare("Equal", x, 0)


def _register_predicate(name: str, op: str) -> None:
    @lowers(name)
    def predicate(lower: OnnxLowering, x: Tensor) -> Tensor:
        if isinstance(x.dtype, IntegerType):
            return lower.splat(False, x.sizes, i1)
        return lower.apply(op, x, dtype=i1)


_register_predicate("aten.isnan", "IsNaN")
_register_predicate("aten.isinf", "IsInf")
