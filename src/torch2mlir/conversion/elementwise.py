"""Elementwise core ops, once for all dialects: each is a word, or a formula of words that targets have or not."""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import methodcaller
from typing import Any

from xdsl.dialects.builtin import f16, i1
from xdsl.ir import Attribute, Operation

from torch2mlir.contract import element_types
from torch2mlir.conversion import formulas
from torch2mlir.conversion.expressions import Expr, formula
from torch2mlir.conversion.jumps import IN_TORCH
from torch2mlir.conversion.lowering import Lowering, Operand, Tensor, dtype_of
from torch2mlir.conversion.registry import lowers_everywhere

# one operand, computed in the type of the result

FUNCTIONS = (
    "acos acosh asin asinh atan atanh bitwise_not cos cosh erf exp expm1 log log10 log1p log2 neg reciprocal relu"
    " rsqrt sigmoid sin sinh sqrt tan tanh"
)
"""ATen ops that are the word of the same name, or of the one in ``WORDS``."""
ROUNDING = "ceil floor round trunc"
"""The same, of which integers are what they are."""
WORDS = {
    "bitwise_and": "and",
    "bitwise_not": "not",
    "bitwise_or": "or",
    "bitwise_xor": "xor",
    "fmod": "rem",
    "maximum": "max",
    "minimum": "min",
    "pow": "any_power",
}


EXACT = {
    "any_power": "exact_power",
    "div": "exact_quotient",
    "log10": "exact_log10",
    "log2": "exact_log2",
    "sqrt": "exact_root",
}
"""Words -> their forms that are exact where the result can be, for what becomes an integer or a truth."""
OFTEN_EXACT = frozenset({"div", "sqrt"})
"""Those that are exact wherever a target has them."""


def _word(lower: Lowering, word: str) -> str:
    """A word, or its exact form where the neighbouring float is something else."""
    dtype = lower.out.dtype
    op = lower.given[0].owner if lower.given else None
    if word not in EXACT or not element_types.is_float(dtype) or not isinstance(op, Operation):
        return word
    is_exact = word in OFTEN_EXACT and lower.words.has(word, dtype)
    return EXACT[word] if not is_exact and IN_TORCH.follow(op, lower.jumps, word != "div") else word


def _unary(name: str, integers_stay: Callable[[Attribute], bool]) -> Callable[..., Tensor]:
    plain = WORDS.get(name, name)

    def lower_unary(lower: Lowering, x: Tensor) -> Tensor:
        if integers_stay(x.dtype):
            return x
        word = _word(lower, plain)
        computed = lower.computed_in(word, lower.out.dtype)
        return lower.formula(methodcaller("of", word), x, computed=computed)

    return lower_unary


for _name in FUNCTIONS.split():
    lowers_everywhere(f"aten.{_name}")(_unary(_name, lambda dtype: False))
for _name in ROUNDING.split():
    lowers_everywhere(f"aten.{_name}")(
        _unary(_name, lambda d: element_types.is_integer(d) or element_types.is_bool(d))
    )
lowers_everywhere("aten.sign")(_unary("sign", element_types.is_bool))


@formula("relu")
def relu(x: Expr) -> Expr:
    """``max(x, 0)``, NaN stays NaN."""
    return x.of("max", 0)


# one operand, computed in its own type


def _formula(
    code: Callable[..., Expr], computed: Callable[..., Attribute]
) -> Callable[..., Tensor]:
    """A formula of the operands, computed in the type that the context and they ask for."""

    def lower_formula(lower: Lowering, *operands: Operand) -> Tensor:
        return lower.formula(code, *operands, computed=computed(lower, *operands))

    return lower_formula


def _own(lower: Lowering, *operands: Operand) -> Attribute:
    return dtype_of(*operands)


def logical_not(x: Expr) -> Expr:
    """``x == 0``."""
    return ~x if element_types.is_bool(x.dtype) else x.equals(0)


