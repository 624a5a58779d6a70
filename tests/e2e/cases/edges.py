"""Where formulas and positions go wrong first: signs of zeros, several NaNs, places counted from the end, no elements."""

from __future__ import annotations

from itertools import product
from math import inf, nan

import torch
from torch.nn import functional as F

from tests.e2e.registry import bf16, case, f16, f32, f64, i32, i64

# zeros have a sign, and every pair of these has its own result

VALUES = (-inf, -3.5, -1.0, -0.7, -0.3, -0.0, 0.0, 0.3, 0.7, 1.5, 6.5, inf, nan)
PAIRS = list(product(VALUES, VALUES))
LEFT, RIGHT = ([pair[side] for pair in PAIRS] for side in (0, 1))

for name in ("ceil", "floor", "round", "trunc", "sign", "signbit", "frac", "abs", "neg"):
    case(f"{name}_of_zeros", getattr(torch, name), f32("B", len(VALUES), values=VALUES))
    case(f"{name}_of_zeros_f64", getattr(torch, name), f64("B", len(VALUES), values=VALUES))

for name, bounds in {
    "above_zero": (0.0, None),
    "below_zero": (None, 0.0),
    "above_minus_zero": (-0.0, None),
    "below_minus_zero": (None, -0.0),
}.items():
    case(
        f"clamp_{name}",
        lambda x, bounds=bounds: torch.clamp(x, *bounds),
        f32("B", len(VALUES), values=VALUES),
    )
case(
    "sum_of_single_zeros",
    lambda x: (x.sum(1), x.unsqueeze(0).sum(0, keepdim=True), x.sum((1,), dtype=torch.float32)),
    f32("B", 1, values=(-0.0, 0.0, 1.0, nan)),
)

DIVISIONS = {
    "fmod": torch.fmod,
    "remainder": torch.remainder,
    "floor_divide": torch.floor_divide,
    "trunc_divide": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
}
for name in ("fmod", "remainder"):
    # divisors whose inverse is taken for zero
    case(
        f"{name}_by_huge_numbers",
        DIVISIONS[name],
        f32("B", 6, values=(-3.4e38, 3.4e38, 1e38, -3.3e38, 2.0, -1e-30)),
        f32("B", 6, values=(3e38, 8.6e37, -3e38, 1.7e38, 2e38, 1e38)),
    )
for name, function in DIVISIONS.items():
    case(f"{name}_of_zeros", function, f32("B", 169, values=LEFT), f32("B", 169, values=RIGHT))
    for number in (2.0, -0.3, 3.3):
        case(
            f"{name}_of_zeros_by_{number}",
            lambda x, f=function, n=number: f(x, n),
            f32("B", 13, values=VALUES),
        )
    # quotients that a product with the inverse rounds to the wrong side, and large ones
    case(
        f"{name}_of_large_quotients",
        function,
        f32("B", 6, values=(1.5, 1e12, 7e15, -4.1e18, 0.7, 2.5e9)),
        f32(6, values=(-0.3, 3e-3, 1.7, -0.9, 0.1, -7.3)),
    )

case(
    "gelu_written_out",
    lambda x: 0.5 * x * (1.0 + torch.tanh(0.7978845608028654 * (x + 0.044715 * x.pow(3)))),
    f32("B", 6, values=(-inf, -3e30, -2.0, -0.0, 0.0, 1e-20, 0.7, 9.0, 3e30, inf, nan)),
)

# 1 + erf of what is far below zero is 0, times a huge number
case(
    "gelu_far_below_zero",
    lambda x: (F.gelu(x), F.gelu(x, approximate="tanh")),
    f32("B", 6, values=(-1e6, -1e5, -1e4, -1e3, -50.0, -13.0, -8.0, -6.5, 1e4)),
)

# of several NaNs pools know the last, and a window without a largest element has its first place

ROW = [1.0, nan, -2.0, nan, 5.0, 0.0, -inf, nan, 3.0, 5.0, nan, 5.0, 1.0]
case(
    "max_pool_places_of_nans",
    lambda x: F.max_pool2d(x, 2, return_indices=True),
    f32("B", 2, 6, 8, values=ROW),
)
case(
    "max_pool_places_of_nans_padded",
    lambda x: F.max_pool2d(x, 3, 1, 1, return_indices=True),
    f32("B", 2, 6, 8, values=ROW),
)
case(
    "max_pool_places_of_infinities",
    lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True)[1],
    f32("B", 1, 6, 8, values=(-inf,)),
)

