"""``arith`` on arrays: the same function serves a scalar, a tensor and the body of a loop nest."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Operation

from torch2mlir.errors import EngineError
from torch2mlir.runtime.reference.interpreter import (
    IMPLEMENTATIONS,
    ReferenceInterpreter,
    attribute,
    implements,
)
from torch2mlir.runtime.reference.values import (
    Array,
    bit_width,
    dtype_of,
    element_type,
    fit,
    from_bytes,
    literal_to_array,
    signed,
    to_bytes,
    zero_extended,
)

Compute = Callable[..., Any]


Read = Callable[[Array, Any], Array]
ELEMENTWISE: dict[str, tuple[Compute, Read]] = {}
"""Op name -> what it computes, and how it reads its operands (as held, signed, unsigned)."""


def register_elementwise(table: dict[str, Compute], read: Read) -> None:
    """Registers ``name -> compute``: operands through ``read``, the result made to fit its type."""

    def run(compute: Compute, _: ReferenceInterpreter, op: Operation, *operands: Array) -> Array:
        values = [read(a, v.type) for a, v in zip(operands, op.operands, strict=True)]
        return fit(compute(*values), op.results[0].type)

    for name, compute in table.items():
        ELEMENTWISE[name] = compute, read
        IMPLEMENTATIONS[name] = partial(run, compute)


def apply(name: str, type_: Attribute, *operands: Array) -> Array:
    """An elementwise op by its name, on operands and with a result of one type."""
    compute, read = ELEMENTWISE[name]
    return fit(compute(*(read(operand, type_) for operand in operands)), type_)


def convert(array: Array, source: Attribute, target: Attribute, is_unsigned: bool) -> Array:
    """Elements of another type with the same values, as the named ops of ``linalg`` cast their inputs."""
    if element_type(source) == element_type(target):
        return array
    return fit(zero_extended(array, source) if is_unsigned else signed(array), target)


def as_held(array: Array, _: object) -> Array:
    """An operand as it is held."""
    return array


def as_signed(array: Array, _: object) -> Array:
    """An operand read as signed."""
    return signed(array)


def _truncated_quotient(a: Array, b: Array) -> Array:
    """The quotient rounded toward zero; division by zero, undefined in MLIR, gives 0."""
    safe = np.where(b == 0, 1, b).astype(b.dtype)
    floor, remainder = np.divmod(a, safe)
    up = (remainder != 0) & ((a < 0) != (safe < 0))
    return np.where(b == 0, 0, floor + up)


def _truncated_remainder(a: Array, b: Array) -> Array:
    return np.where(b == 0, 0, np.fmod(a, np.where(b == 0, 1, b).astype(b.dtype)))


def _ceil_quotient(a: Array, b: Array) -> Array:
    safe = np.where(b == 0, 1, b).astype(b.dtype)
    floor, remainder = np.divmod(a, safe)
    return np.where(b == 0, 0, floor + (remainder != 0))


def _shift(direction: Compute, a: Array, b: Array) -> Array:
    """A shift by less than the width; more is undefined in MLIR and gives 0 (or the sign)."""
    count = b.view(f"u{b.dtype.itemsize}") if b.dtype.kind == "i" else b
    width = a.dtype.itemsize * 8
    shifted = direction(a, np.minimum(count, width - 1).astype(a.dtype))
    beyond = a >> (width - 1) if direction is np.right_shift else a & 0
    return np.where(count < width, shifted, beyond)


def propagate_nan(choose: Compute, a: Array, b: Array) -> Array:
    """``maximumf``/``minimumf``: NaN wins, and -0.0 is less than +0.0."""
    either = np.bitwise_and if choose is np.maximum else np.bitwise_or
    chosen = choose(a, b)
    integer = np.dtype(f"i{chosen.dtype.itemsize}")
    a, b, chosen = np.broadcast_arrays(a, b, chosen)
    zeros = (a == 0) & (b == 0)
    if not zeros.any():
        return chosen
    sign = either(np.array(a, order="C").view(integer), np.array(b, order="C").view(integer))
    return np.where(zeros, sign.view(chosen.dtype), chosen)


register_elementwise(
    {
        "arith.addf": np.add,
        "arith.subf": np.subtract,
        "arith.mulf": np.multiply,
        "arith.divf": np.divide,
        "arith.remf": np.fmod,
        "arith.negf": np.negative,
        "arith.maximumf": partial(propagate_nan, np.maximum),
        "arith.minimumf": partial(propagate_nan, np.minimum),
        "arith.maxnumf": np.fmax,
        "arith.minnumf": np.fmin,
        "arith.extf": np.asarray,
        "arith.truncf": np.asarray,
        "arith.convertf": np.asarray,
        "arith.fptosi": np.asarray,
    },
    as_held,
)
register_elementwise(
    {
        "arith.addi": np.add,
        "arith.subi": np.subtract,
        "arith.muli": np.multiply,
        "arith.divsi": _truncated_quotient,
        "arith.remsi": _truncated_remainder,
        "arith.floordivsi": lambda a, b: np.where(
            b == 0, 0, np.floor_divide(a, np.where(b == 0, 1, b).astype(b.dtype))
        ),
        "arith.ceildivsi": _ceil_quotient,
        "arith.minsi": np.minimum,
        "arith.maxsi": np.maximum,
        "arith.andi": np.bitwise_and,
        "arith.ori": np.bitwise_or,
        "arith.xori": np.bitwise_xor,
        "arith.shli": partial(_shift, np.left_shift),
        "arith.shrsi": partial(_shift, np.right_shift),
        "arith.extsi": np.asarray,
        "arith.trunci": np.asarray,
        "arith.index_cast": np.asarray,
        "arith.sitofp": np.asarray,
    },
    as_signed,
)
register_elementwise(
    {
        "arith.divui": _truncated_quotient,
        "arith.remui": _truncated_remainder,
        "arith.ceildivui": _ceil_quotient,
        "arith.minui": np.minimum,
        "arith.maxui": np.maximum,
        "arith.extui": np.asarray,
        "arith.index_castui": np.asarray,
        "arith.uitofp": np.asarray,
    },
    zero_extended,
)


@implements("arith.constant", "complex.constant")
def constant(interpreter: ReferenceInterpreter, op: Operation) -> Array:
    """A literal; decoded once."""
    if op not in interpreter.literals:
        literal = attribute(op, "value")
        if literal is None:
            raise EngineError("a constant without a value")
        value = literal_to_array(literal, op.results[0].type, interpreter.resources)
        interpreter.literals[op] = value
    return interpreter.literals[op]


@implements("arith.shrui")
def shift_right_unsigned(_: ReferenceInterpreter, op: Operation, a: Array, b: Array) -> Array:
    """Zeros come in from the left; a shift by the width or more gives 0."""
    value, count = (zero_extended(x, v.type) for x, v in zip((a, b), op.operands, strict=True))
    width = bit_width(op.results[0].type)
    shifted = value >> np.minimum(count, width - 1).astype(value.dtype)
    return fit(np.where(count < width, shifted, 0).astype(value.dtype), op.results[0].type)


@implements("arith.fptoui")
def float_to_unsigned(_: ReferenceInterpreter, op: Operation, a: Array) -> Array:
    """Rounds toward zero; out of range is undefined in MLIR."""
    dtype = dtype_of(op.results[0].type)
    held = np.dtype(np.uint8) if dtype == np.bool_ else np.dtype(f"u{dtype.itemsize}")
    return fit(a.astype(held), op.results[0].type)


@implements("arith.bitcast", "tensor.bitcast", "complex.bitcast")
def bitcast(_: ReferenceInterpreter, op: Operation, a: Array) -> Array:
    """The same bits under another type of the same width."""
    return from_bytes(to_bytes(a, op.operands[0].type), op.results[0].type, a.shape)


@implements("arith.select")
def select(_: ReferenceInterpreter, op: Operation, condition: Array, a: Array, b: Array) -> Array:
    """Elementwise choice; a scalar condition chooses a whole tensor."""
    if condition.ndim == 0:
        return a if condition else b
    return np.where(condition, a, b)


_INTEGER_PREDICATES: list[tuple[Compute, bool]] = [
    (np.equal, False),
    (np.not_equal, False),
    (np.less, False),
    (np.less_equal, False),
    (np.greater, False),
    (np.greater_equal, False),
    (np.less, True),
    (np.less_equal, True),
    (np.greater, True),
    (np.greater_equal, True),
]
"""``arith.cmpi`` by the number of its predicate: (comparison, whether the bits are unsigned)."""


def _ordered(compare: Compute, a: Array, b: Array) -> Array:
    return compare(a, b) & ~(np.isnan(a) | np.isnan(b))


def _unordered(compare: Compute, a: Array, b: Array) -> Array:
    return compare(a, b) | np.isnan(a) | np.isnan(b)


_COMPARISONS = [np.equal, np.greater, np.greater_equal, np.less, np.less_equal, np.not_equal]
_FLOAT_PREDICATES: list[Compute] = [
    lambda a, b: np.zeros(np.broadcast_shapes(a.shape, b.shape), np.bool_),
    *(partial(_ordered, compare) for compare in _COMPARISONS),
    lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    *(partial(_unordered, compare) for compare in _COMPARISONS),
    lambda a, b: np.isnan(a) | np.isnan(b),
    lambda a, b: np.ones(np.broadcast_shapes(a.shape, b.shape), np.bool_),
]
"""``arith.cmpf`` by the number of its predicate: false, oeq..one, ord, ueq..une, uno, true."""


def _predicate(op: Operation) -> int:
    predicate = attribute(op, "predicate")
    if not isinstance(predicate, IntegerAttr):
        raise EngineError("a comparison without a predicate")
    return predicate.value.data


@implements("arith.cmpi")
def compare_integers(_: ReferenceInterpreter, op: Operation, a: Array, b: Array) -> Array:
    """Comparison by predicate; ``i1`` is signed in the signed ones, so true < false."""
    compare, is_unsigned = _INTEGER_PREDICATES[_predicate(op)]
    if is_unsigned:
        type_ = op.operands[0].type
        return np.asarray(compare(zero_extended(a, type_), zero_extended(b, type_)))
    return np.asarray(compare(signed(a), signed(b)))


@implements("arith.cmpf")
def compare_floats(_: ReferenceInterpreter, op: Operation, a: Array, b: Array) -> Array:
    """Comparison by predicate; ordered ones are false, unordered ones true, when either is NaN."""
    return np.asarray(_FLOAT_PREDICATES[_predicate(op)](a, b))


@implements("arith.addui_extended")
def add_extended(_: ReferenceInterpreter, op: Operation, a: Array, b: Array) -> tuple[Array, Array]:
    """Sum and carry."""
    total = fit(signed(a) + signed(b), op.results[0].type)
    type_ = op.operands[0].type
    return total, zero_extended(total, type_) < zero_extended(a, type_)


@implements("arith.subui_extended")
def sub_extended(_: ReferenceInterpreter, op: Operation, a: Array, b: Array) -> tuple[Array, Array]:
    """Difference and borrow."""
    type_ = op.operands[0].type
    borrow = zero_extended(a, type_) < zero_extended(b, type_)
    return fit(signed(a) - signed(b), op.results[0].type), borrow


def _extended_product(
    read: Callable[[Array, Any], Array],
    _: ReferenceInterpreter,
    op: Operation,
    a: Array,
    b: Array,
) -> tuple[Array, Array]:
    """The low and the high half of a product; through Python integers, which have no width."""
    type_ = op.operands[0].type
    width = bit_width(type_)
    exact = read(a, type_).astype(object) * read(b, type_).astype(object)

    def half(bits: Any) -> Array:
        held = np.asarray(bits & ((1 << width) - 1), dtype=object).astype(np.uint64)
        return fit(held, type_)

    return half(exact), half(exact >> width)


IMPLEMENTATIONS["arith.mulsi_extended"] = partial(_extended_product, as_signed)
IMPLEMENTATIONS["arith.mului_extended"] = partial(_extended_product, zero_extended)