for _name in ("isinf", "isnan", "signbit"):
    lowers_everywhere(f"aten.{_name}")(_formula(methodcaller("of", _name), _own))
lowers_everywhere("aten.logical_not")(_formula(logical_not, _own))


@lowers_everywhere("aten.abs")
def absolute(lower: Lowering, x: Tensor) -> Tensor:
    """``|x|``, the magnitude of complex numbers; the lowest integer and unsigned ones stay."""
    if element_types.is_complex(x.dtype):
        return lower.formula(magnitude, x, computed=x.dtype)
    return x if element_types.is_unsigned(x.dtype) else lower.formula(abs, x, computed=x.dtype)


def magnitude(x: Expr) -> Expr:
    """``|x|`` of complex numbers, infinite with an infinite part also beside NaN, as C's ``hypot``."""
    return x.of("isinf").where(math.inf, abs(x))


# two operands, computed in the type of the result

BINARY: dict[str, tuple[str, ...]] = {
    "atan2": ("",),
    "bitwise_and": ("Tensor", "Scalar"),
    "bitwise_or": ("Tensor", "Scalar"),
    "bitwise_xor": ("Tensor", "Scalar"),
    "div": ("Tensor", "Scalar"),
    "fmod": ("Tensor", "Scalar"),
    "maximum": ("",),
    "minimum": ("",),
    "mul": ("Tensor", "Scalar"),
    "pow": ("Tensor_Tensor", "Scalar"),
    "remainder": ("Tensor", "Scalar"),
}
"""ATen op -> overloads."""


def _binary(plain: str) -> Callable[..., Tensor]:
    def lower_binary(lower: Lowering, x: Operand, y: Operand) -> Tensor:
        word = _word(lower, plain)
        computed = lower.computed_with(word, lower.out.dtype, x, y)
        return lower.formula(lambda x, y: x.of(word, y), x, y, computed=computed)

    return lower_binary


for _name, _overloads in BINARY.items():
    _names = (f"aten.{_name}.{overload}".removesuffix(".") for overload in _overloads)
    lowers_everywhere(*_names)(_binary(WORDS.get(_name, _name)))


@lowers_everywhere("aten.pow.Tensor_Scalar")
def power_by_number(lower: Lowering, x: Tensor, exponent: Operand) -> Tensor:
    """``x ** exponent``: PyTorch has kernels of its own for roots, but of f16."""
    if lower.out.dtype != f16 or exponent not in (0.5, -0.5):
        return _binary("any_power")(lower, x, exponent)
    computed = lower.computed_with("any_power", lower.out.dtype, x, exponent)
    return lower.formula(formulas.root_as_power, x, exponent, computed=computed)


def _sum(word: str) -> Callable[..., Tensor]:
    plain = _binary(word)

    def lower_sum(lower: Lowering, x: Operand, y: Operand, alpha: Operand) -> Tensor:
        if alpha == 1:
            return plain(lower, x, y)
        computed = lower.computed_in("scaled", lower.out.dtype)
        return lower.formula(
            lambda x, y, alpha: x.of(word, y * alpha), x, y, alpha, computed=computed
        )

    return lower_sum


lowers_everywhere("aten.add.Tensor", "aten.add.Scalar")(_sum("add"))
lowers_everywhere("aten.sub.Tensor", "aten.sub.Scalar")(_sum("sub"))


@lowers_everywhere("aten.div.Tensor_mode", "aten.div.Scalar_mode")
def div_mode(lower: Lowering, x: Operand, y: Operand, mode: str | None) -> Tensor:
    """``x / y``, rounded down, toward zero or not."""
    return _binary("div" if mode is None else f"div_{mode}")(lower, x, y)


def _shift(code: Callable[[Expr, Expr, int], Expr]) -> Callable[..., Tensor]:
    def lower_shift(lower: Lowering, x: Operand, count: Operand) -> Tensor:
        dtype = lower.out.dtype
        bits, computed = element_types.bit_width(dtype), lower.computed_in("shift", dtype)
        return lower.formula(lambda x, count: code(x, count, bits), x, count, computed=computed)

    return lower_shift


