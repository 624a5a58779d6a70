"""Convolutions: 1, 2 and 3 dimensions, transposed, grouped, strided, dilated, padded."""

from __future__ import annotations

from torch import nn
from torch.nn import functional

from tests.e2e.registry import bf16, case, f16, f32, f64, i64

CONV2D = {
    "plain": (3, 4, 3),
    "kernel_1": (3, 4, 1),
    "strided": (3, 4, 3, 2),
    "padded": (3, 4, 3, 1, 1),
    "strided_padded": (3, 4, (3, 2), (2, 1), (1, 0)),
    "dilated": (3, 4, 2, 1, 0, 2),
    "same": (3, 4, 3, 1, "same"),
    "no_bias": (3, 4, 3, 1, 0, 1, 1, False),
}
for name, init in CONV2D.items():
    case(f"conv2d_{name}", nn.Conv2d, f32("B", 3, "H", "W"), init=init)
case("conv2d_grouped", nn.Conv2d, f32("B", 4, 8, 7), init=(4, 6, 3, 1, 1, 1, 2))
case("conv2d_depthwise", nn.Conv2d, f32("B", 4, "H", 7), init=(4, 4, 3, 1, 1, 1, 4))
case("conv2d_depthwise_multiplied", nn.Conv2d, f32("B", 3, 8, 7), init=(3, 6, 3, 2, 1, 1, 3))
DEPTHWISE = {
    "strided": (5, 5, 3, 2, 1, 1, 5),
    "strided_apart": (5, 5, (3, 4), (3, 2), (0, 2), 1, 5),
    "dilated_strided": (5, 5, (2, 3), (2, 1), (1, 2), (3, 2), 5),
    "wide": (5, 5, 7, 1, 3, 1, 5, False),
    "of_one_channel": (1, 1, (3, 2), 1, 1, 1, 1),
}
for name, init in DEPTHWISE.items():
    case(f"conv2d_depthwise_{name}", nn.Conv2d, f32("B", init[0], 9, 8), init=init)
case(
    "conv2d_depthwise_dilated", nn.Conv2d, f32("B", 3, 9, 14), init=(3, 3, (4, 5), 1, 2, (2, 1), 3)
)
case("conv1d_depthwise_wide", nn.Conv1d, f32("B", 3, 40), init=(3, 3, 31, 1, 15, 1, 3))
case("conv2d_depthwise_f16", functional.conv2d, f16(2, 3, 6, 5), f16(3, 1, 3, 3), None, 2, 1, 1, 3)
case("conv1d_depthwise", nn.Conv1d, f32("B", 6, 11), init=(6, 6, 4, 2, 3, 1, 6))
case("conv3d_depthwise", nn.Conv3d, f32("B", 3, 4, 5, 6), init=(3, 3, 2, (1, 2, 1), 1, 1, 3))
case("conv2d_patches", nn.Conv2d, f32("B", 3, 8, 8), init=(3, 4, 4, 4))
case("conv2d_unbatched", nn.Conv2d, f32(3, 8, 7), init=(3, 4, 3))
case("conv2d_f64", functional.conv2d, f64(2, 3, 5, 5), f64(4, 3, 3, 3), f64(4))
case("conv2d_f16", functional.conv2d, f16(2, 3, 5, 5), f16(4, 3, 3, 3), f16(4), loose=4)
case("conv2d_bf16", functional.conv2d, bf16(2, 3, 5, 5), bf16(4, 3, 3, 3), bf16(4), loose=4)
case("conv1d", nn.Conv1d, f32("B", 3, "S"), init=(3, 4, 3, 1, 1))
case("conv1d_strided", nn.Conv1d, f32("B", 3, 9), init=(3, 4, 3, 2))
case("conv1d_grouped", nn.Conv1d, f32("B", 4, 9), init=(4, 4, 3, 1, 0, 1, 2))
case("conv1d_dilated", nn.Conv1d, f32("B", 3, 9), init=(3, 4, 3, 1, 0, 2))
case("conv3d", nn.Conv3d, f32("B", 2, 4, 5, 4), init=(2, 3, 2, 1, 1))
case("conv3d_strided", nn.Conv3d, f32(1, 2, 5, 5, 5), init=(2, 3, 3, 2))
case("conv_transpose2d", nn.ConvTranspose2d, f32("B", 3, 4, 5), init=(3, 4, 3))
case("conv_transpose2d_strided", nn.ConvTranspose2d, f32("B", 3, 4, 5), init=(3, 4, 3, 2, 1, 1))
case("conv_transpose2d_grouped", nn.ConvTranspose2d, f32("B", 4, 4, 5), init=(4, 4, 3, 2, 1, 0, 2))
case(
    "conv_transpose2d_dilated",
    nn.ConvTranspose2d,
    f32("B", 3, 4, 5),
    init=(3, 4, 3, 1, 0, 0, 1, True, 2),
)
case("conv_transpose1d", nn.ConvTranspose1d, f32("B", 3, 5), init=(3, 4, 3, 2))

# over three dimensions, transposed, of integers, and padded in other ways

case("conv1d_same_even", nn.Conv1d, f32("B", 3, 9), init=(3, 4, 4, 1, "same"))
case("conv2d_same_dilated", nn.Conv2d, f32(2, 3, 8, 7), init=(3, 4, (2, 3), 1, "same", 2))
case("conv2d_reflected", nn.Conv2d, f32(2, 3, 6, 5), init=(3, 2, 3, 1, 1, 1, 1, True, "reflect"))
case("conv3d_grouped", nn.Conv3d, f32("B", 4, 4, 5, 4), init=(4, 6, 2, 1, 1, 1, 2))
case("conv3d_dilated", nn.Conv3d, f32(2, 2, 5, 5, 6), init=(2, 3, (2, 1, 2), 1, (1, 0, 2), 2))
case(
    "conv_transpose1d_grouped",
    nn.ConvTranspose1d,
    f32("B", 4, 5),
    init=(4, 6, 3, 2, 1, 1, 2),
)
case("conv_transpose3d", nn.ConvTranspose3d, f32("B", 2, 3, 4, 3), init=(2, 3, 2, 2, 0, 1))
case("conv_transpose3d_cut", nn.ConvTranspose3d, f32(2, 2, 4, 5, 4), init=(2, 3, 2, 1, (2, 1, 1)))
case(
    "conv2d_i64",
    lambda x, w, b: functional.conv2d(x, w, b, padding=1, stride=(2, 1), groups=2),
    i64("B", 4, 5, 4),
    i64(6, 2, 3, 2),
    i64(6),
)
case(
    "conv_transpose2d_i64",
    lambda x, w: functional.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1),
    i64(2, 3, 4, 3),
    i64(3, 2, 3, 3),
)

# a window that has one place only
case(
    "conv2d_one_place", functional.conv2d, f32(2, 16, 4, 4), f32(16, 16, 3, 3), kwargs={"stride": 2}
)
case(
    "conv2d_one_place_dilated",
    lambda x, w, b: functional.conv2d(x, w, b, stride=2, dilation=(1, 2)),
    f32("B", 5, 4, 4),
    f32(7, 5, 3, 2),
    f32(7),
)
case(
    "conv1d_one_place", lambda x, w: functional.conv1d(x, w, stride=3), f32("B", 5, 4), f32(7, 5, 3)
)
