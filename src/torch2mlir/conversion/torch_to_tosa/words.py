"""TOSA's words for formulas, on tensors that broadcast together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import Attribute, Operation

from torch2mlir.contract import element_types
from torch2mlir.conversion.expressions import MethodWords, Number
from torch2mlir.dialects import tosa
from torch2mlir.dialects.rows import ops_named

if TYPE_CHECKING:
    from torch2mlir.conversion.lowering import Tensor
    from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering

OpClass = type[Operation]

OF_NUMBERS = {
    **ops_named(tosa, "abs add mul sub"),
    "max": tosa.MaximumOp,
    "min": tosa.MinimumOp,
}
OF_INTEGERS = {
    "and": tosa.BitwiseAndOp,
    "div": tosa.IntDivOp,
    "not": tosa.BitwiseNotOp,
    "or": tosa.BitwiseOrOp,
    "shl": tosa.LogicalLeftShiftOp,
    "shr": tosa.ArithmeticRightShiftOp,
    "xor": tosa.BitwiseXorOp,
}
OF_BOOLEANS = {
    "and": tosa.LogicalAndOp,
    "not": tosa.LogicalNotOp,
    "or": tosa.LogicalOrOp,
    "xor": tosa.LogicalXorOp,
}
IN_HALVES = {**ops_named(tosa, "ceil floor"), "neg": tosa.NegateOp}
OF_FLOATS = {
    **ops_named(tosa, "cos erf exp log reciprocal rsqrt sigmoid sin tanh"),
    "power_of_positive": tosa.PowOp,
}
"""Functions of floats; half precision computes in f32."""
COMPARISONS: dict[str, tuple[OpClass, bool, bool]] = {
    "eq": (tosa.EqualOp, False, False),
    "ne": (tosa.EqualOp, False, True),
    "gt": (tosa.GreaterOp, False, False),
    "ge": (tosa.GreaterEqualOp, False, False),
    "lt": (tosa.GreaterOp, True, False),
    "le": (tosa.GreaterEqualOp, True, False),
}
"""Predicate -> op, operands swapped, result negated."""


class TosaWords(MethodWords):
    """Emits the words as ops on tensors."""

    def __init__(self, lower: TosaLowering) -> None:
        super().__init__(lower)
        self.lower = lower

    def _op(self, word: str, dtype: Attribute) -> OpClass | None:
        if element_types.is_bool(dtype):
            return OF_BOOLEANS.get(word)
        if element_types.is_integer(dtype):
            return OF_INTEGERS.get(word) or OF_NUMBERS.get(word)
        return OF_FLOATS.get(word) or IN_HALVES.get(word) or OF_NUMBERS.get(word)

    def has(self, word: str, dtype: Attribute) -> bool:
        return self._op(word, dtype) is not None

    def emit(self, word: str, *operands: Tensor) -> Tensor:
        op_class = self._op(word, operands[0].dtype)
        if op_class is None:
            self.lower.fail(f"TOSA has no '{word}' of elements of type {operands[0].dtype}")
        exact = {"round": BoolAttr.from_bool(False)} if word == "shr" else None
        return self.lower.elementwise(op_class, *operands, properties=exact)

    def constant(self, number: Number, like: Tensor, dtype: Attribute) -> Tensor:
        return self.lower.splat(number, (1,) * like.rank, dtype)
