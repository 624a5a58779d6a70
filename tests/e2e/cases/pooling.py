"""Pooling: windows, strides, padding, ceiling mode, indices, adaptive sizes."""

from __future__ import annotations

from math import inf, nan

import torch
from torch.nn import functional as f

from tests.e2e.registry import case, f32, f64

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
