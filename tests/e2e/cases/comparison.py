"""Comparisons: every relation, NaN, mixed dtypes, numbers beyond the tensor's dtype."""

from __future__ import annotations

from math import inf, nan

import torch

from tests.e2e.registry import b1, bf16, case, f16, f32, f64, i32, i64, u8

LEFT = (-inf, -1.0, -0.0, 0.0, 1.0, 1.0, inf, nan, nan)
RIGHT = (-inf, 1.0, 0.0, -1.0, 1.0, nan, 2.0)

for name in ("eq", "ne", "lt", "le", "gt", "ge"):
    function = getattr(torch, name)
    case(name, function, f32("B", 21, values=LEFT), f32(21, values=RIGHT))
    case(f"{name}_i64", function, i64("B", 6, low=-2, high=3), i64("B", 6, low=-2, high=3))
    case(f"{name}_u8", function, u8(30, values=(0, 127, 128, 255)), u8(30, values=(0, 255, 100)))
    case(f"{name}_f64", function, f64(63, values=LEFT), f64(63, values=RIGHT))
    case(
        f"{name}_half",
        lambda a, b, c, d, f=function: (f(a, b), f(c, d)),
        f16(63, values=LEFT),
        f16(63, values=RIGHT),
        bf16(63, values=LEFT),
        bf16(63, values=RIGHT),
    )
    case(f"{name}_scalar", lambda x, f=function: f(x, 1.0), f32("B", 9, values=LEFT))
    case(f"{name}_integer_scalar", lambda x, f=function: f(x, 1), i64("B", 6, low=-2, high=3))

case(
    "compare_integers_with_float",
    lambda x: (x < 0.5, x == 1.0, x >= 1.5),
    i64("B", 6, low=-2, high=3),
)
case(
    "compare_mixed_dtypes",
    lambda x, y: (x < y, x == y),
    i64("B", 6, low=-2, high=3),
    f32(6, values=(0.5, 1.0, -2.0)),
)
case(
    "compare_i32_with_i64",
    lambda x, y: x < y,
    i32(4, low=-2, high=3),
    i64(4, values=(2**33, 0, -(2**33), 1)),
)
case("compare_bools", lambda x, y: (x == y, x < y, x != y, x >= y), b1("B", 4), b1(4))
case("compare_bool_with_number", lambda x: (x == 1, x > 0), b1("B", 4))
case(
    "compare_f16_with_f32_number",
    lambda x: (x > 1e-9, x == 0.1),
    f16("B", 4, values=(0.0, 0.1, 1.0)),
)
case("compare_zero_rank", lambda x, y: (x > y, x.sum() > y), f32("B", 3), f32())
case("equal_to_infinity", lambda x: (x == inf, x == -inf, x < inf), f32("B", 9, values=LEFT))
case("not_equal_is_true_for_nan", lambda x: x != x, f32("B", 9, values=LEFT))
