"""Linalg's words for formulas: scalar code, on elements in the body of a ``linalg.generic``."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from xdsl.dialects import arith, complex, math
from xdsl.dialects.builtin import ComplexType, Float64Type
from xdsl.ir import Attribute, Operation

from torch2mlir.contract import element_types
from torch2mlir.conversion.expressions import MethodWords, Number
from torch2mlir.conversion.torch_to_linalg.complex_functions import FUNCTIONS as OF_COMPLEX
from torch2mlir.dialects import arith_ext

if TYPE_CHECKING:
    from torch2mlir.conversion.lowering import Scalar
    from torch2mlir.conversion.torch_to_linalg.scalars import Scalars

OpClass = type[Operation]


class Word(NamedTuple):
    """The op of a word for each kind of element; None where it has none."""

    on_floats: OpClass | None = None
    on_signed: OpClass | None = None
    on_unsigned: OpClass | None = None
    on_complex: OpClass | None = None


WORDS: dict[str, Word] = {
    "add": Word(arith.AddfOp, arith.AddiOp, arith.AddiOp, complex.AddOp),
    "sub": Word(arith.SubfOp, arith.SubiOp, arith.SubiOp, complex.SubOp),
    "mul": Word(arith.MulfOp, arith.MuliOp, arith.MuliOp, complex.MulOp),
    "div": Word(arith.DivfOp, arith.DivSIOp, arith.DivUIOp, complex.DivOp),
    "rem": Word(arith_ext.RemfOp, arith.RemSIOp, arith.RemUIOp),
    "max": Word(arith.MaximumfOp, arith.MaxSIOp, arith.MaxUIOp),
    "min": Word(arith.MinimumfOp, arith.MinSIOp, arith.MinUIOp),
    "and": Word(None, arith.AndIOp, arith.AndIOp),
    "or": Word(None, arith.OrIOp, arith.OrIOp),
    "xor": Word(None, arith.XOrIOp, arith.XOrIOp),
    "shl": Word(None, arith.ShLIOp, arith.ShLIOp),
    "shr": Word(None, arith.ShRSIOp, arith.ShRUIOp),
    "neg": Word(arith.NegfOp, None, None, complex.NegOp),
    "abs": Word(math.AbsFOp, math.AbsIOp),
    "acos": Word(math.AcosOp),
    "acosh": Word(math.AcoshOp),
    "asin": Word(math.AsinOp),
    "asinh": Word(math.AsinhOp),
    "atan": Word(math.AtanOp),
    "atan2": Word(math.Atan2Op),
    "atanh": Word(math.AtanhOp),
    "ceil": Word(math.CeilOp),
    "copysign": Word(math.CopySignOp),
    "cos": Word(math.CosOp, None, None, complex.CosOp),
    "cosh": Word(math.CoshOp),
    "erf": Word(math.ErfOp),
    "exp": Word(math.ExpOp, None, None, complex.ExpOp),
    "expm1": Word(math.ExpM1Op, None, None, complex.Expm1Op),
    "floor": Word(math.FloorOp),
    "log": Word(math.LogOp, None, None, complex.LogOp),
    "log1p": Word(math.Log1pOp, None, None, complex.Log1pOp),
    "log2": Word(math.Log2Op),
    "pow": Word(math.PowFOp, None, None, complex.PowOp),
    "roundeven": Word(math.RoundEvenOp),
    "rsqrt": Word(math.RsqrtOp, None, None, complex.RsqrtOp),
    "sin": Word(math.SinOp, None, None, complex.SinOp),
    "sinh": Word(math.SinhOp),
    "sqrt": Word(math.SqrtOp, None, None, complex.SqrtOp),
    "tan": Word(math.TanOp, None, None, complex.TanOp),
    "tanh": Word(math.TanhOp, None, None, complex.TanhOp),
    "trunc": Word(math.TruncOp),
}

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
        if element_types.is_complex(dtype):
            return self._has(word, 3) or word in OF_COMPLEX
        if element_types.is_float(dtype):
            left_out = LEFT_OUT | LEFT_OUT_OF_F64 if isinstance(dtype, Float64Type) else LEFT_OUT
            return word == "bits" or (word not in left_out and self._has(word, 0))
        return word == "not" or self._has(word, 2 if element_types.is_unsigned(dtype) else 1)

    def _has(self, word: str, kind: int) -> bool:
        ops = WORDS.get(OTHER_NAMES.get(word, word))
        return ops is not None and ops[kind] is not None

    def emit(self, word: str, *operands: Scalar) -> Scalar:
        s, first = self.scalars, operands[0]
        if word == "not":
            return s("xor", first, -1)
        if isinstance(first.dtype, ComplexType):
            if word == "abs":
                return s.magnitude(first)
            if word in OF_COMPLEX:
                return OF_COMPLEX[word](s, first)
        return s(OTHER_NAMES.get(word, word), *operands)

    def constant(self, number: Number, like: Scalar, dtype: Attribute) -> Scalar:
        return self.scalars.constant(number, dtype)

    def parts(self, x: Scalar) -> list[Scalar]:
        return [*self.scalars.parts(x)] if isinstance(x.dtype, ComplexType) else [x]
