"""Functions of one tensor, at the edges of their domains and in every dtype they take."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any

import torch

from tests.e2e.registry import b1, bf16, case, f16, f32, f64, i8, i32, i64, u8

EDGES = (
    -inf,
    -3.5,
    -2.5,
    -1.5,
    -1.0,
    -0.5,
    -0.0,
    0.0,
    0.3,
    0.5,
    1.0,
    1.5,
    2.5,
    3.7,
    20.0,
    inf,
    nan,
)
INTEGERS = (-7, -2, -1, 0, 1, 2, 5, 9)

FLOAT_FUNCTIONS = [
    *(
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atanh",
        "cos",
        "cosh",
        "sin",
        "sinh",
        "tan",
        "tanh",
    ),
    *(
        "exp",
        "expm1",
        "log",
        "log10",
        "log1p",
        "log2",
        "sqrt",
        "rsqrt",
        "reciprocal",
        "erf",
        "sigmoid",
    ),
]
"""Their result is a float, whatever they are given."""

SAME_DTYPE_FUNCTIONS = ["abs", "ceil", "floor", "neg", "relu", "round", "sign", "trunc"]


def _each(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *tensors: tuple(function(x) for x in tensors)


for name in FLOAT_FUNCTIONS + SAME_DTYPE_FUNCTIONS:
    function = getattr(torch, name)
    case(name, function, f32("B", 6, values=EDGES))
    case(f"{name}_f64", function, f64(17, values=EDGES))
    case(f"{name}_half", _each(function), f16(17, values=EDGES), bf16(17, values=EDGES))

for name in FLOAT_FUNCTIONS:
    arguments = (i64(8, values=INTEGERS), b1(2, values=(False, True)))
    case(f"{name}_of_integers", _each(getattr(torch, name)), *arguments)

for name in SAME_DTYPE_FUNCTIONS:
    arguments = (i64("B", 3, values=INTEGERS), i32(8, values=INTEGERS), i8(8, values=INTEGERS))
    case(f"{name}_of_integers", _each(getattr(torch, name)), *arguments)

OTHERS: dict[str, Callable[..., Any]] = {
    "isnan": torch.isnan,
    "isinf": torch.isinf,
    "isfinite": torch.isfinite,
    "logical_not": torch.logical_not,
    "square": torch.square,
    "frac": torch.frac,
    "exp2": torch.exp2,
    "erfc": torch.erfc,
    "signbit": torch.signbit,
    "positive": torch.positive,
    "nan_to_num": torch.nan_to_num,
    "nan_to_num_with_values": lambda x: torch.nan_to_num(x, nan=1.0, posinf=2.0, neginf=-2.0),
    "logit": lambda x: torch.logit(x, eps=0.1),
    "round_decimals": lambda x: torch.round(x, decimals=1),
    "clamp": lambda x: x.clamp(-1.0, 2.0),
    "clamp_min": lambda x: x.clamp(min=0.5),
    "clamp_max": lambda x: x.clamp(max=0.5),
    "deg2rad": torch.deg2rad,
    "to_f64": lambda x: x.double(),
    "to_f16": lambda x: x.half(),
    "to_bf16": lambda x: x.bfloat16(),
    "to_bool": lambda x: x.bool(),
    "sgn": torch.sgn,
    "rad2deg": torch.rad2deg,
    "zero_rank_function": lambda x: x[0, 0].exp() + x[1, 1],
}
for name, function in OTHERS.items():
    case(name, function, f32("B", 6, values=EDGES))

case("sinc", torch.sinc, f32("B", 6, values=(0.0, 0.5, -1.5, 3.0)))
case("bitwise_not", _each(torch.bitwise_not), i64("B", 3), i32(4), u8(4), b1(4))
case("logical_not_of_integers", _each(torch.logical_not), i64("B", 3, low=-1, high=2), b1(4), u8(4))
case("isnan_of_integers", torch.isnan, i32("B", 3))
case(
    "isinf_half",
    _each(torch.isinf),
    f16(17, values=EDGES),
    bf16(17, values=EDGES),
)
case("isinf_f64", torch.isinf, f64(17, values=EDGES))
case("abs_of_unsigned", torch.abs, u8(6))
case("neg_wraps", torch.neg, i32(3, values=(-(2**31), 2**31 - 1, 1)))
case("clamp_integers", lambda x: x.clamp(-2, 3), i64("B", 3))
case("clamp_integers_by_float", lambda x: x.clamp(-1.5, 2.5), i64("B", 3))
case("clamp_tensors", torch.clamp, f32("B", 4), f32(4, low=-1, high=0), f32(4, low=0, high=1))
case("clamp_tensor_min", lambda x, low: torch.clamp(x, min=low), f32("B", 4), f32("B", 1))
case("clamp_crossed_bounds", lambda x: x.clamp(2.0, 1.0), f32("B", 4, values=EDGES))
case("float_to_integers", lambda x: (x.long(), x.int(), x.short()), f32("B", 4, low=-9, high=9))
case(
    "float_to_narrow_integers_wraps",
    lambda x: (x.to(torch.uint8), x.to(torch.int8), x.to(torch.int16)),
    f32(8, values=(-1.0, -1.5, 255.9, 256.0, 300.0, -129.0, 70000.0, -0.5)),
)
case("float_to_u8", lambda x: x.to(torch.uint8), f32("B", 4, low=0, high=250))
case(
    "integers_to_float",
    lambda x, y, z: (x.float(), y.double(), z.half()),
    i64("B", 3),
    i32(4),
    u8(4),
)
case(
    "integers_narrow_and_wrap",
    lambda x: (x.int(), x.to(torch.int8), x.to(torch.uint8)),
    i64(4, values=(300, -129, 2**31, -1)),
)
case("bool_to_numbers", lambda x: (x.float(), x.long(), x.to(torch.uint8), x.half()), b1("B", 3))
case(
    "integer_to_bool", lambda x, y: (x.bool(), y.bool()), i64("B", 3, low=-1, high=2), u8(4, high=2)
)
case("f64_to_f32", lambda x: x.float(), f64("B", 3))
case("half_to_float", lambda x, y: (x.float(), y.float(), y.half()), f16("B", 3), bf16(4))
case("u8_to_signed", lambda x: (x.to(torch.int8), x.long()), u8(4, values=(0, 127, 128, 255)))
