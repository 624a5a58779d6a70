"""Pooling: windows, strides, padding, ceiling mode, indices, adaptive sizes."""

from __future__ import annotations

from math import inf, nan

import torch
from torch.nn import functional as f

from tests.e2e.registry import bf16, case, f32, f64, i64

IMAGE = f32("B", 3, "H", "W")

MAX_POOL = {
    "plain": {"kernel_size": 2},
    "strided": {"kernel_size": 3, "stride": 2, "padding": 1},
    "uneven": {"kernel_size": (3, 2), "stride": (2, 1), "padding": (1, 0)},
    "dilated": {"kernel_size": 2, "dilation": 2, "stride": 1},
}
for name, options in MAX_POOL.items():
    case(f"max_pool2d_{name}", lambda x, o=options: f.max_pool2d(x, **o), IMAGE)
case("max_pool2d_ceil", lambda x: f.max_pool2d(x, 3, 2, ceil_mode=True), f32("B", 3, 8, 8))
case(
    "max_pool2d_indices", lambda x: f.max_pool2d(x, 3, 2, 1, return_indices=True), f32("B", 2, 7, 6)
)
case("max_pool2d_f64", lambda x: f.max_pool2d(x, 2), f64(2, 3, 4, 4))
case(
    "max_pool2d_edges",
    lambda x: f.max_pool2d(x, 2, 2, 1),
    f32(1, 1, 4, 4, values=(-inf, nan, 1.0, -inf, -inf)),
)
case(
    "max_pool2d_bounded_below",
    lambda x: (
        f.max_pool2d(x.relu(), 3, 2, 1),
        f.max_pool2d(f.max_pool2d(x.clamp(-2.0, inf), 2, 1, 1), 3, 1, 1),
        f.max_pool2d(torch.cat([x.abs(), x.sigmoid()]), 3, 2, ceil_mode=True),
        f.max_pool2d(x.clamp(min=-inf, max=2.0), 3, 2, 1),
    ),
    f32("B", 16, 8, 8, values=(1.0, -inf, -2.0, *[0.5, -0.5, 3e38] * 7, nan, -inf, 2.0, inf, 1.0)),
)
case("max_pool2d_unbatched", lambda x: f.max_pool2d(x, 2), f32(3, 4, 4))
case("max_pool1d", lambda x: f.max_pool1d(x, 3, 2, 1), f32("B", 3, 9))

AVG_POOL = {
    "plain": {"kernel_size": 2},
    "strided": {"kernel_size": 3, "stride": 2, "padding": 1},
    "padding_uncounted": {"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": False},
    "divided": {"kernel_size": 2, "divisor_override": 3},
}
for name, options in AVG_POOL.items():
    case(f"avg_pool2d_{name}", lambda x, o=options: f.avg_pool2d(x, **o), IMAGE)
case("avg_pool2d_ceil", lambda x: f.avg_pool2d(x, 3, 2, ceil_mode=True), f32("B", 3, 8, 8))
case(
    "avg_pool2d_ceil_padded", lambda x: f.avg_pool2d(x, 3, 2, 1, ceil_mode=True), f32("B", 3, 8, 8)
)
case("avg_pool2d_f64", lambda x: f.avg_pool2d(x, 2), f64(2, 3, 4, 4))
case("avg_pool1d", lambda x: f.avg_pool1d(x, 3, 2, 1), f32("B", 3, 9))
case("adaptive_avg_pool2d_one", lambda x: f.adaptive_avg_pool2d(x, 1), IMAGE)
case("adaptive_avg_pool2d_divides", lambda x: f.adaptive_avg_pool2d(x, (2, 3)), f32("B", 3, 8, 6))
case("adaptive_avg_pool2d_uneven", lambda x: f.adaptive_avg_pool2d(x, (3, 4)), f32("B", 3, 8, 6))
case("adaptive_avg_pool1d", lambda x: f.adaptive_avg_pool1d(x, 1), f32("B", 3, "S"))
case("adaptive_max_pool2d_one", lambda x: f.adaptive_max_pool2d(x, 1), f32("B", 3, 4, 4))
case(
    "global_average_and_flatten",
    lambda x: torch.flatten(f.adaptive_avg_pool2d(x, (1, 1)), 1),
    IMAGE,
)