case(
    "extrema_of_infinities",
    lambda x: (x.amax(1), (-x).amin(1), x.amax()),
    f32("B", 5, values=(-inf,)),
)
case(
    "running_sums_of_negative_zeros",
    lambda x: (x.cumsum(1), x.cumsum(0)),
    f32("B", 5, values=(-0.0, -0.0, 1.0, -1.0, -0.0, 0.0, -0.0)),
)

# starts and places from the end, of sizes that are known at run time


def _rotary_of_all_columns(x: torch.Tensor) -> torch.Tensor:
    """As GPT-NeoX writes it: no column is left over."""
    rotated, passed = x[..., :8], x[..., 8:]
    turned = torch.cat([-rotated[..., 4:], rotated[..., :4]], -1)
    return torch.cat([rotated * 2 + turned * 3, passed], -1)


case("slice_from_the_end_by_size", lambda x, y: x[-y.shape[0] :], f32("H", 3), f32("S"))
case("slice_until_the_end_by_size", lambda x, y: x[: -y.shape[0]], f32("H", 3), f32("S"))
case("slice_by_difference", lambda x, y: x[:, 1 - y.shape[0] :], f32(2, "H"), f32("S"))
case("slice_by_rest", lambda x, y: x[:, y.shape[0] - 1 :], f32(2, "H"), f32("S"))
case("slice_with_step_from_the_end", lambda x, y: x[-y.shape[0] :: 2], f32("H", 3), f32("S"))
case("select_from_the_end_by_size", lambda x, y: x[-y.shape[0]], f32("H", 3), f32("S"))
case("select_by_difference", lambda x, y: x[:, 1 - y.shape[0]], f32(2, "H"), f32("S"))
case("slice_to_nothing", lambda x: x[3:], f32(3, "B"))
case("rotary_of_all_columns", _rotary_of_all_columns, f32("B", "S", 8))
case("slice_past_the_end", lambda x: (x[5:], x[-9:2], x[2:1]), f32(3, "B"))

# no elements


