"""Convolutions and pooling.

Names spell layouts: n batch, c input channel, f output channel, g group, m channel multiplier, then
d, h, w the window. The rows have z, y, x for positions in the output and Z, Y, X in the window.
"""

from torch2mlir.dialects.linalg import bodies
from torch2mlir.dialects.linalg.named import WindowOp, define


def _convolution(mnemonic: str, loops: str, *maps: str) -> type[WindowOp]:
    return define(
        WindowOp,
        mnemonic,
        LOOPS=loops,
        MAPS=maps,
        BODY=bodies.multiply_accumulate,
    )


def _quantized(floating: type[WindowOp]) -> type[WindowOp]:
    """The same convolution with two scalar zero points before the output."""
    source, weight, result = floating.MAPS
    return define(
        WindowOp,
        floating.name.removeprefix("linalg.") + "_q",
        LOOPS=floating.LOOPS,
        MAPS=(source, weight, "", "", result),
        BODY=bodies.quantized_multiply_accumulate,
    )


def _pooling(mnemonic: str, loops: str, *maps: str) -> type[WindowOp]:
    function = mnemonic.split("_", 2)[2].replace("sum", "add")
    return define(WindowOp, mnemonic, LOOPS=loops, MAPS=maps, BODY=bodies.pool(function))


Conv1DOp = _convolution("conv_1d", "x X", "x+X", "X", "x")
Conv2DOp = _convolution("conv_2d", "y x Y X", "y+Y x+X", "Y X", "y x")
Conv3DOp = _convolution("conv_3d", "z y x Z Y X", "z+Z y+Y x+X", "Z Y X", "z y x")
Conv1DNcwFcwOp = _convolution("conv_1d_ncw_fcw", "n f x C X", "n C x+X", "f C X", "n f x")
Conv1DNwcWcfOp = _convolution("conv_1d_nwc_wcf", "n x f X C", "n x+X C", "X C f", "n x f")
Conv2DNchwFchwOp = _convolution(
    "conv_2d_nchw_fchw", "n f y x C Y X", "n C y+Y x+X", "f C Y X", "n f y x"
)
Conv2DNhwcHwcfOp = _convolution(
    "conv_2d_nhwc_hwcf", "n y x f Y X C", "n y+Y x+X C", "Y X C f", "n y x f"
)
Conv2DNhwcFhwcOp = _convolution(
    "conv_2d_nhwc_fhwc", "n y x f Y X C", "n y+Y x+X C", "f Y X C", "n y x f"
)
Conv2DNgchwFgchwOp = _convolution(
    "conv_2d_ngchw_fgchw",
    "n g f y x C Y X",
    "n g C y+Y x+X",
    "f g C Y X",
    "n g f y x",
)
Conv2DNgchwGfchwOp = _convolution(
    "conv_2d_ngchw_gfchw",
    "n g f y x C Y X",
    "n g C y+Y x+X",
    "g f C Y X",
    "n g f y x",
)
Conv2DNhwgcGfhwcOp = _convolution(
    "conv_2d_nhwgc_gfhwc",
    "n y x g f Y X C",
    "n y+Y x+X g C",
    "g f Y X C",
    "n y x g f",
)
Conv3DNcdhwFcdhwOp = _convolution(
    "conv_3d_ncdhw_fcdhw",
    "n f z y x C Z Y X",
    "n C z+Z y+Y x+X",
    "f C Z Y X",
    "n f z y x",
)
Conv3DNdhwcDhwcfOp = _convolution(
    "conv_3d_ndhwc_dhwcf",
    "n z y x f Z Y X C",
    "n z+Z y+Y x+X C",
    "Z Y X C f",
    "n z y x f",
)
DepthwiseConv1DNcwCwOp = _convolution(
    "depthwise_conv_1d_ncw_cw", "n x c X", "n c x+X", "c X", "n c x"
)
DepthwiseConv1DNwcWcOp = _convolution(
    "depthwise_conv_1d_nwc_wc", "n x c X", "n x+X c", "X c", "n x c"
)
DepthwiseConv1DNwcWcmOp = _convolution(
    "depthwise_conv_1d_nwc_wcm",
    "n x c m X",
    "n x+X c",
    "X c m",
    "n x c m",
)
DepthwiseConv2DNchwChwOp = _convolution(
    "depthwise_conv_2d_nchw_chw",
    "n y x c Y X",
    "n c y+Y x+X",
    "c Y X",
    "n c y x",
)
DepthwiseConv2DNhwcHwcOp = _convolution(
    "depthwise_conv_2d_nhwc_hwc",
    "n y x c Y X",
    "n y+Y x+X c",
    "Y X c",
    "n y x c",
)
DepthwiseConv2DNhwcHwcmOp = _convolution(
    "depthwise_conv_2d_nhwc_hwcm",
    "n y x c m Y X",
    "n y+Y x+X c",
    "Y X c m",
    "n y x c m",
)
DepthwiseConv3DNcdhwCdhwOp = _convolution(
    "depthwise_conv_3d_ncdhw_cdhw",
    "n z y x Z Y X c",
    "n c z+Z y+Y x+X",
    "c Z Y X",
    "n c z y x",
)
DepthwiseConv3DNdhwcDhwcOp = _convolution(
    "depthwise_conv_3d_ndhwc_dhwc",
    "n z y x Z Y X c",
    "n z+Z y+Y x+X c",
    "Z Y X c",
    "n z y x c",
)
DepthwiseConv3DNdhwcDhwcmOp = _convolution(
    "depthwise_conv_3d_ndhwc_dhwcm",
    "n z y x m Z Y X c",
    "n z+Z y+Y x+X c",
    "Z Y X c m",
    "n z y x c m",
)

