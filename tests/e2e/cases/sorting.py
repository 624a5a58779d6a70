"""Sorting, and what selects elements by their rank: order statistics, searches in sorted boundaries, bins."""

from __future__ import annotations

from math import inf, nan

import torch

from tests.e2e.registry import b1, bf16, case, f16, f32, f64, i8, i32, i64, u8

WITH_NANS = (2.0, nan, -inf, 0.5, inf, nan, 2.0, -1.0)
TIES = (3, 1, 2, 1, 3, 0, 2)


def _pair(result: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    return tuple(result)


case("sort", lambda x: _pair(x.sort(-1)), f32("B", 6))
case("sort_first_axis_down", lambda x: _pair(x.sort(0, descending=True)), f32("B", 3, 2))
case("sort_dynamic_axis", lambda x: _pair(x.sort(1)), f32(2, "S"))
for _dim in range(3):
    case(
        f"sort_of_three_sizes_{_dim}",
        lambda x, d=_dim: _pair(torch.sort(x, dim=d)),
        f32("B", "S", "N"),
    )
case("sort_nan", lambda x: _pair(x.sort(1)), f32("B", 8, values=WITH_NANS))
case("sort_nan_down", lambda x: x.sort(1, descending=True)[0], f32("B", 8, values=WITH_NANS))
case(
    "sort_stable",
    lambda x: (*x.sort(dim=1, stable=True), *x.sort(dim=1, stable=True, descending=True)),
    i64("B", 7, values=TIES),
)
case("sort_i32", lambda x: x.sort(1)[0], i32("B", 6))
case("sort_u8", lambda x: x.sort(1)[0], u8("B", 6, values=(200, 3, 130, 0, 255, 7)))
case("sort_bool", lambda x: _pair(x.sort(dim=1, stable=True)), b1("B", 6))
case("sort_f16", lambda x: x.sort(1)[0], f16("B", 6))
case("sort_bf16", lambda x: x.sort(1)[0], bf16("B", 6))
case("sort_f64", lambda x: x.sort(1)[0], f64("B", 6))
# the smallest that are no zeros to IREE either: it takes subnormal numbers for such (docs/engines.md)
SMALLEST = (0.0, -(2.0**-126), -0.0, 2.0**-126, 0.0, -1.0, -0.0, nan, -inf)
for _name, _input in {"f32": f32, "f16": f16, "bf16": bf16}.items():
    _values = SMALLEST if _name == "f32" else (0.0, -0.0, 1.0, nan, -0.0, -inf, 0.0, inf, -nan)
    case(
        f"sort_of_zeros_{_name}",
        lambda x: (*x.sort(dim=1, stable=True), *x.sort(dim=1, stable=True, descending=True)),
        _input("B", 9, values=_values),
    )
case("sort_of_zeros_alone", lambda x: x.sort(dim=1, stable=True)[0], f32("B", 9, values=SMALLEST))
for _name, _input, _values in (
    ("i8", i8, (3, -128, 127, 3, 0, -1)),
    ("i32", i32, (3, -(1 << 31), (1 << 31) - 1, 3, 0, -1)),
    ("u8", u8, (200, 3, 130, 0, 255, 3)),
):
    case(
        f"sort_of_bounds_{_name}",
        lambda x: (*x.sort(dim=0, stable=True), *x.sort(dim=0, stable=True, descending=True)),
        _input(12, "B", values=_values),
    )
case("sort_zero_rank", lambda x: _pair(x.sort()), f32())
case("sort_empty", lambda x: _pair(x.sort(1)), f32("B", 0))
case(
    "sort_long",
    lambda x: (*x.sort(dim=0, stable=True), *x.sort(dim=0, stable=True, descending=True)),
    f32("L", values=WITH_NANS),
)
case(
    "sort_long_lines",
    lambda x: _pair(x.sort(dim=1, stable=True, descending=True)),
    i64(2, "L", 3, low=-(1 << 40), high=1 << 40),
)
case("sort_long_bool", lambda x: _pair(x.sort(dim=-1, stable=True)), b1("B", 700))
case("argsort", lambda x: torch.argsort(x, 1, descending=True), f32("B", 6))
case("msort", torch.msort, f32("S", 3))

case("topk", lambda x: _pair(x.topk(3, 1)), f32("B", 6))
case("topk_smallest", lambda x: _pair(x.topk(2, 0, largest=False)), f32("S", 3))
LONG_WITH_NANS = WITH_NANS * 40
case("topk_of_a_long_line", lambda x: _pair(x.topk(5, -1)), f32("B", 700))
case(
    "topk_of_long_columns", lambda x: x.topk(7, 0, largest=False)[0], i64(600, "B", low=0, high=90)
)
case("topk_with_nans", lambda x: x.topk(90, 1)[0], f32("B", 320, values=LONG_WITH_NANS))
case("topk_of_one", lambda x: _pair(x.topk(1, 1)), f32("B", 700))
case(
    "topk_least_with_nans", lambda x: x.topk(7, 1, largest=False)[0], f32("B", 8, values=WITH_NANS)
)
case("topk_f64", lambda x: x.topk(3, 1)[0], f64("B", 300))
case("topk_bf16", lambda x: x.topk(3, 1)[0], bf16("B", 300))
case("topk_dynamic_axis", lambda x: _pair(x.topk(3, 1)), f32(2, "L"))
case("topk_zero_rank", lambda x: _pair(x.topk(1)), f32())
case("topk_of_none", lambda x: _pair(x.topk(0, 1)), f32("B", 5))
case("kthvalue", lambda x: _pair(x.kthvalue(2, 1)), f32("B", 6))
case("median", lambda x: (x.median(), *x.median(1)), f32("B", 6))
case("median_dynamic_axis", lambda x: _pair(x.median(1, keepdim=True)), f32(2, "S"))
case("median_nan", lambda x: _pair(x.median(1)), f32(4, 6, values=(1.0, 5.0, nan, 2.0, 3.0)))
case(
    "median_nan_keepdim",
    lambda x: (*x.median(0, keepdim=True), x.median()),
    f32(6, "B", values=(1.0, 5.0, nan, 2.0, 3.0, 7.0, nan)),
)
case(
    "median_of_none",
    lambda *given: tuple(m for x in given for m in (x.median(), x.nanmedian())),
    f32(0),
    f32(2, 0),
    i32(0),
    i64(0),
    i8(0),
)
case("nanmedian", lambda x: x.nanmedian(1)[0], f32("B", 5, values=(1.0, nan, 3.0, nan, 2.0, 7.0)))
case("mode", lambda x: _pair(x.mode(1)), i64("B", 7, values=TIES))
case("mode_long", lambda x: x.mode(1)[0], i64(2, "L", low=0, high=99))
case("quantile", lambda x, q: torch.quantile(x, q, 1), f32("B", 6), f32(3, values=(0.1, 0.5, 0.9)))
case("quantile_of_a_number", lambda x: torch.quantile(x, 0.3, 0, True), f32(5, "B"))
case("nanquantile", lambda x: torch.nanquantile(x, 0.6, 1), f32("B", 8, values=WITH_NANS[3:]))

case(
    "searchsorted",
    torch.searchsorted,
    f32(4, values=(-1.0, 0.0, 0.5, 2.0), fixed=True),
    f32("B", 3),
)
case(
    "searchsorted_rows",
    lambda edges, x: torch.searchsorted(edges.sort(1)[0], x, right=True, out_int32=True),
    i64("B", 5),
    i64("B", 3),
)
case(
    "searchsorted_many",
    lambda x: torch.searchsorted(torch.arange(100) / 7.0, x),
    f32("B", low=-1, high=15),
)
case("searchsorted_dynamic", lambda e, x: torch.searchsorted(e.sort()[0], x), f32("S"), f32("B", 2))
case(
    "searchsorted_long",
    lambda e, x: torch.searchsorted(e.sort()[0], x, right=True),
    f32("L"),
    f32("B", 2),
)
case("bucketize", torch.bucketize, f32("B", 3), f32(4, values=(-1.0, 0.0, 0.5, 2.0), fixed=True))
case("isin", torch.isin, i64("B", 4), i64(3))
case("histc", lambda x: torch.histc(x, 5, -2, 2), f32("B", 9))
case("histc_of_the_range", lambda x: torch.histc(x, 4), f32("B", 9))
case("histogram", lambda x: _pair(torch.histogram(x, 4, range=(-1.0, 1.0))), f32(3, 9))
case(
    "histogram_density",
    lambda x, edges, w: torch.histogram(x, edges, weight=w, density=True)[0],
    f32(5, 3),
    f32(4, values=(-1.0, 0.0, 0.5, 2.0), fixed=True),
    f32(5, 3, low=0, high=1),
)
case(
    "histogram_of_points",
    lambda x: tuple(torch.histogramdd(x, [3, 2], range=[-1.0, 1.0, -0.5, 2.0])),
    f32(9, 2),
)
case(
    "histogram_of_points_density",
    lambda x, w: torch.histogramdd(x, 2, weight=w, density=True)[0],
    f32(5, 4, 2),
    f32(5, 4, low=0, high=1),
)
