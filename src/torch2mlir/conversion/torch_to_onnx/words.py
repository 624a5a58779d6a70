"""ONNX's words for formulas: operators on tensors that broadcast together."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerType, Signedness, i1
from xdsl.ir import Attribute

from torch2mlir.contract import element_types
from torch2mlir.conversion.expressions import MethodWords, Number

if TYPE_CHECKING:
    from torch2mlir.conversion.lowering import Tensor
    from torch2mlir.conversion.torch_to_onnx.lowering import OnnxLowering

ui8 = IntegerType(8, Signedness.UNSIGNED)
ui64 = IntegerType(64, Signedness.UNSIGNED)

OF_NUMBERS = {
    "abs": "Abs",
    "add": "Add",
    "div": "Div",
    "max": "Max",
    "min": "Min",
    "mul": "Mul",
    "sub": "Sub",
}
OF_INTEGERS = {
    "and": "BitwiseAnd",
    "not": "BitwiseNot",
    "or": "BitwiseOr",
    "shl": "BitShift",
    "shr": "BitShift",
    "xor": "BitwiseXor",
}
OF_BOOLEANS = {"and": "And", "not": "Not", "or": "Or", "xor": "Xor"}
OF_FLOATS = {
    "acos": "Acos",
    "acosh": "Acosh",
    "asin": "Asin",
    "asinh": "Asinh",
    "atan": "Atan",
    "atanh": "Atanh",
    "ceil": "Ceil",
    "cos": "Cos",
    "cosh": "Cosh",
    # engines know an activation by it, and compute it as a product
    "cube": "Pow",
    "erf": "Erf",
    "exp": "Exp",
    "floor": "Floor",
    "isinf": "IsInf",
    "isnan": "IsNaN",
    "log": "Log",
    "neg": "Neg",
    "power": "Pow",
    "reciprocal": "Reciprocal",
    "relu": "Relu",
    "rem": "Mod",
    # halves go to the even neighbour
    "round": "Round",
    "sigmoid": "Sigmoid",
    "sin": "Sin",
    "sinh": "Sinh",
    "sqrt": "Sqrt",
    "tan": "Tan",
    "tanh": "Tanh",
}
IN_HALVES = {"trunc", "sign", "remainder", "signbit"}
"""Formulas that round at most once, so that half floats need not be widened."""
COMPARISONS = {
    "eq": "Equal",
    "lt": "Less",
    "le": "LessOrEqual",
    "gt": "Greater",
    "ge": "GreaterOrEqual",
}


class OnnxWords(MethodWords):
    """Emits the words as operators."""

    def __init__(self, lower: OnnxLowering) -> None:
        super().__init__(lower)
        self.lower = lower

    def _name(self, word: str, dtype: Attribute) -> str | None:
        if element_types.is_bool(dtype):
            return OF_BOOLEANS.get(word)
        if element_types.is_integer(dtype):
            # of signed integers ONNX negates, and it shifts unsigned ones
            return "Neg" if word == "neg" else OF_INTEGERS.get(word) or OF_NUMBERS.get(word)
        return OF_FLOATS.get(word) or OF_NUMBERS.get(word)

    def has(self, word: str, dtype: Attribute) -> bool:
        if word == "bits":
            return element_types.is_float(dtype)
        if word == "neg" and element_types.is_unsigned(dtype):
            return False
        return self._name(word, dtype) is not None

    def emit(self, word: str, *operands: Tensor) -> Tensor:
        special = SPECIAL.get(word)
        if special is not None and element_types.is_integer(operands[0].dtype):
            return special(self.lower, *operands)
        name = self._name(word, operands[0].dtype)
        if name is None:
            self.lower.fail(f"'{word}' is not defined on elements of type {operands[0].dtype}")
        if word in ("isnan", "isinf"):
            return self.lower.apply(name, *operands, dtype=i1)
        if word == "cube":
            return self.lower.apply(name, *operands, 3.0)
        if word == "rem":
            return self.lower.apply(name, *operands, fmod=1)
        return self.lower.apply(name, *operands)

    def constant(self, number: Number, like: Tensor, dtype: Attribute) -> Tensor:
        return self.lower.splat(number, (), dtype)


# integers


def quotient(lower: OnnxLowering, x: Tensor, y: Tensor) -> Tensor:
    """``x / y`` toward zero."""
    return lower.apply("Div", x, integer_divisor(lower, x, y))


def absolute(lower: OnnxLowering, x: Tensor) -> Tensor:
    """``|x|``; OpenVINO folds ``max(x, -x)`` of integers right, not ``Abs``."""
    return lower.apply("Max", x, lower.apply("Neg", x))


def integer_divisor(lower: OnnxLowering, x: Tensor, y: Tensor) -> Tensor:
    """A divisor that processors take: 1 where it is 0, which PyTorch refuses, or the least number's -1.

    A division of integers that a processor does not take ends the process in ONNX Runtime.
    """
    if _is_harmless_divisor(y):
        return y
    refused = lower.compare("eq", y, 0)
    if not element_types.is_unsigned(x.dtype):
        least = lower.compare("eq", x, element_types.lowest(x.dtype))
        overflow = lower.apply("And", least, lower.compare("eq", y, -1))
        refused = lower.apply("Or", refused, overflow)
    return lower.select(refused, 1, y)


def _is_harmless_divisor(y: Tensor) -> bool:
    """Whether a divisor is a constant that is neither 0 nor -1."""
    value = getattr(y.value.owner, "properties", {}).get("value")
    if y.rank or not isinstance(value, DenseIntOrFPElementsAttr):
        return False
    return value.get_values()[0] not in (0, -1)


def _shifted(lower: OnnxLowering, x: Tensor, count: Tensor, direction: str) -> Tensor:
    """``x`` shifted as 64 bits without a sign, which ONNX has."""
    bits = [lower.cast(each, ui64) for each in (x, count)]
    return lower.cast(lower.apply("BitShift", *bits, direction=direction), x.dtype)


def shift_left(lower: OnnxLowering, x: Tensor, count: Tensor) -> Tensor:
    """``x << count``."""
    return _shifted(lower, x, count, "LEFT")


def shift_right(lower: OnnxLowering, x: Tensor, count: Tensor) -> Tensor:
    """``x >> count`` with the sign coming in: a negative number is turned over before and after."""
    if element_types.is_unsigned(x.dtype):
        return _shifted(lower, x, count, "RIGHT")
    negative = lower.compare("lt", x, 0)
    positive = lower.select(negative, lower.apply("BitwiseNot", x), x)
    shifted = _shifted(lower, positive, count, "RIGHT")
    return lower.select(negative, lower.apply("BitwiseNot", shifted), shifted)


SPECIAL: dict[str, Callable[..., Tensor]] = {
    "abs": absolute,
    "div": quotient,
    "shl": shift_left,
    "shr": shift_right,
}
"""Words of integers that take more than an operator."""
