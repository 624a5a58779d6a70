"""Cases that cannot run on PyTorch's lazy device.

All but group normalization with gradients fail there without torch2mlir too.
"""

from __future__ import annotations

_REASONS = {
    "PyTorch's lazy device has no as_strided, which its own code of the operator asks for": (
        "conv_tbc prims_of_movement windows quantize_per_channel quantize_per_channel_middle"
        " dequantize_per_channel_symmetric quantize_per_channel_group quantized_linear quantized_convolution"
        " any_of_dims affine_grid affine_grid_3d masked_scatter_broadcast mvlgamma"
    ),
    "torch.cond and its like are traced by Dynamo, which has no fake tensors of the lazy device": (
        "cond_of_a_tensor cond_otherwise cond_in_cond cond_of_layers while_counting while_until_large"
        " map_over_rows scan_over_rows scan_in_reverse"
    ),
    "the program makes a tensor on the CPU and mixes it with those of the lazy device": (
        "prims_iota state"
    ),
    "PyTorch's functionalization makes a functional tensor of a functional one": (
        "quantize_dynamically_symmetric"
    ),
    "PyTorch's lazy device asks a kernel that has no float16 for the shape of a range": "arange_f16",
    "PyTorch takes the places to split at from the CPU": "sized_tensor_split",
    "PyTorch has no derivative of std on the lazy device, and says so in a warning": (
        "moments_backward"
    ),
    "PyTorch's code of group normalization with gradients loses the sizes under a dispatch mode": (
        "group_norm_backward"
    ),
}

XFAILS: dict[str, str] = {
    case: reason for reason, cases in _REASONS.items() for case in cases.split()
}
