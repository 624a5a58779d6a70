"""Quantization: ``quantized_decomposed`` ops, fake quantization, and graphs as PT2E quantization writes them."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
import torch.ao.quantization.fx._decomposed  # registers the ops
from torch import nn

from tests.e2e.registry import case, f16, f32, i8, i32, i64

quantized = torch.ops.quantized_decomposed
INT8 = (-128, 127, torch.int8)
UINT8 = (0, 255, torch.uint8)
INT16 = (-32768, 32767, torch.int16)
INT32 = (-100000, 100000, torch.int32)
INT4 = (-8, 7, torch.int8)

X = f32("B", 6)
FIXED = f32(3, 6)
SCALES = f32(6, low=0.01, high=0.1)
POINTS = i64(6, low=-9, high=9)


def _per_tensor(x: torch.Tensor, scale: float, point: int, limits: Any) -> tuple[Any, Any]:
    q = quantized.quantize_per_tensor(x, scale, point, *limits)
    return q, quantized.dequantize_per_tensor(q, scale, point, *limits)


for name, limits, scale, point in (
    ("int8", INT8, 0.02, -3),
    ("uint8", UINT8, 0.013, 120),
    ("int16", INT16, 1e-4, 0),
    ("int32", INT32, 1e-5, 7),
    ("int4", INT4, 0.25, 1),
):
    case(
        f"quantize_per_tensor_{name}",
        partial(_per_tensor, scale=scale, point=point, limits=limits),
        X,
    )


def _parameters_as_tensors(x: torch.Tensor, scale: torch.Tensor, point: torch.Tensor) -> Any:
    q = quantized.quantize_per_tensor.tensor(x, scale, point, *INT8)
    return q, quantized.dequantize_per_tensor.tensor(q, scale, point, *INT8)


def _all_as_tensors(x: torch.Tensor, scale: torch.Tensor, point: torch.Tensor) -> Any:
    low, high = torch.tensor(-128), torch.tensor(127)
    q = quantized.quantize_per_tensor.tensor2(x, scale, point, low, high, torch.int8)
    return q, quantized.dequantize_per_tensor.tensor2(q, scale, point, low, high, torch.int8)


ONE_SCALE, ONE_POINT = f32(1, values=[0.04]), i64(1, values=[5])
case("quantize_per_tensor_tensor", _parameters_as_tensors, X, ONE_SCALE, ONE_POINT)
case("quantize_per_tensor_tensor2", _all_as_tensors, X, ONE_SCALE, ONE_POINT)


def _dequantized_as_half(q: torch.Tensor) -> torch.Tensor:
    return quantized.dequantize_per_tensor(q, 0.5, 3, *INT8, out_dtype=torch.float16)


case("dequantize_as_half", _dequantized_as_half, i8("B", 6))


def _from_half(x: torch.Tensor) -> torch.Tensor:
    return quantized.quantize_per_tensor(x, 0.1, 0, *INT8)


case("quantize_half", _from_half, f16("B", 6))


def _per_channel(x: torch.Tensor, scales: torch.Tensor, points: torch.Tensor, axis: int) -> Any:
    q = quantized.quantize_per_channel(x, scales, points, axis, *INT8)
    return q, quantized.dequantize_per_channel(q, scales, points, axis, *INT8)


def _symmetric_channels(q: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    return quantized.dequantize_per_channel(q, scales, None, 0, *INT8)


case("quantize_per_channel", _per_channel, X, SCALES, POINTS, 1)
case(
    "quantize_per_channel_middle",
    _per_channel,
    f32("B", 3, 4),
    f32(3, low=0.01, high=0.1),
    i64(3, low=-9, high=9),
    1,
)
case("dequantize_per_channel_symmetric", _symmetric_channels, i8(6, "B"), SCALES)


def _per_group(x: torch.Tensor, scales: torch.Tensor, points: torch.Tensor) -> Any:
    q = quantized.quantize_per_channel_group(x, scales, points, *INT4, 4)
    return q, quantized.dequantize_per_channel_group(q, scales, points, *INT4, 4, torch.float32)


case(
    "quantize_per_channel_group",
    _per_group,
    f32("B", 8),
    f32("B", 2, low=0.1, high=0.4),
    f32("B", 2, values=[0.0, 1.0, -2.0]),
)


def _per_token(x: torch.Tensor) -> Any:
    scales, points = quantized.choose_qparams_per_token(x, torch.int8)
    q = quantized.quantize_per_token(x, scales, points, *INT8)
    return q, quantized.dequantize_per_token(q, scales, points, *INT8, torch.float32)


def _per_token_asymmetric(x: torch.Tensor) -> Any:
    scales, points = quantized.choose_qparams_per_token_asymmetric(x, torch.int8)
    q = quantized.quantize_per_token(x, scales, points, *INT8)
    return q, quantized.dequantize_per_token(q, scales, points, *INT8, torch.float32)


case("quantize_per_token", _per_token, f32("B", 3, 8))
case("quantize_per_token_asymmetric", _per_token_asymmetric, f32("B", 8))


def _dynamic(x: torch.Tensor) -> Any:
    scale, point = quantized.choose_qparams.tensor(x, -128, 127, 1e-5, torch.int8)
    q = quantized.quantize_per_tensor.tensor(x, scale, point, *INT8)
    return point, q, quantized.dequantize_per_tensor.tensor(q, scale, point, *INT8)


def _dynamic_symmetric(x: torch.Tensor) -> Any:
    scale, point = quantized.choose_qparams_symmetric.tensor(x, -127, 127, 1e-5, torch.int8)
    return quantized.quantize_per_tensor.tensor(x, scale, point, -127, 127, torch.int8)


case("quantize_dynamically", _dynamic, X)
case("quantize_dynamically_symmetric", _dynamic_symmetric, X)


def _parameters(x: torch.Tensor) -> Any:
    return quantized.choose_qparams.tensor(x, 0, 255, 1e-5, torch.uint8)


# the scale is float64 by type, computed in float32
case("choose_qparams", _parameters, X, loose=20)


def _fake_channels(x: torch.Tensor, scales: torch.Tensor, points: torch.Tensor) -> torch.Tensor:
    return torch.fake_quantize_per_channel_affine(x, scales, points, 1, -128, 127)


def _fake_by_tensors(x: torch.Tensor, scale: torch.Tensor, point: torch.Tensor) -> torch.Tensor:
    return torch.fake_quantize_per_tensor_affine(x, scale, point, 0, 15)


# PyTorch has no shape functions of these, so it exports only static ones
case(
    "fake_quantize",
    lambda x: torch.fake_quantize_per_tensor_affine(x, 0.1, 3, 0, 15),
    FIXED,
)
WITH_NAN = f32(4, 6, values=(0.5, torch.nan, -9.0, 1.2, torch.nan, 30.0, -0.7))
case(
    "fake_quantize_not_a_number",
    lambda x, scales: (
        torch.ops.aten.fake_quantize_per_tensor_affine_cachemask(x, 0.1, 3, -4, 15),
        _fake_channels(x, scales, torch.zeros(6, dtype=torch.int32)),
        quantized.fake_quant_per_channel(x, scales, torch.zeros(6), 1, -128, 127),
    ),
    WITH_NAN,
    SCALES,
)
case(
    "fake_quantize_mask",
    lambda x: torch.ops.aten.fake_quantize_per_tensor_affine_cachemask(x, 0.1, 3, 0, 15),
    FIXED,
)
case(
    "fake_quantize_tensors",
    _fake_by_tensors,
    FIXED,
    f32(1, values=[0.1]),
    i32(1, values=[3]),
)
case(
    "fake_quantize_channels",
    _fake_channels,
    FIXED,
    SCALES,
    i32(6, low=-9, high=9),
)


aten = torch.ops.aten
LEARNED = (f32(1, values=[0.2]), f32(1, values=[3.4]))
LEARNED_CHANNELS = (f32(6, low=0.05, high=0.3), f32(6, low=-4, high=4))


def _learned(x: torch.Tensor, scale: torch.Tensor, point: torch.Tensor) -> Any:
    value = aten._fake_quantize_learnable_per_tensor_affine(x, scale, point, -8, 7, 0.5)
    return value, aten._fake_quantize_learnable_per_tensor_affine_backward(
        x.cos(), x, scale, point, -8, 7, 0.5
    )


def _learned_channels(x: torch.Tensor, scales: torch.Tensor, points: torch.Tensor) -> Any:
    value = aten._fake_quantize_learnable_per_channel_affine(x, scales, points, 1, -8, 7, 0.5)
    return value, aten._fake_quantize_learnable_per_channel_affine_backward(
        x.cos(), x, scales, points, 1, -8, 7, 0.5
    )


case("fake_quantize_learned", _learned, FIXED, *LEARNED)
case("fake_quantize_learned_channels", _learned_channels, FIXED, *LEARNED_CHANNELS)


class Linear(nn.Module):
    """A linear layer as PT2E quantization writes it: int8 weights per channel, int8 activations."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("weight", torch.randint(-127, 128, (5, 6), dtype=torch.int8))
        self.register_buffer("scales", torch.rand(5) * 0.02 + 0.001)
        self.register_buffer("points", torch.zeros(5, dtype=torch.int64))
        self.bias = nn.Parameter(torch.randn(5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Quantize, dequantize both, multiply, quantize and dequantize the result."""
        x, _ = _per_tensor(x, 0.03, 4, INT8)
        x = quantized.dequantize_per_tensor(x, 0.03, 4, *INT8)
        weight = quantized.dequantize_per_channel(self.weight, self.scales, self.points, 0, *INT8)
        y = nn.functional.linear(x, weight, self.bias)
        return _per_tensor(y, 0.05, -2, INT8)[1]


class Convolution(nn.Module):
    """The same for a convolution with a rectifier."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("weight", torch.randint(-127, 128, (4, 3, 3, 3), dtype=torch.int8))
        self.register_buffer("scales", torch.rand(4) * 0.02 + 0.001)
        self.register_buffer("points", torch.zeros(4, dtype=torch.int64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Quantize, dequantize both, convolve, rectify, quantize and dequantize the result."""
        x = _per_tensor(x, 0.03, 128, UINT8)[1]
        weight = quantized.dequantize_per_channel(self.weight, self.scales, self.points, 0, *INT8)
        y = nn.functional.conv2d(x, weight, padding=1).relu()
        return _per_tensor(y, 0.04, 0, UINT8)[1]


case("quantized_linear", Linear, X)
case("quantized_convolution", Convolution, f32("B", 3, 5, 5))
