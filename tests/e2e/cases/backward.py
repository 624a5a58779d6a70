"""Gradients: the ops that AOTAutograd captures for a program and its backward pass."""

from __future__ import annotations

from torch.nn import functional as f

from tests.e2e.registry import case, f32, gradient_of

IMAGE = f32("B", 2, 6, 5)

# pools

POOLS = {
    "max_pool2d": (lambda x: f.max_pool2d(x, 3, 2, 1), IMAGE),
    "max_pool3d": (lambda x: f.max_pool3d(x, 2, 1), f32(2, 2, 4, 3, 4)),
    "avg_pool1d": (lambda x: f.avg_pool1d(x, 3, 2, 1), f32("B", 2, 7)),
    "avg_pool2d": (lambda x: f.avg_pool2d(x, 2), f32("B", 2, "H", "W")),
    "avg_pool2d_overlapping": (
        lambda x: f.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
        IMAGE,
    ),
    "avg_pool3d": (lambda x: f.avg_pool3d(x, 2, 1, 1), f32("B", 2, 3, 4, 3)),
    "adaptive_avg_pool2d": (lambda x: f.adaptive_avg_pool2d(x, (3, 2)), IMAGE),
    "adaptive_avg_pool2d_one": (lambda x: f.adaptive_avg_pool2d(x, 1), f32("B", 3, "H", "W")),
    "adaptive_avg_pool3d": (lambda x: f.adaptive_avg_pool3d(x, 2), f32("B", 2, 3, 4, 3)),
    "adaptive_max_pool2d": (lambda x: f.adaptive_max_pool2d(x, 2), f32(2, 2, 5, 4)),
}
for name, (program, image) in POOLS.items():
    case(f"{name}_backward", gradient_of(program), image, loose=2)

# convolutions

CONVOLUTIONS = {
    "plain": ((4, 3, 3, 3), {}),
    "strided": ((4, 3, 3, 2), {"stride": (2, 3), "padding": (1, 0)}),
    "dilated": ((4, 3, 2, 2), {"dilation": 2, "padding": 1}),
}
for name, (weight, options) in CONVOLUTIONS.items():
    case(
        f"conv2d_{name}_backward",
        gradient_of(lambda x, w, b, o=options: f.conv2d(x, w, b, **o)),
        f32("B", 3, 7, 6),
        f32(*weight),
        f32(4),
        loose=10,
    )
case(
    "conv2d_grouped_backward",
    gradient_of(lambda x, w: f.conv2d(x, w, padding=1, groups=2)),
    f32(2, 4, 5, 5),
    f32(6, 2, 3, 3),
    loose=10,
)
case(
    "conv2d_dynamic_image_backward",
    gradient_of(lambda x, w: f.conv2d(x, w, stride=2, padding=1)),
    f32(2, 2, "H", "W"),
    f32(3, 2, 3, 3),
    loose=10,
)
case("conv1d_backward", gradient_of(f.conv1d), f32("B", 2, 8), f32(3, 2, 3), f32(3), loose=10)
case("conv3d_backward", gradient_of(f.conv3d), f32(2, 2, 4, 4, 3), f32(3, 2, 2, 2, 2), loose=10)
case(
    "conv_transpose2d_backward",
    gradient_of(lambda x, w, b: f.conv_transpose2d(x, w, b, 2, 1, 1)),
    f32("B", 3, 4, 3),
    f32(3, 2, 3, 3),
    f32(2),
    loose=10,
)
