"""Arithmetic of two tensors, or of a tensor and a number: broadcasting and type promotion."""

from __future__ import annotations

import operator
from math import inf, nan

import torch

from tests.e2e.registry import b1, bf16, case, f16, f32, f64, i8, i16, i32, i64, u8

LEFT = (-inf, -7.5, -3.0, -1.0, -0.0, 0.0, 0.5, 2.0, 6.5, inf, nan)
RIGHT = (2.0, -3.0, 0.5, 0.0, -0.0, inf, -inf, nan, 7.0)
WHOLE_LEFT = (-9, -7, -4, -1, 0, 1, 3, 4, 8, 9)
WHOLE_RIGHT = (2, -3, 4, -5, 7, -1, 1)

ARITHMETIC = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "remainder": torch.remainder,
    "fmod": torch.fmod,
    "floor_divide": torch.floor_divide,
    "div_trunc": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "div_floor": lambda x, y: torch.div(x, y, rounding_mode="floor"),
}
for name, function in ARITHMETIC.items():
    case(name, function, f32("B", 33, values=LEFT), f32("B", 33, values=RIGHT))
    case(f"{name}_i64", function, i64("B", 10, values=WHOLE_LEFT), i64(10, values=WHOLE_RIGHT))
    case(f"{name}_i32", function, i32(35, values=WHOLE_LEFT), i32(35, values=WHOLE_RIGHT))
    case(f"{name}_u8", function, u8(20, high=256), u8(20, low=1, high=256))
    case(f"{name}_f64", function, f64(33, values=LEFT), f64(33, values=RIGHT))
    case(f"{name}_f16", function, f16(33, values=LEFT), f16(33, values=RIGHT))
    case(f"{name}_bf16", function, bf16(33, values=LEFT), bf16(33, values=RIGHT))
    case(f"{name}_scalar", lambda x, f=function: f(x, 2.5), f32("B", 11, values=LEFT))
    case(f"{name}_integer_scalar", lambda x, f=function: f(x, 3), i64("B", 10, values=WHOLE_LEFT))

BROADCASTING = {
    "rows": (f32("B", 4), f32(4)),
    "columns": (f32("B", 4), f32("B", 1)),
    "outer": (f32("B", 1), f32(1, "S")),
    "both_ranks": (f32("S"), f32("B", 1, "S")),
    "one_by_one": (f32(1, 1), f32("B", 3)),
    "zero_rank": (f32("B", 3), f32()),
    "two_zero_ranks": (f32(), f32()),
    "empty": (f32(0, 3), f32(3)),
    "size_formula": (f32(("B", lambda b: 2 * b), 3), f32(3)),
}
for name, arguments in BROADCASTING.items():
    case(f"broadcast_{name}", torch.add, *arguments)

for name, whole in {"i8": i8, "u8": u8, "i16": i16, "i32": i32, "i64": i64}.items():
    # a number has no say in the dtype beside a tensor without dimensions either
    case(
        f"numbers_beside_zero_rank_{name}",
        lambda y: (
            y // 2,
            7 // y,
            y % 2,
            7 % y,
            2.5 // y,
            y // 2.5,
            y**2,
            2**y,
            torch.fmod(y, 3),
            7 & y,
            y >> 1,
        ),
        whole(low=1, high=6),
    )
for name, half in {"f16": f16, "bf16": bf16}.items():
    case(
        f"numbers_beside_zero_rank_{name}",
        lambda y: (
            y // 0.7,
            2.5 // y,
            y % 0.7,
            2.5 % y,
            torch.xlogy(y, 0.7),
            torch.copysign(y, -0.7),
            2 / y,
        ),
        half(values=(5.3, 0.9, 2.1)),
    )

PROMOTION = {
    "f32_i64": (f32("B", 3), i64(3)),
    "f16_f32": (f16(4), f32(4)),
    "f16_bf16": (f16(4), bf16(4)),
    "f32_f64": (f32(4), f64(4)),
    "i32_i64": (i32(4), i64(4)),
    "u8_i8": (u8(4), i8(4)),
    "u8_i16": (u8(4), i16(4)),
    "bool_i32": (b1(4), i32(4)),
    "bool_f32": (b1(4), f32(4)),
    "zero_rank_f64_f32": (f32(4), f64()),
    "zero_rank_i64_i32": (i32(4), i64()),
    "zero_rank_f32_i64": (i64(4), f32()),
}
for name, arguments in PROMOTION.items():
    case(
        f"promote_{name}",
        lambda x, y: (x + y, x * y, x - y if x.dtype != torch.bool else x),
        *arguments,
    )

