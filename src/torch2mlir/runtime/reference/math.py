"""``math`` on arrays. numpy computes it; what numpy lacks (``erf``) comes from ``torch.special``."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch
from xdsl.ir import Operation

from torch2mlir.runtime.reference.arith import as_held, as_signed, register_elementwise
from torch2mlir.runtime.reference.interpreter import ReferenceInterpreter, implements
from torch2mlir.runtime.reference.values import Array, bit_width, fit, signed, zero_extended


def _special(function: Any, a: Array) -> Array:
    """A function of ``torch.special``; half precision is computed in single."""
    wide = np.array(a, dtype=np.float32 if a.dtype == np.float16 else a.dtype)
    return function(torch.from_numpy(wide)).numpy()


def erf(a: Array) -> Array:
    """The error function."""
    return _special(torch.special.erf, a)


def round_half_away(a: Array) -> Array:
    """Nearest integer, halves away from zero."""
    whole = np.trunc(a)
    return np.where(np.abs(a - whole) >= 0.5, whole + np.copysign(1, a), whole).astype(a.dtype)


def _integer_power(base: Array, exponent: Array) -> Array:
    """``base ** exponent``; a negative exponent leaves 1 and -1 their inverse and gives 0 otherwise."""
    power = np.power(base, np.maximum(exponent, 0))
    inverse = np.where(base == 1, 1, np.where(base == -1, 1 - 2 * (exponent & 1), 0))
    return np.where(exponent < 0, inverse, power)


def _is_normal(a: Array) -> Array:
    return np.isfinite(a) & (np.abs(a) >= np.finfo(a.dtype).tiny)


register_elementwise(
    {
        "math.absf": np.abs,
        "math.acos": np.arccos,
        "math.acosh": np.arccosh,
        "math.asin": np.arcsin,
        "math.asinh": np.arcsinh,
        "math.atan": np.arctan,
        "math.atan2": np.arctan2,
        "math.atanh": np.arctanh,
        "math.cbrt": np.cbrt,
        "math.ceil": np.ceil,
        "math.clampf": lambda a, low, high: np.minimum(np.maximum(a, low), high),
        "math.copysign": np.copysign,
        "math.cos": np.cos,
        "math.cosh": np.cosh,
        "math.erf": erf,
        "math.erfc": partial(_special, torch.special.erfc),
        "math.exp": np.exp,
        "math.exp2": np.exp2,
        "math.expm1": np.expm1,
        "math.floor": np.floor,
        "math.fma": lambda a, b, c: (np.float64(1) * a * b + c) if a.itemsize < 8 else a * b + c,
        "math.fpowi": lambda a, n: np.power(a, n.astype(np.float64)),
        "math.isfinite": np.isfinite,
        "math.isinf": np.isinf,
        "math.isnan": np.isnan,
        "math.isnormal": _is_normal,
        "math.log": np.log,
        "math.log10": np.log10,
        "math.log1p": np.log1p,
        "math.log2": np.log2,
        "math.powf": np.power,
        "math.round": round_half_away,
        "math.roundeven": np.rint,
        "math.rsqrt": lambda a: 1 / np.sqrt(a),
        "math.sin": np.sin,
        "math.sinh": np.sinh,
        "math.sqrt": np.sqrt,
        "math.tan": np.tan,
        "math.tanh": np.tanh,
        "math.trunc": np.trunc,
    },
    as_held,
)
register_elementwise({"math.absi": np.abs, "math.ipowi": _integer_power}, as_signed)


@implements("math.sincos")
def sincos(_: ReferenceInterpreter, op: Operation, a: Array) -> tuple[Array, Array]:
    """Sine and cosine."""
    return fit(np.sin(a), op.results[0].type), fit(np.cos(a), op.results[1].type)


@implements("math.ctpop")
def count_ones(_: ReferenceInterpreter, op: Operation, a: Array) -> Array:
    """The number of bits that are set."""
    return fit(np.bitwise_count(zero_extended(a, op.operands[0].type)), op.results[0].type)


@implements("math.ctlz")
def count_leading_zeros(_: ReferenceInterpreter, op: Operation, a: Array) -> Array:
    """Zeros above the highest bit that is set; the width for 0."""
    bits = zero_extended(a, op.operands[0].type)
    for step in (1, 2, 4, 8, 16, 32):
        if step < bits.itemsize * 8:
            bits = bits | (bits >> bits.dtype.type(step))
    width = bit_width(op.operands[0].type)
    return fit(width - np.bitwise_count(bits).astype(np.int64), op.results[0].type)


@implements("math.cttz")
def count_trailing_zeros(_: ReferenceInterpreter, op: Operation, a: Array) -> Array:
    """Zeros below the lowest bit that is set; the width for 0."""
    bits = signed(a)
    below = np.bitwise_count(
        zero_extended(fit(~bits & (bits - 1), op.operands[0].type), op.operands[0].type)
    )
    return fit(below, op.results[0].type)