Conv2DNchwFchwQOp = _quantized(Conv2DNchwFchwOp)
Conv2DNgchwGfchwQOp = _quantized(Conv2DNgchwGfchwOp)
Conv2DNhwcFhwcQOp = _quantized(Conv2DNhwcFhwcOp)
Conv2DNhwcHwcfQOp = _quantized(Conv2DNhwcHwcfOp)
Conv2DNhwgcGfhwcQOp = _quantized(Conv2DNhwgcGfhwcOp)
Conv3DNdhwcDhwcfQOp = _quantized(Conv3DNdhwcDhwcfOp)
DepthwiseConv2DNhwcHwcQOp = _quantized(DepthwiseConv2DNhwcHwcOp)
DepthwiseConv2DNhwcHwcmQOp = _quantized(DepthwiseConv2DNhwcHwcmOp)

PoolingNchwMaxOp = _pooling("pooling_nchw_max", "n c y x Y X", "n c y+Y x+X", "Y X", "n c y x")
PoolingNchwSumOp = _pooling("pooling_nchw_sum", "n c y x Y X", "n c y+Y x+X", "Y X", "n c y x")
PoolingNcwMaxOp = _pooling("pooling_ncw_max", "n c x X", "n c x+X", "X", "n c x")
PoolingNcwSumOp = _pooling("pooling_ncw_sum", "n c x X", "n c x+X", "X", "n c x")
PoolingNdhwcMaxOp = _pooling(
    "pooling_ndhwc_max",
    "n z y x c Z Y X",
    "n z+Z y+Y x+X c",
    "Z Y X",
    "n z y x c",
)
PoolingNdhwcMinOp = _pooling(
    "pooling_ndhwc_min",
    "n z y x c Z Y X",
    "n z+Z y+Y x+X c",
    "Z Y X",
    "n z y x c",
)
PoolingNdhwcSumOp = _pooling(
    "pooling_ndhwc_sum",
    "n z y x c Z Y X",
    "n z+Z y+Y x+X c",
    "Z Y X",
    "n z y x c",
)
PoolingNhwcMaxOp = _pooling("pooling_nhwc_max", "n y x c Y X", "n y+Y x+X c", "Y X", "n y x c")
PoolingNhwcMaxUnsignedOp = _pooling(
    "pooling_nhwc_max_unsigned",
    "n y x c Y X",
    "n y+Y x+X c",
    "Y X",
    "n y x c",
)
PoolingNhwcMinOp = _pooling("pooling_nhwc_min", "n y x c Y X", "n y+Y x+X c", "Y X", "n y x c")
PoolingNhwcMinUnsignedOp = _pooling(
    "pooling_nhwc_min_unsigned",
    "n y x c Y X",
    "n y+Y x+X c",
    "Y X",
    "n y x c",
)
PoolingNhwcSumOp = _pooling("pooling_nhwc_sum", "n y x c Y X", "n y+Y x+X c", "Y X", "n y x c")
PoolingNwcMaxOp = _pooling("pooling_nwc_max", "n x c X", "n x+X c", "X", "n x c")
PoolingNwcMaxUnsignedOp = _pooling("pooling_nwc_max_unsigned", "n x c X", "n x+X c", "X", "n x c")
PoolingNwcMinOp = _pooling("pooling_nwc_min", "n x c X", "n x+X c", "X", "n x c")
PoolingNwcMinUnsignedOp = _pooling("pooling_nwc_min_unsigned", "n x c X", "n x+X c", "X", "n x c")
PoolingNwcSumOp = _pooling("pooling_nwc_sum", "n x c X", "n x+X c", "X", "n x c")

WINDOWS = (
    Conv1DOp,
    Conv2DOp,
    Conv3DOp,
    Conv1DNcwFcwOp,
    Conv1DNwcWcfOp,
    Conv2DNchwFchwOp,
    Conv2DNhwcHwcfOp,
    Conv2DNhwcFhwcOp,
    Conv2DNgchwFgchwOp,
    Conv2DNgchwGfchwOp,
    Conv2DNhwgcGfhwcOp,
    Conv3DNcdhwFcdhwOp,
    Conv3DNdhwcDhwcfOp,
    DepthwiseConv1DNcwCwOp,
    DepthwiseConv1DNwcWcOp,
    DepthwiseConv1DNwcWcmOp,
    DepthwiseConv2DNchwChwOp,
    DepthwiseConv2DNhwcHwcOp,
    DepthwiseConv2DNhwcHwcmOp,
    DepthwiseConv3DNcdhwCdhwOp,
    DepthwiseConv3DNdhwcDhwcOp,
    DepthwiseConv3DNdhwcDhwcmOp,
    Conv2DNchwFchwQOp,
    Conv2DNgchwGfchwQOp,
    Conv2DNhwcFhwcQOp,
    Conv2DNhwcHwcfQOp,
    Conv2DNhwgcGfhwcQOp,
    Conv3DNdhwcDhwcfQOp,
    DepthwiseConv2DNhwcHwcQOp,
    DepthwiseConv2DNhwcHwcmQOp,
    PoolingNchwMaxOp,
    PoolingNchwSumOp,
    PoolingNcwMaxOp,
    PoolingNcwSumOp,
    PoolingNdhwcMaxOp,
    PoolingNdhwcMinOp,
    PoolingNdhwcSumOp,
    PoolingNhwcMaxOp,
    PoolingNhwcMaxUnsignedOp,
    PoolingNhwcMinOp,
    PoolingNhwcMinUnsignedOp,
    PoolingNhwcSumOp,
    PoolingNwcMaxOp,
    PoolingNwcMaxUnsignedOp,
    PoolingNwcMinOp,
    PoolingNwcMinUnsignedOp,
    PoolingNwcSumOp,
)