def _of_nothing(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    nothing = x[:, :0]
    return nothing.mean(), nothing.mean(1), nothing.sum(1), nothing.prod(1), nothing.any(1)


case("reductions_of_nothing", _of_nothing, f32("B", 3))
case(
    "deviations_of_nothing",
    lambda x: (x[:, :0].var(), x[:, :0].std(1), x[:, :0].nanmean(), x[:, :0].norm()),
    f32("B", 3),
)
case("deviations_of_a_fixed_nothing", lambda x: (x.var(), x.std(0), x.nanmean()), f32(0, 3))
case("means_of_an_empty_argument", lambda x: (x.mean(), torch.zeros(0).mean()), f32(0))
case("mean_of_no_integers", lambda x: x[:0].to(torch.float32).mean(), i64("B"))


# identities that hold of real numbers, and not of floats

IDENTITIES = {
    "product_with_boolean": lambda x: x * (x > 0),
    "product_with_mask": lambda x: x * (x > 0).to(torch.float32) * (x < 6).to(torch.int32),
    "product_with_zero": lambda x: (x * 0, x * -0.0, x * torch.zeros_like(x), 0.0 / x),
    "sum_with_zero": lambda x: (x + 0.0, x + torch.zeros_like(x), x - 0.0),
    "sums_with_constants": lambda x: ((x + 1e30) - 1e30, (x - 3.0) + 3.0, 2.0 - (x + 1e9)),
    "logarithm_of_exponential": lambda x: (x * 60).exp().log(),
    "differences_with_itself": lambda x: (x - x, x / x, x * 2 - x * 2),
    "choice_of_zeros": lambda x: (
        torch.where(x > 0, x * 0, x),
        torch.where(x == 0, x, 2.0),
        torch.where(x == 0, 2.0, x),
        torch.where(x == 0, -0.0, x),
    ),
}
for name, function in IDENTITIES.items():
    case(f"identity_{name}", function, f32("B", len(VALUES), values=VALUES))

# small arguments are what odd functions give

SMALL = (-0.0, 0.0, 1e-20, -1e-30, 3e-7, -1e-5)


def _scaled(function):
    """The relative precision, which closeness around zero does not show."""
    return lambda x: function(x) / torch.where(x == 0, 1, x)


for name in (
    "sin",
    "tan",
    "sinh",
    "tanh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "expm1",
    "log1p",
    "erf",
):
    function = _scaled(getattr(torch, name))
    case(f"{name}_of_small_numbers", function, f32("B", len(SMALL), values=SMALL))

for name in ("sinh", "asinh", "atanh", "expm1", "log1p"):
    function = _scaled(getattr(torch, name))
    case(f"{name}_of_small_numbers_f64", function, f64("B", len(SMALL), values=SMALL))

# the largest of nothing but minus infinity

NO_FINITE = (-inf, -inf, -inf, -inf, inf, inf, inf, inf, -3.4028234663852886e38, -inf, nan, 1.0)
case(
    "extrema_without_finite_numbers",
    lambda x: (x.amax(-1), x.amin(-1), x.amax(0), x.amin((0, 1)), -(x.amax(1))),
    f32("B", 3, 4, values=NO_FINITE, fixed=True),
)
case(
    "max_pool2d_without_finite_numbers",
    lambda x: (F.max_pool2d(x, (1, 4)), F.max_pool2d(x, (1, 2), padding=(0, 1))),
    f32("B", 1, 3, 4, values=NO_FINITE, fixed=True),
)
_POWERS = i32("B", 8, values=(140, 300, -140, -150, 3, -300, 200, 0))
case(
    "ldexp_of_edges",
    torch.ldexp,
    f32("B", 8, values=(6.3e-8, 0.0, 1e20, -1e30, nan, inf, -1e-30, 3.0)),
    _POWERS,
)
case(
    "ldexp_f64",
    torch.ldexp,
    f64("B", 8, values=(1e-250, 1e300, -3.5, 1.0, nan, inf, -0.0, 1.0)),
    _POWERS,
)
case(
    "number_one_pow_edges",
    lambda x: (1.0**x, 1**x),
    f32("B", 6, values=(inf, -inf, nan, 0.0, 2.5, -1.0)),
)
case(
    "powers_by_infinities_and_nan",
    lambda x: (x**inf, x**-inf, x**nan),
    f32("B", 9, values=(inf, -inf, nan, 0.0, -0.0, 1.0, 2.5, -1.0, -0.5)),
)
case(
    "powers_of_edges",
    lambda x: (x**0.5, x**-0.5, x**1.5, x**2, x**-1, x**3, x**-2),
    f32("B", 6, values=(inf, -inf, nan, 0.0, -0.0, -2.0)),
)
case(
    "powers_of_edges_in_half_floats",
    lambda x, y: (x**0.5, x**-0.5, x**1.5, x**2, x**-1, y**0.5, y**-0.5, y**3),
    f16("B", 6, values=(inf, -inf, nan, 0.0, -0.0, -2.0)),
    bf16("B", 6, values=(inf, -inf, nan, 0.0, -0.0, -2.0)),
)
case("frexp_of_edges", torch.frexp, f32("B", 8, values=(*VALUES, 1e-40, -3e-45, 2.0**-126)))
case("frexp_of_edges_f64", torch.frexp, f64("B", 8, values=(*VALUES, 5e-324, -1e-310)))

NEXT = (-inf, -1.0, -1e-40, -1e-45, -0.0, 0.0, 1e-45, 1.1754943508222875e-38, 2.0, inf, nan)
case(
    "nextafter_of_edges",
    torch.nextafter,
    f32("B", 121, values=[x for x in NEXT for _ in NEXT], fixed=True),
    f32("B", 121, values=[*NEXT] * len(NEXT), fixed=True),
)

# what engines take for zero, as the inverse of a huge number is, must not decide a quotient
_HUGE = (3.4e38, -3.4e38, 1e38, 1.0, inf, -3e38, 2e38, -1.0)
case(
    "quotients_of_huge_numbers",
    lambda x, y: (F.softsign(x), torch.hypot(x, y), torch.atan2(y, x), x / y, y / x),
    f32("B", 8, values=_HUGE),
    f32("B", 8, values=(3.4e38, 1.0, -2e38, 3e38, 5.0)),
)
case(
    "acosh_of_huge_negatives", torch.acosh, f32("B", 6, values=(-1e5, -3.4e38, -1e30, 3.4e38, 1.0))
)
