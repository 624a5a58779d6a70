"""Reductions: which dimensions, kept or not, dtypes, NaN, ties, empty ones, running sums."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any

import torch

from tests.e2e.registry import b1, bf16, case, f16, f32, f64, i32, i64, u8

DIMENSIONS: dict[str, dict[str, Any]] = {
    "first": {"dim": 0},
    "last_kept": {"dim": -1, "keepdim": True},
    "two": {"dim": (0, 2)},
    "two_kept": {"dim": (-1, 1), "keepdim": True},
}
for name in ("sum", "mean", "amax", "amin"):
    function = getattr(torch, name)
    for dims, options in DIMENSIONS.items():
        case(f"{name}_{dims}", lambda x, f=function, o=options: f(x, **o), f32("B", 4, "S"))
    case(f"{name}_f64", lambda x, f=function: f(x, dim=1), f64("B", 4))
    case(
        f"{name}_half", lambda x, y, f=function: (f(x, dim=1), f(y, dim=1)), f16(3, 40), bf16(3, 40)
    )

case("sum_all", torch.sum, f32("B", 4))
case("sum_i64", lambda x: x.sum(1), i64("B", 4))
case("sum_of_i32_is_i64", lambda x: (x.sum(), x.sum(0)), i32("B", 4))
case("sum_of_bool_is_i64", lambda x: (x.sum(), x.sum(1)), b1("B", 4))
case("sum_of_u8_is_i64", lambda x: x.sum(1), u8("B", 4, high=256))
case(
    "sum_to_dtype",
    lambda x: (x.sum(0, dtype=torch.float16), x.sum(0, dtype=torch.bfloat16)),
    f32("B", 4),
)
case("sum_of_nothing", lambda x: x.sum(0), f32(0, 3))
case("sum_nan", lambda x: x.sum(1), f32("B", 3, values=(1.0, nan, 2.0, inf, -1.0)))
case("mean_all", torch.mean, f32("B", 4))
case("mean_to_dtype", lambda x: x.mean(0, dtype=torch.float32), i64("B", 4))
case("amax_i64", lambda x: (x.amax(1), x.amin(0)), i64("B", 4))
case("amax_u8", lambda x: (x.amax(1), x.amin(0)), u8("B", 4, high=256))
case("amax_bool", lambda x: (x.amax(1), x.amin(0)), b1("B", 4))
case(
    "amax_nan",
    lambda x: (x.amax(1), x.amin(1)),
    f32("B", 3, values=(1.0, nan, 2.0, -inf, -inf, -inf, inf)),
)
case(
    "all_of_a_table",
    lambda x, i: (
        x.sum(),
        x.amax(),
        (x / 64 + 1).prod(),
        i.sum(),
        i.amax(),
        (i > 3).any(),
    ),
    f32(24, 96),  # columns of 16
    i64(24, 96),
)
case("all_of_a_table_f64", lambda x: (x.sum(), x.amin()), f64(6, 77))  # columns of a row
case(
    "long_lines",
    lambda x, y: (
        *(x.sum(1), x.amax(1, keepdim=True), x.amin(1), (x / 16 + 1).prod(1), x.softmax(1)),
        *(
            y.mean((2, 3)),
            y.amax((-2, -1), keepdim=True),
            (y - y.mean((2, 3), True)).square().sum((2, 3)),
        ),
    ),
    f32("B", 512),
    f32("B", 3, 8, 32),
)
case(
    "long_lines_nan",
    lambda x: (x.sum(1), x.amax(1), x.amin(1), x.prod(1)),
    f32("B", 272, values=(*[1.0] * 300, nan, *[1.0] * 280, inf, *[-1.0] * 90, -inf, 0.5)),
)
case(
    "long_lines_of_zeros",
    lambda x: (x.sum(1), x.amax(1), x.amin(1), x.prod(1)),
    f32("B", 272, values=(-0.0,)),
)
case(
    "sums_of_zeros",
    lambda x: (x.sum(1), x.sum(), x.mean(1), x.mean((0, 1), True), x.nansum(1), x.half().sum(1)),
    f32("B", 5, values=(-0.0,)),
)
case("max_min_all", lambda x: (x.max(), x.min()), f32("B", 4))
case("max_all_i64", lambda x: (x.max(), x.min()), i64("B", 4))
case("prod", lambda x: (x.prod(1), x.prod(0, keepdim=True)), f32("B", 4))
case("prod_all", torch.prod, f32(3, 4))
case("prod_i64", lambda x: x.prod(1), i64("B", 4, low=-3, high=4))
case("prod_of_bool", lambda x: x.prod(1), b1("B", 4))
case("any", lambda x: (x.any(1), x.any(), x.any(0, keepdim=True)), b1("B", 3))
case("all", lambda x: (x.all(1), x.all(), x.all(0, keepdim=True)), b1("B", 3))
case(
    "any_of_numbers",
    lambda x, y: (x.any(1), y.any(1)),
    f32("B", 3, values=(0.0, nan, 0.0, 0.0, 1.0)),
    i64("B", 2, low=0, high=2),
)
case(
    "all_of_numbers",
    lambda x, y: (x.all(1), y.all(1)),
    f32("B", 3, values=(0.0, nan, 2.0, 3.0, 1.0)),
    i64("B", 2, low=0, high=2),
)
case("any_of_u8_stays_u8", lambda x: (x.any(1), x.all(1)), u8("B", 3, high=2))
case("any_of_dims", lambda x: torch.any(x, (0, 2)), b1("B", 2, "S"))
case(
    "whether_all_and_any",
    lambda x: (torch.ops.aten._is_all_true(x), torch.ops.aten._is_any_true(x)),
    b1("B", 2),
)
case("all_of_dims", lambda x: torch.all(x, (0, 2), keepdim=True), b1("B", 2, "S"))

for name in ("argmax", "argmin"):
    function = getattr(torch, name)
    case(name, lambda x, f=function: f(x, 1), f32("B", 4))
    case(f"{name}_kept", lambda x, f=function: f(x, 0, keepdim=True), f32("B", 4))
    case(f"{name}_all", function, f32("B", 4))
    case(
        f"{name}_ties",
        lambda x, f=function: f(x, 1),
        f32("B", 6, values=(1.0, 2.0, 2.0, 1.0, 1.0, 2.0)),
    )
    case(
        f"{name}_nan", lambda x, f=function: f(x, 1), f32("B", 4, values=(1.0, nan, 3.0, nan, inf))
    )
    case(f"{name}_i64", lambda x, f=function: f(x, -1), i64("B", 4))
for name in ("max", "min"):
    function = getattr(torch, name)
    case(f"{name}_with_indices", lambda x, f=function: tuple(f(x, 1)), f32("B", 4))
    case(
        f"{name}_with_indices_kept", lambda x, f=function: tuple(f(x, 0, keepdim=True)), f32("B", 4)
    )
    case(
        f"{name}_with_indices_nan",
        lambda x, f=function: tuple(f(x, 1)),
        f32("B", 4, values=(1.0, nan, 3.0, 2.0, inf)),
    )
    case(
        f"{name}_with_indices_i64", lambda x, f=function: tuple(f(x, 1)), i64("B", 6, low=0, high=3)
    )
case("named_tuple_result", lambda x: x.max(1), f32("B", 4))

case("cumsum", lambda x: (x.cumsum(0), x.cumsum(-1)), f32("B", 4))
case("cumsum_i64", lambda x: x.cumsum(1), i64("B", 4))
case("cumsum_of_bool", lambda x: x.cumsum(1), b1("B", 4))
case("cumsum_of_long_lines", lambda x: (x.cumsum(0), x.cumsum(1), x.cumsum(-1)), f32(18, 37, 2))
case("cumsum_to_dtype", lambda x: x.cumsum(1, dtype=torch.float64), f32(3, 4))
case("cumsum_f16", lambda x: x.cumsum(1), f16(2, 6))
case("cumsum_dynamic_axis", lambda x: x.cumsum(1), f32(2, "S"))
case("cumsum_long", lambda x: x.cumsum(1), i64(2, "L", 2))

STATISTICS: dict[str, Callable[..., Any]] = {
    "var": lambda x: x.var(1),
    "var_biased": lambda x: x.var(1, unbiased=False, keepdim=True),
    "std": lambda x: x.std(-1),
    "var_mean": lambda x: torch.var_mean(x, 1),
    "norm": lambda x: torch.linalg.vector_norm(x, dim=1),
    "norm_1": lambda x: torch.linalg.vector_norm(x, 1, dim=1),
    "norm_inf": lambda x: torch.linalg.vector_norm(x, inf, dim=1),
    "normalize": lambda x: torch.nn.functional.normalize(x, dim=1),
    "logsumexp": lambda x: torch.logsumexp(x, 1),
    "logcumsumexp_free_cumulative_mean": lambda x: x.cumsum(1) / (torch.arange(x.shape[1]) + 1),
    "count_nonzero": lambda x: torch.count_nonzero(x > 0, 1),
    "nansum": lambda x: torch.nansum(x, 1),
    "aminmax": lambda x: tuple(torch.aminmax(x, dim=1)),
}
for name, function in STATISTICS.items():
    case(name, function, f32("B", 6))
# the sum of many numbers far from zero is rounded by more than their deviations
case("deviations_far_from_zero", lambda x: ((x + 1e5).var(1), (x + 1e5).std(-1)), f32("B", 1500))
case("sum_over_a_dynamic_axis", lambda x: x.sum(1), f32(2, "S"))
case("mean_over_a_dynamic_axis", lambda x: (x.mean(1), x.mean((0, 1))), f32("B", "S", 2))
case("amax_over_a_dynamic_axis", lambda x: x.amax((0, 1)), f32("B", "S", 2))