for _side, _code in (("left", formulas.shift_left), ("right", formulas.shift_right)):
    _names = (f"aten.bitwise_{_side}_shift.{overload}" for overload in ("Tensor", "Tensor_Scalar"))
    lowers_everywhere(*_names)(_shift(_code))


# two operands, of which the result is a boolean


def _comparison(predicate: str) -> Callable[..., Tensor]:
    return _formula(lambda x, y: x.compare(predicate, y), _own)


def _logical(word: str) -> Callable[..., Tensor]:
    return _formula(lambda x, y: x.of(word, y), lambda *_: i1)


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    lowers_everywhere(f"aten.{_name}.Tensor", f"aten.{_name}.Scalar")(_comparison(_name))
for _name in ("and", "or", "xor"):
    lowers_everywhere(f"aten.logical_{_name}")(_logical(_name))

# choosing and converting


@lowers_everywhere("aten.where.self")
def where(lower: Lowering, condition: Tensor, on_true: Operand, on_false: Operand) -> Tensor:
    """Elementwise choice; all three operands broadcast together."""
    dtype = lower.out.dtype
    return lower.formula(
        lambda c, x, y: c.where(x, y), condition, on_true, on_false, computed=(i1, dtype, dtype)
    )


@lowers_everywhere("aten.clamp", "aten.clamp.Tensor")
def clamp(lower: Lowering, x: Tensor, low: Operand | None, high: Operand | None) -> Tensor:
    """``min(max(x, low), high)``, NaN where an operand is; a bound may be missing.

    With one bound, a zero that is equal to it keeps its own sign, as in PyTorch: maxima of zeros have either. A bound
    that is known at a call only may be that zero.
    """
    if isinstance(low, int | float) and isinstance(high, int | float) and low <= high:
        held = lower.clamp(x, low, high)
        if held is not None:
            return held
    bounds = [(word, b) for word, b in (("max", low), ("min", high)) if b is not None]

    def code(x: Expr, *limits: Expr) -> Expr:
        if len(bounds) == 1 and x.is_float:
            ((word, bound),), (limit,) = bounds, limits
            beyond = x < limit if word == "max" else x > limit
            if not isinstance(bound, int | float):
                return (beyond | limit.differs(limit)).where(limit, x)
            if bound == 0:
                return beyond.where(limit, x)
        for (word, _), limit in zip(bounds, limits, strict=True):
            x = x.of(word, limit)
        return x

    return lower.formula(code, x, *(bound for _, bound in bounds), computed=lower.out.dtype)


@lowers_everywhere("prims.convert_element_type")
def convert_element_type(lower: Lowering, x: Tensor, dtype: Any) -> Tensor:
    """``Tensor.to`` another element type."""
    return lower.cast(x, lower.out.dtype)


@lowers_everywhere("aten.complex")
def complex(lower: Lowering, real: Tensor, imaginary: Tensor) -> Tensor:
    """Complex numbers of their parts."""
    return lower.complex(real, imaginary, lower.out.dtype)


lowers_everywhere("prims.real")(lambda lower, x: lower.real(x))
lowers_everywhere("prims.imag")(lambda lower, x: lower.imag(x))


@lowers_everywhere("aten.view.dtype")
def view_dtype(lower: Lowering, x: Tensor, dtype: Any) -> Tensor:
    """The bits of each element as one of another type of the same width."""
    wanted = lower.out.dtype
    if element_types.storage_bits(x.dtype) != element_types.storage_bits(wanted):
        lower.fail("the elements have another width")
    of_floats = element_types.is_float(x.dtype), element_types.is_float(wanted)
    if not any(of_floats):
        return lower.cast(x, wanted)
    return lower.bits(x, wanted)
