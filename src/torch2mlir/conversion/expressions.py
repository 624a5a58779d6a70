"""Formulas: Python expressions over the words that targets have.

A formula is written once, ``x.of("exp") + 1``, and emitted by any target: linalg as scalar code in the body of a
``linalg.generic``, others as ops on tensors. A word that a target does not have is a formula itself (:data:`FORMULAS`),
as ``lower_fun`` of JAX lowers a primitive by what is already there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from xdsl.dialects.builtin import IntegerType, i1
from xdsl.ir import Attribute

from torch2mlir.contract import element_types

Number = bool | int | float | complex
Value = Any
"""What a target computes with: an element or a tensor; ``dtype`` is its element type."""


class Words(Protocol):
    """The words of a target, on its values."""

    def has(self, word: str, dtype: Attribute) -> bool:
        """Whether there is a word for elements of a type."""

    def emit(self, word: str, *operands: Value) -> Value:
        """A word on values of one element type; the result has it too."""

    def compare(self, predicate: str, x: Value, y: Value) -> Value:
        """``eq ne lt le gt ge``, booleans; with a NaN only ``ne`` holds."""

    def select(self, condition: Value, x: Value, y: Value) -> Value:
        """``x`` where the condition holds, else ``y``."""

    def constant(self, number: Number, like: Value, dtype: Attribute) -> Value:
        """A number that can stand beside a value."""

    def cast(self, x: Value, dtype: Attribute) -> Value:
        """As ``Tensor.to``."""

    def parts(self, x: Value) -> list[Value]:
        """The parts of complex numbers; of others, these."""

    def bits(self, x: Value, dtype: Attribute) -> Value:
        """The bits of elements as those of another type, where ``bits`` is one of the words."""


class MethodWords:
    """Words of which most are methods of what emits them: a lowering's, on tensors, or those of scalar code."""

    def __init__(self, methods: Any) -> None:
        self.compare: Callable[[str, Value, Value], Value] = methods.compare
        self.select: Callable[[Value, Value, Value], Value] = methods.select
        self.cast: Callable[[Value, Attribute], Value] = methods.cast
        self.bits: Callable[[Value, Attribute], Value] = methods.bits

    def parts(self, x: Value) -> list[Value]:
        """The elements themselves, where there are no complex ones."""
        return [x]


FORMULAS: dict[str, Callable[..., Expr]] = {}
"""What a word is for targets that have none."""

_ON_BOOLEANS = {"add": "or", "mul": "and", "max": "or", "min": "and"}


def formula(word: str) -> Callable[[Callable[..., Expr]], Callable[..., Expr]]:
    """Registers what a word means in other words."""

    def register(function: Callable[..., Expr]) -> Callable[..., Expr]:
        FORMULAS[word] = function
        return function

    return register


