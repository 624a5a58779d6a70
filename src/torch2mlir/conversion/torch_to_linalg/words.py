"""Linalg's words for formulas: scalar code, on elements in the body of a ``linalg.generic``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ComplexType, Float64Type
from xdsl.ir import Attribute

from torch2mlir.contract import element_types
from torch2mlir.conversion.expressions import MethodWords, Number
from torch2mlir.dialects.linalg.words import WORDS, Word

if TYPE_CHECKING:
    from torch2mlir.conversion.lowering import Scalar
    from torch2mlir.conversion.torch_to_linalg.scalars import Scalars

OTHER_NAMES = {"power_of_positive": "pow", "round": "roundeven"}
LEFT_OUT = {"acosh", "asinh", "atan2", "atanh", "log10", "sinh"}
"""Words that IREE gets wrong at zeros, small or large numbers or infinities, or that need a C library."""
LEFT_OUT_OF_F64 = {"expm1", "log1p"}
"""Words that IREE takes for ``exp(x) - 1`` and ``log(1 + x)``, which cancel, on 64-bit floats."""


class LinalgWords(MethodWords):
    """Emits the words as scalar ops where the lowering is emitting."""

    def __init__(self, scalars: Scalars) -> None:
        super().__init__(scalars)
        self.scalars = scalars

    def has(self, word: str, dtype: Attribute) -> bool:
        ops = WORDS.get(OTHER_NAMES.get(word, word), Word())
        if element_types.is_complex(dtype):
            return ops.on_complex is not None
        if element_types.is_float(dtype):
            left_out = LEFT_OUT | LEFT_OUT_OF_F64 if isinstance(dtype, Float64Type) else LEFT_OUT
            return word == "bits" or (word not in left_out and ops.on_floats is not None)
        op = ops.on_unsigned if element_types.is_unsigned(dtype) else ops.on_signed
        return word == "not" or op is not None

    def emit(self, word: str, *operands: Scalar) -> Scalar:
        s, first = self.scalars, operands[0]
        if word == "not":
            return s("xor", first, -1)
        if isinstance(first.dtype, ComplexType) and word == "abs":
            return s.magnitude(first)
        return s(OTHER_NAMES.get(word, word), *operands)

    def constant(self, number: Number, like: Scalar, dtype: Attribute) -> Scalar:
        return self.scalars.constant(number, dtype)

    def parts(self, x: Scalar) -> list[Scalar]:
        return [*self.scalars.parts(x)] if isinstance(x.dtype, ComplexType) else [x]
