"""Running products, extrema and sums of exponentials along a dimension."""

from __future__ import annotations

from math import inf, nan

import torch

from tests.e2e.registry import b1, case, f16, f32, i64

ZEROS = (0.0, -0.0, -0.0, 0.0, -1.0, 0.0, -0.0)
WITH_NANS = (0.5, -inf, 2.0, nan, inf, 1.0, nan)
HUGE = (
    0.0,
    3e38,
    3e38,
    1.0,
    -3e38,
    3e38,
    3e38,
    -3e38,
    3e38,
    3e38,
    -3e38,
    -3e38,
    inf,
    0.0,
    1.0,
    nan,
)

case("cumprod", lambda x: (x.cumprod(0), x.cumprod(-1)), f32("B", 4))
# what later elements would overflow to among themselves
case("cumprod_huge", lambda x: (x.cumprod(1), x.cumprod(0)), f32(4, 4, values=HUGE))
case("cumprod_huge_dynamic_axis", lambda x: x.cumprod(1), f32(4, "S", values=HUGE))
case("cumprod_of_long_lines", lambda x: x.cumprod(-1), f32(2, 300, values=(3e38, 1e-30, -2e-9)))
case("cumsum_huge", lambda x: (x.cumsum(1), x.cumsum(0)), f32(4, 4, values=HUGE))
case("cumsum_huge_dynamic_axis", lambda x: x.cumsum(1), f32(4, "S", values=HUGE))
case("cumprod_i64", lambda x: x.cumprod(1), i64("B", 4))
case("cumprod_f16", lambda x: x.cumprod(1), f16(2, 6))
case("cumprod_dynamic_axis", lambda x: x.cumprod(1), f32(2, "S"))
for name in ("cummax", "cummin"):
    function = getattr(torch, name)
    case(name, lambda x, f=function: tuple(f(x, 1)), f32("B", 6))
    case(f"{name}_i64", lambda x, f=function: tuple(f(x, 0)), i64(5, "B", low=0, high=3))
    case(f"{name}_nan", lambda x, f=function: tuple(f(x, 1)), f32("B", 7, values=WITH_NANS))
    case(f"{name}_zeros", lambda x, f=function: tuple(f(x, 1)), f32("B", 7, values=ZEROS))
    case(f"{name}_dynamic_axis", lambda x, f=function: tuple(f(x, 1)), f32(2, "S"))
case("cummax_of_bool", lambda x: tuple(torch.cummax(x, 1)), b1("B", 5))
case("cummax_long", lambda x: tuple(torch.cummax(x, 1)), f32(2, "L"))
case("logcumsumexp", lambda x: torch.logcumsumexp(x, 1), f32("B", 6))
case(
    "logcumsumexp_wide",
    lambda x: torch.logcumsumexp(x, 0),
    f32(6, "B", values=(-0.0, -500.0, -400.0, 0.0, 300.0, -inf, 600.0, 2.0)),
)
case("logcumsumexp_dynamic_axis", lambda x: torch.logcumsumexp(x, 1), f32(2, "S"))
case(
    "cumulative_trapezoid", lambda y, x: torch.cumulative_trapezoid(y, x), f32("B", 5), f32("B", 5)
)
case("trapezoid_dynamic_axis", lambda y: torch.trapezoid(y, dx=0.5), f32(2, "S"))