@dataclass(frozen=True, eq=False)
class Expr:
    """A value in a formula; numbers beside it are of its element type.

    Attributes:
        words: the target's.
        value: what it computes with.
        number: the number that the value is, where that is known.
    """

    words: Words = field(repr=False)
    value: Value
    number: Number | None = None

    @property
    def dtype(self) -> Attribute:
        """The element type."""
        dtype: Attribute = self.value.dtype
        return dtype

    @property
    def is_float(self) -> bool:
        """Whether elements are real floating-point numbers."""
        return element_types.is_float(self.dtype)

    @property
    def is_integer(self) -> bool:
        """Whether elements are integers or booleans."""
        return isinstance(self.dtype, IntegerType)

    @property
    def is_unsigned(self) -> bool:
        """Whether elements are unsigned integers or booleans."""
        return element_types.is_unsigned(self.dtype)

    @property
    def bits(self) -> int:
        """Bits of an element."""
        return element_types.bit_width(self.dtype)

    def constant(self, number: Number, dtype: Attribute | None = None) -> Expr:
        """A number beside this value."""
        value = self.words.constant(number, self.value, dtype or self.dtype)
        return Expr(self.words, value, number)

    def _operand(self, other: Expr | Number) -> Expr:
        return other if isinstance(other, Expr) else self.constant(other)

    def has(self, word: str) -> bool:
        """Whether the target has a word for elements of this type."""
        return self.words.has(word, self.dtype)

    def of(self, word: str, *others: Expr | Number) -> Expr:
        """A word on this value and others: the target's, or its formula."""
        if element_types.is_bool(self.dtype):
            word = _ON_BOOLEANS.get(word, word)
        operands = [self._operand(other) for other in others]
        if self.has(word) or word not in FORMULAS:
            values = [operand.value for operand in operands]
            return Expr(self.words, self.words.emit(word, self.value, *values))
        return FORMULAS[word](self, *operands)

    def compare(self, predicate: str, other: Expr | Number) -> Expr:
        """``eq ne lt le gt ge``."""
        value = self.words.compare(predicate, self.value, self._operand(other).value)
        return Expr(self.words, value)

    def where(self, on_true: Expr | Number, on_false: Expr | Number) -> Expr:
        """A choice by this condition; at least one alternative is no number."""
        typed = on_true if isinstance(on_true, Expr) else on_false
        if not isinstance(typed, Expr):
            raise TypeError("where needs a value to choose from")
        chosen = [typed._operand(each).value for each in (on_true, on_false)]
        return Expr(self.words, self.words.select(self.value, *chosen))

    def to(self, dtype: Attribute) -> Expr:
        """Elements of another type."""
        return Expr(self.words, self.words.cast(self.value, dtype), self.number)

    def equals(self, other: Expr | Number) -> Expr:
        """Elementwise ``==``."""
        return self.compare("eq", other)

    def differs(self, other: Expr | Number) -> Expr:
        """Elementwise ``!=``."""
        return self.compare("ne", other)

    def __lt__(self, other: Expr | Number) -> Expr:
        return self.compare("lt", other)

    def __le__(self, other: Expr | Number) -> Expr:
        return self.compare("le", other)

    def __gt__(self, other: Expr | Number) -> Expr:
        return self.compare("gt", other)

    def __ge__(self, other: Expr | Number) -> Expr:
        return self.compare("ge", other)

    def __add__(self, other: Expr | Number) -> Expr:
        return self.of("add", other)

    def __sub__(self, other: Expr | Number) -> Expr:
        return self.of("sub", other)

    def __rsub__(self, other: Number) -> Expr:
        return self.constant(other).of("sub", self)

    def __mul__(self, other: Expr | Number) -> Expr:
        return self.of("mul", other)

    def __truediv__(self, other: Expr | Number) -> Expr:
        return self.of("div", other)

    def __rtruediv__(self, other: Number) -> Expr:
        return self.constant(other).of("div", self)

    def __neg__(self) -> Expr:
        return self.of("neg")

    def __abs__(self) -> Expr:
        return self.of("abs")

    def __and__(self, other: Expr) -> Expr:
        return self.of("and", other)

    def __or__(self, other: Expr) -> Expr:
        return self.of("or", other)

    def __xor__(self, other: Expr) -> Expr:
        return self.of("xor", other)

    def __invert__(self) -> Expr:
        return self.of("not")

    def parts(self) -> list[Expr]:
        """The parts of complex numbers; of others, this."""
        return [Expr(self.words, part) for part in self.words.parts(self.value)]

    def is_false(self) -> Expr:
        """A boolean that never holds, beside this value."""
        return self.constant(False, i1)


def expressions(words: Words, values: Sequence[Value], operands: Sequence[object]) -> list[Expr]:
    """Operands of a formula as expressions; those that are numbers are known to be."""
    return [
        Expr(words, value, operand if isinstance(operand, bool | int | float | complex) else None)
        for value, operand in zip(values, operands, strict=True)
    ]


def polynomial(x: Expr, *coefficients: float) -> Expr:
    """Horner's scheme, the highest power's coefficient first."""
    result = x * coefficients[0] + coefficients[1]
    for coefficient in coefficients[2:]:
        result = result * x + coefficient
    return result


def precedes(x: Expr, y: Expr, descending: bool) -> Expr:
    """Whether sorting puts ``x`` before ``y`` by their values alone; NaN is beyond all numbers."""
    lesser, greater = (y, x) if descending else (x, y)
    first = lesser < greater
    return first | lesser.equals(lesser) & greater.differs(greater) if x.is_float else first
