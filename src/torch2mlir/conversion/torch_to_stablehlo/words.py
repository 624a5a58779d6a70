"""StableHLO's and CHLO's words for formulas, on tensors of one size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ComplexType, IntegerType
from xdsl.ir import Attribute, Operation

from torch2mlir.contract import element_types
from torch2mlir.conversion.expressions import MethodWords, Number
from torch2mlir.dialects import chlo
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.rows import ops_named

if TYPE_CHECKING:
    from torch2mlir.conversion.lowering import Tensor
    from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering

OpClass = type[Operation]

OF_NUMBERS = {
    **ops_named(hlo, "abs add div max min mul neg rem"),
    "sub": hlo.SubtractOp,
}
OF_INTEGERS = {
    **ops_named(hlo, "and not or xor"),
    "shl": hlo.ShiftLeftOp,
    "shr": hlo.ShiftRightArithmeticOp,
}
OF_FLOATS = {
    **ops_named(chlo, "acos acosh asin asinh atan atanh cosh erf sinh"),
    **ops_named(hlo, "atan2 ceil exp expm1 floor log log1p rsqrt sqrt tan tanh"),
    "cos": hlo.CosineOp,
    "power": hlo.PowOp,
    # halves go to the even neighbour
    "round": hlo.RoundNearestEvenOp,
    "sigmoid": hlo.LogisticOp,
    "sin": hlo.SineOp,
}
"""Of complex numbers too, where CHLO and StableHLO have it so."""
IN_HALVES = {"reciprocal", "relu", "trunc", "sign", "remainder", "signbit"}
"""Formulas that round at most once, so that half floats need not be widened."""


class StablehloWords(MethodWords):
    """Emits the words as ops on tensors."""

    def __init__(self, lower: StablehloLowering) -> None:
        super().__init__(lower)
        self.lower = lower

    def _op(self, word: str, dtype: Attribute) -> OpClass | None:
        if not isinstance(dtype, IntegerType):
            return OF_FLOATS.get(word) or OF_NUMBERS.get(word)
        if word == "shr" and element_types.is_unsigned(dtype):
            return hlo.ShiftRightLogicalOp
        return OF_INTEGERS.get(word) or OF_NUMBERS.get(word)

    def has(self, word: str, dtype: Attribute) -> bool:
        if word == "bits":
            return element_types.is_float(dtype)
        return self._op(word, dtype) is not None

    def emit(self, word: str, *operands: Tensor) -> Tensor:
        dtype = operands[0].dtype
        op_class = self._op(word, dtype)
        if op_class is None:
            self.lower.fail(f"'{word}' is not defined on elements of type {dtype}")
        if word == "abs" and isinstance(dtype, ComplexType):
            return self.lower.part(op_class, *operands)
        return self.lower.apply(op_class, *operands)

    def constant(self, number: Number, like: Tensor, dtype: Attribute) -> Tensor:
        return self.lower.splat(number, like.sizes, dtype)

    def parts(self, x: Tensor) -> list[Tensor]:
        if not isinstance(x.dtype, ComplexType):
            return [x]
        return [self.lower.part(op_class, x) for op_class in (hlo.RealOp, hlo.ImagOp)]