case("add_alpha", lambda x, y: torch.add(x, y, alpha=2), f32("B", 3), f32(3))
case("add_alpha_i64", lambda x, y: torch.add(x, y, alpha=3), i64("B", 3), i64(3))
case("sub_alpha", lambda x, y: torch.sub(x, y, alpha=0.5), f32("B", 3), f32(3))
case("rsub", lambda x: (1 - x, torch.rsub(x, 2, alpha=3)), f32("B", 3))
case("divide_number_by_tensor", lambda x: 1 / x, f32("B", 3))
case("div_integers_by_number", lambda x: x / 2, i64("B", 3))
case("add_float_to_integers", lambda x: x + 1.5, i64("B", 3))
case("mul_bool_by_number", lambda x: (x * 2, x * 1.5), b1("B", 3))
case("add_bool", lambda x, y: (x + y, x * y), b1("B", 3), b1(3))
case("add_wraps", lambda x: x + 1, i32(2, values=(2**31 - 1, 5)))
case("mul_wraps_u8", lambda x: x * 3, u8(4, values=(100, 200, 255, 1)))
case("number_on_the_left", lambda x: (2 + x, 3 * x, 5 - x), f32("B", 3))
case("inf_scalars", lambda x: (x + inf, x * -inf), f32("B", 3))

case("maximum", torch.maximum, f32("B", 11, values=LEFT), f32(11, values=RIGHT))
case("minimum", torch.minimum, f32("B", 11, values=LEFT), f32(11, values=RIGHT))
case("maximum_i64", torch.maximum, i64("B", 3), i64(3))
case("minimum_u8", torch.minimum, u8("B", 3, high=256), u8(3, high=256))
case(
    "maximum_half",
    lambda x, y, z, w: (torch.maximum(x, y), torch.minimum(z, w)),
    f16(11, values=LEFT),
    f16(11, values=RIGHT),
    bf16(11, values=LEFT),
    bf16(11, values=RIGHT),
)
case("maximum_bool", lambda x, y: (torch.maximum(x, y), torch.minimum(x, y)), b1("B", 3), b1(3))
case(
    "fmax_fmin",
    lambda x, y: (torch.fmax(x, y), torch.fmin(x, y)),
    f32("B", 11, values=LEFT),
    f32(11, values=RIGHT),
)
case("atan2", torch.atan2, f32("B", 11, values=LEFT), f32(11, values=RIGHT))
case("atan2_f64", torch.atan2, f64(33, values=LEFT), f64(33, values=RIGHT))
case("hypot", torch.hypot, f32("B", 3), f32(3))
case("copysign", torch.copysign, f32("B", 11, values=LEFT), f32(11, values=(-1.0, 1.0)))
case("xlogy", torch.xlogy, f32("B", 4, values=(0.0, 1.0, 2.0)), f32(4, values=(0.0, 2.0, nan)))
case("logaddexp", torch.logaddexp, f32("B", 4), f32(4))
case("heaviside", torch.heaviside, f32("B", 4, values=(-1.0, 0.0, 2.0)), f32(4))

POSITIVE = (0.0, 0.5, 1.0, 2.0, 3.5, 10.0)
case("pow", torch.pow, f32("B", 12, values=POSITIVE), f32(12, values=(2.0, -1.0, 0.5, 0.0, 3.0)))
case("pow_edges", torch.pow, f32("B", 11, values=LEFT), f32(11, values=RIGHT))
case("pow_f64", torch.pow, f64(12, values=POSITIVE), f64(12, values=(2.0, -1.0, 0.5, 0.0, 3.0)))
case(
    "remainders_of_halves",
    lambda x, y: (x % 0.7, torch.fmod(x, 0.3), y % 0.7, torch.fmod(y, -0.3)),
    f16(6, values=(10.0, -7.3, 0.5, 33.0, -0.1, 70.0)),
    bf16(6, values=(10.0, -7.3, 0.5, 33.0, -0.1, 70.0)),
)