# three dimensions, and windows of other kinds

VOLUME = f32("B", 2, 5, 6, 5)
AVG_POOL_3D = {
    "plain": {"kernel_size": 2},
    "padded": {"kernel_size": 3, "stride": 2, "padding": 1},
    "uncounted": {"kernel_size": (3, 2, 2), "padding": (1, 0, 1), "count_include_pad": False},
    "divided": {"kernel_size": 2, "divisor_override": 3},
}
for name, options in AVG_POOL_3D.items():
    case(f"avg_pool3d_{name}", lambda x, o=options: f.avg_pool3d(x, **o), VOLUME)
case("avg_pool3d_ceil", lambda x: f.avg_pool3d(x, 2, 2, 1, True), f32("B", 2, 5, 4, 5))
case("avg_pool3d_unbatched", lambda x: f.avg_pool3d(x, 2), f32(2, 4, 4, 4))
case("avg_pool2d_i64", lambda x: f.avg_pool2d(x, 2), i64("B", 3, 4, 6))
case("max_pool3d", lambda x: f.max_pool3d(x, 2), VOLUME)
case("max_pool3d_dilated", lambda x: f.max_pool3d(x, 2, 1, 1, 2), f32("B", 2, 5, 4, 5))
case(
    "max_pool3d_indices",
    lambda x: f.max_pool3d(x, 3, 2, 1, ceil_mode=True, return_indices=True),
    f32("B", 2, 5, 4, 6),
)
case("max_pool1d_indices", lambda x: f.max_pool1d(x, 2, return_indices=True), f32("B", 3, 8))
case("adaptive_avg_pool1d_uneven", lambda x: f.adaptive_avg_pool1d(x, 3), f32("B", 3, 7))
case("adaptive_avg_pool2d_dynamic", lambda x: f.adaptive_avg_pool2d(x, (3, 2)), f32(2, 3, "H", "W"))
case("adaptive_avg_pool3d", lambda x: f.adaptive_avg_pool3d(x, (2, 3, 1)), f32("B", 2, 4, 5, 3))
case("adaptive_avg_pool2d_bf16", lambda x: f.adaptive_avg_pool2d(x, 2), bf16("B", 2, 5, 4))
case("adaptive_max_pool1d", lambda x: f.adaptive_max_pool1d(x, 3), f32("B", 3, 7))
case(
    "adaptive_max_pool2d_indices",
    lambda x: f.adaptive_max_pool2d(x, (2, 3), return_indices=True),
    f32(2, 3, 5, 6),
)
case("adaptive_max_pool2d_dynamic", lambda x: f.adaptive_max_pool2d(x, 3), f32(2, 3, "H", "W"))
case("adaptive_max_pool3d", lambda x: f.adaptive_max_pool3d(x, (2, 1, 3)), f32("B", 2, 4, 3, 5))
case(
    "fractional_max_pool2d",
    lambda x, u: torch.ops.aten.fractional_max_pool2d(x, [2, 3], [4, 3], u),
    f32("B", 3, 9, 8),
    f32("B", 3, 2, low=0, high=1),
)
case(
    "fractional_max_pool3d",
    lambda x, u: torch.ops.aten.fractional_max_pool3d(x, [2, 1, 2], [3, 1, 2], u),
    f32(2, 2, 6, 4, 5),
    f32(2, 2, 3, low=0, high=1),
)


def _pooled_and_back(x: torch.Tensor) -> torch.Tensor:
    values, places = f.max_pool2d(x, 2, return_indices=True)
    return f.max_unpool2d(values, places, 2)


case("max_unpool2d", _pooled_and_back, f32("B", 2, 4, 6))
case("lp_pool1d", lambda x: f.lp_pool1d(x, 2, 3), f32("B", 2, 9))
case(
    "lp_pool2d",
    lambda x: f.lp_pool2d(x, 3, (2, 3), ceil_mode=True),
    f32("B", 2, 5, 7, low=0, high=2),
)
case("lp_pool3d", lambda x: f.lp_pool3d(x, 2, 2), f32("B", 2, 4, 5, 4))