def _with_numbers(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Arithmetic with numbers that 16-bit floats round; results as integers, of which each bit is compared."""
    results = (
        *(x * 0.7, x / 0.7, x // 0.7, torch.div(x, 0.7, rounding_mode="trunc"), 0.7 * x),
        *(x + 0.7, x - 0.7, 0.7 - x, x + 2049, x * 1e5),
        *(x * torch.tensor(0.7), torch.tensor(0.7) * x, x // torch.tensor(0.7)),
    )
    return tuple(torch.clamp(each.float() * 4096, -(2**30), 2**30).int() for each in results)


case("numbers_beside_f16", _with_numbers, f16(4, 50, low=-20, high=20))
case(
    "numbers_beside_bf16",
    lambda x: (x // 0.7, torch.div(x, 0.7, rounding_mode="trunc"), x * 0.7, x + 0.7),
    bf16(4, 50, low=-20, high=20),
)
case("pow_half", lambda x, y: (x**2.5, y**2.5), f16(6, values=POSITIVE), bf16(6, values=POSITIVE))
case("pow_i64", torch.pow, i64("B", 4, values=(-3, 2, 0, 5)), i64(4, values=(0, 1, 2, 3)))
for exponent in (0, 1, 2, 3, -1, -2, 0.5, -0.5, 2.5, 0.0):
    shown = str(exponent).replace("-", "minus_").replace(".", "_")
    case(f"pow_{shown}", lambda x, y=exponent: x**y, f32("B", 6, values=(-2.0, *POSITIVE)))
case("pow_i64_squared", lambda x: (x**2, x**3, x**0), i64("B", 3))
case("pow_in_place", lambda x: x.abs().pow_(-0.5), f32("B", 6, values=POSITIVE))
case("number_pow_tensor", lambda x: (2**x, 2.5**x), f32("B", 3))
case("number_pow_integers", lambda x: 2**x, i64("B", 3, low=0, high=6))
case("float_power", lambda x: torch.float_power(x, 2), f32(4))

BITWISE = {
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}
for name, function in BITWISE.items():
    case(f"bitwise_{name}", function, i64("B", 4), i64(4))
    case(
        f"bitwise_{name}_small",
        lambda x, y, z, w, f=function: (f(x, x + 1), f(y, y + 1), f(z, w)),
        i32(4),
        u8(4),
        b1(4),
        b1(4),
    )
    case(
        f"bitwise_{name}_scalar", lambda x, y, f=function: (f(x, 5), f(y, True)), i64("B", 4), b1(4)
    )
case("shifts", lambda x: (x << 2, x >> 1), i32("B", 4))

for name in ("logical_and", "logical_or", "logical_xor"):
    function = getattr(torch, name)
    case(name, function, b1("B", 4), b1(4))
    case(
        f"{name}_of_numbers",
        function,
        f32("B", 4, values=(0.0, 1.0, nan, -0.0)),
        i64(4, low=0, high=2),
    )

case("where", torch.where, b1("B", 4), f32("B", 4), f32(4))
case("where_broadcast", torch.where, b1("B", 1), f32(4), f32("B", 1))
case("where_promotes", torch.where, b1("B", 4), i64("B", 4), f32(4))
case(
    "where_scalars",
    lambda c, x: (torch.where(c, x, 0.0), torch.where(c, 1.0, x)),
    b1("B", 4),
    f32("B", 4),
)
case("where_two_scalars", lambda c: (torch.where(c, 1.0, 2.0), torch.where(c, 3, 4)), b1("B", 4))
case("where_integers", torch.where, b1("B", 4), i64("B", 4), i64(4))
case(
    "where_half",
    lambda c, x, y: (torch.where(c, x, -x), torch.where(c, y, -y)),
    b1("B", 4),
    f16(4),
    bf16(4),
)
case(
    "masked_fill",
    lambda x, m: (x.masked_fill(m, -inf), x.masked_fill(~m, 2)),
    f32("B", 4),
    b1("B", 4),
)
case("addcmul", lambda x, y, z: torch.addcmul(x, y, z, value=0.5), f32("B", 3), f32(3), f32("B", 1))
case(
    "addcdiv",
    lambda x, y, z: torch.addcdiv(x, y, z, value=0.5),
    f32("B", 3),
    f32(3),
    f32("B", 1, low=1, high=2),
)
case(
    "lerp",
    lambda x, y, w: (torch.lerp(x, y, 0.3), torch.lerp(x, y, w)),
    f32("B", 3),
    f32("B", 3),
    f32("B", 3),
)
case(
    "div_scalar_mode",  # torch.div itself exports the overload for tensors
    lambda x: tuple(
        torch.ops.aten.div.Scalar_mode(x, 2.5, rounding_mode=mode)
        for mode in (None, "floor", "trunc")
    ),
    f32("B", 4),
)

_COUNTS = (0, 1, 7, 8, 31, 32, 63, 64, -1)
for _name, _spec in {"i64": i64, "i32": i32, "u8": u8}.items():
    _counts = _spec(9, values=[count % 256 if _name == "u8" else count for count in _COUNTS])
    case(
        f"shift_by_any_{_name}",
        lambda x, y: (torch.bitwise_left_shift(x, y), torch.bitwise_right_shift(x, y)),
        _spec("B", 9),
        _counts,
    )

case("number_minus_f64", lambda x: (0.1 - x, 1 - x), f64("B", 3))
case("number_minus_f16", lambda x: 0.1 - x, f16("B", 3))
case("number_minus_integer", lambda x: (5 - x, 0.5 - x), i32("B", 3))
