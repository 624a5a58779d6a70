"""Quantization as arithmetic on integers and floats: ``quantized_decomposed`` ops and fake quantization.

The formulas are those of PyTorch's ``torch/ao/quantization/fx/_decomposed.py`` and ``FakeQuantizeCore.cpp``. PyTorch's
own Python kernels ask for elements (``.item()``) or transpose where a broadcast does; a PyTorch program that has not
imported ``torch.ao.quantization`` knows none of the ``quantized_decomposed`` ops, so they go by their names.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.types import Number

from torch2mlir.transforms.decompositions.registry import decomposes, decomposes_named

aten = torch.ops.aten
_NAMESPACE = "torch.quantized_decomposed."
_Parameter = Tensor | Number
"""A scale, a zero point or a bound: a number, or a tensor of one element."""


def _rounded(a: Tensor, scale: _Parameter, zero_point: _Parameter) -> Tensor:
    """The quantized value before it is clamped; half precision is computed in float32."""
    inverse = 1.0 / scale
    return torch.round(a.to(torch.float32) * inverse) + zero_point


def _number(parameter: _Parameter) -> Any:
    """A parameter as it is, or the only element of a tensor as a scalar in float32.

    Scales are float64 by type and float32 by value: that is how ``choose_qparams`` makes them.
    """
    if isinstance(parameter, Tensor):
        return parameter.reshape(()).to(torch.float32)
    return parameter


def _along(parameter: Tensor, axis: int, rank: int) -> Tensor:
    """One parameter per channel, to be broadcast over the other axes."""
    sizes: list[Any] = [1] * rank
    sizes[axis] = parameter.shape[0]
    return parameter.reshape(sizes)


# one scale for the whole tensor


_PARAMETERS_BY = ("", ".tensor", ".tensor2")
"""Scale and zero point are numbers; tensors of one element; and the bounds are too."""


@decomposes_named(*(_NAMESPACE + "quantize_per_tensor" + form for form in _PARAMETERS_BY))
def _quantize(
    a: Tensor, scale: Any, zero_point: Any, low: int, high: int, dtype: torch.dtype
) -> Any:
    rounded = _rounded(a, _number(scale), _number(zero_point))
    return rounded.clamp(_number(low), _number(high)).to(dtype)


@decomposes_named(*(_NAMESPACE + "dequantize_per_tensor" + form for form in _PARAMETERS_BY))
def _dequantize(
    a: Tensor, scale: _Parameter, zero_point: _Parameter, *_bounds: object, out_dtype: Any = None
) -> Tensor:
    return (a.to(out_dtype or torch.float32) - _number(zero_point)) * _number(scale)


def _extent(a: Tensor) -> tuple[Tensor, Tensor]:
    """Smallest and largest element, widened to hold zero, each as a tensor of one element."""
    flat = a.reshape(-1)
    return flat.amin(0, keepdim=True).clamp(max=0), flat.amax(0, keepdim=True).clamp(min=0)


@decomposes_named(_NAMESPACE + "choose_qparams.tensor")
def _choose(a: Tensor, low: int, high: int, eps: float, dtype: torch.dtype) -> Any:
    smallest, largest = _extent(a)
    scale = ((largest - smallest) / float(high - low)).clamp(min=eps)
    zero_point = low - torch.round(smallest / scale).to(torch.int32)
    return scale.to(torch.float64), zero_point.clamp(low, high).to(torch.int64)


@decomposes_named(_NAMESPACE + "choose_qparams_symmetric.tensor")
def _choose_symmetric(a: Tensor, low: int, high: int, eps: float, dtype: torch.dtype) -> Any:
    smallest, largest = _extent(a)
    scale = torch.maximum(-smallest, largest) / (float(high - low) / 2)
    middle = 128 if dtype is torch.uint8 else 0
    zero_point = torch.full((1,), middle, dtype=torch.int64)
    return scale.clamp(min=eps).to(torch.float64), zero_point


# one scale per channel


@decomposes_named(_NAMESPACE + "quantize_per_channel")
def _quantize_channels(
    a: Tensor,
    scales: Tensor,
    zero_points: Tensor,
    axis: int,
    low: int,
    high: int,
    dtype: torch.dtype,
) -> Tensor:
    scales, zero_points = (_along(p, axis, a.dim()) for p in (scales, zero_points))
    return _rounded(a, scales, zero_points).clamp(low, high).to(dtype)


@decomposes_named(_NAMESPACE + "dequantize_per_channel")
def _dequantize_channels(
    a: Tensor, scales: Tensor, zero_points: Any, axis: int, *_bounds: object, out_dtype: Any = None
) -> Tensor:
    if zero_points is not None:
        a = a - _along(zero_points, axis, a.dim())
    return (a * _along(scales, axis, a.dim())).to(out_dtype or torch.float32)


@decomposes_named(_NAMESPACE + "fake_quant_per_channel")
def _fake_quantize_decomposed(
    a: Tensor, scales: Tensor, zero_points: Any, axis: Any, low: int, high: int
) -> Any:
    scales = _along(scales.to(torch.float32), axis, a.dim())
    zero_points = _along(zero_points, axis, a.dim()).to(torch.float32)
    rounded = _rounded(a, scales, zero_points).clamp(low, high)  # NaN stays here
    return ((rounded - zero_points) * scales).to(a.dtype)


# one scale per row, or per group of elements in a row


@decomposes_named(_NAMESPACE + "choose_qparams_per_token", gives_dtype=True)
def _choose_per_token(a: Tensor, dtype: torch.dtype) -> Any:
    """In float32, as PyTorch's kernel gives them (its shape function says float64 and int64)."""
    largest = a.abs().amax(-1, keepdim=True)
    largest = largest.to(torch.float32) if largest.dtype is torch.float16 else largest
    scales = largest.clamp(min=1e-5) / 127
    return scales, torch.zeros_like(scales)


@decomposes_named(
    _NAMESPACE + "choose_qparams_per_token_asymmetric",
    _NAMESPACE + "_choose_qparams_per_token_asymmetric_impl",
)
def _choose_per_token_asymmetric(a: Tensor, dtype: torch.dtype) -> Any:
    """Into -128 to 127, the zero point at the end that rounds less."""
    low, high = -128, 127
    smallest = a.amin(-1, keepdim=True).clamp(max=0)
    largest = a.amax(-1, keepdim=True).clamp(min=0)
    scale = ((largest - smallest) / float(high - low)).clamp(min=torch.finfo(torch.float32).eps)
    bottom, top = smallest / scale, largest / scale
    zero_point = torch.where((low + bottom) + (high + top) > 0, low - bottom, high - top)
    return scale.to(torch.float64), zero_point.clamp(low, high).round().to(torch.int64)


def _rounded_together(a: Tensor, scales: Tensor, zero_points: Any) -> Tensor:
    """As :func:`_rounded`, with the zero point added before rounding."""
    return torch.round(a * (1.0 / scales) + zero_points)


@decomposes_named(_NAMESPACE + "quantize_per_token")
def _quantize_tokens(
    a: Tensor, scales: Tensor, zero_points: Any, low: int, high: int, dtype: torch.dtype
) -> Any:
    return _rounded_together(a, scales, zero_points).clamp(low, high).to(dtype)


@decomposes_named(_NAMESPACE + "dequantize_per_token")
def _dequantize_tokens(
    a: Tensor,
    scales: Tensor,
    zero_points: Any,
    low: int,
    high: int,
    dtype: torch.dtype,
    out_dtype: Any,
) -> Any:
    return ((a - zero_points) * scales).to(out_dtype)


def _grouped(a: Tensor, scales: Tensor, group_size: int) -> Tensor:
    """Rows of one group each; a single scale in a row shorter than a group is the row's."""
    if scales.shape[-1] == 1 and group_size > a.shape[-1]:
        group_size = a.shape[-1]
    return a.reshape(-1, group_size)


@decomposes_named(_NAMESPACE + "quantize_per_channel_group")
def _quantize_groups(
    a: Tensor,
    scales: Tensor,
    zero_points: Any,
    low: int,
    high: int,
    dtype: torch.dtype,
    group_size: Any = 128,
) -> Any:
    groups = _grouped(a, scales, group_size)
    rounded = _rounded_together(groups, scales.reshape(-1, 1), zero_points.reshape(-1, 1))
    return rounded.clamp(low, high).to(dtype).reshape(a.shape)


@decomposes_named(_NAMESPACE + "dequantize_per_channel_group")
def _dequantize_groups(
    a: Tensor,
    scales: Tensor,
    zero_points: Any,
    _low: int,
    _high: int,
    _dtype: object,
    group_size: int = 128,
    out_dtype: Any = torch.float32,
) -> Tensor:
    groups = _grouped(a, scales, group_size)
    if zero_points is not None:
        groups = groups - zero_points.reshape(-1, 1)
    return (groups * scales.reshape(-1, 1)).reshape(a.shape).to(out_dtype)


@decomposes_named(_NAMESPACE + "convert_element_type.no_fuse")
def _converted(a: Tensor, dtype: torch.dtype) -> Any:
    return a.to(dtype)


# fake quantization: to the quantized value and back, all in floats


def _fake(a: Tensor, scale: Any, zero_point: Any, low: int, high: int) -> tuple[Tensor, Tensor]:
    """The value that is left, and where nothing was clamped; NaN becomes the lowest, as no integer is NaN."""
    rounded = _rounded(a, scale, zero_point)
    quantized = torch.where(rounded >= low, rounded, float(low)).clamp(max=high)
    back = (quantized - zero_point) * scale
    return back.to(a.dtype), (rounded >= low) & (rounded <= high)


@decomposes(aten.fake_quantize_per_tensor_affine_cachemask.default)
def _fake_quantize(
    a: Tensor, scale: float, zero_point: int, low: int, high: int
) -> tuple[Tensor, Tensor]:
    return _fake(a, scale, zero_point, low, high)


@decomposes(aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default)
def _fake_quantize_by_tensors(
    a: Tensor, scale: Tensor, zero_point: Tensor, enabled: Tensor, low: int, high: int
) -> tuple[Tensor, Tensor]:
    value, inside = _fake(a, _number(scale), _number(zero_point), low, high)
    on = enabled.reshape(()) != 0
    return torch.where(on, value, a), inside | ~on


@decomposes(aten.fake_quantize_per_channel_affine_cachemask.default)
def _fake_quantize_channels(
    a: Tensor, scales: Tensor, zero_points: Tensor, axis: int, low: int, high: int
) -> tuple[Tensor, Tensor]:
    scales, zero_points = (_along(p, axis, a.dim()) for p in (scales, zero_points))
    return _fake(a, scales, zero_points.to(torch.float32), low, high)


def _learned(zero_point: Tensor, low: int, high: int) -> Tensor:
    """A zero point that is trained is any number; the nearest integer in range is used."""
    return torch.round(zero_point.to(torch.float32)).clamp(low, high)


@decomposes(aten._fake_quantize_learnable_per_tensor_affine.default)
def _fake_quantize_learned(
    a: Tensor, scale: Tensor, zero_point: Tensor, low: int, high: int, factor: float = 1.0
) -> Tensor:
    return _fake(a, _number(scale), _learned(zero_point.reshape(()), low, high), low, high)[0]


@decomposes(aten._fake_quantize_learnable_per_channel_affine.default)
def _fake_quantize_learned_channels(
    a: Tensor,
    scales: Tensor,
    zero_points: Tensor,
    axis: int,
    low: int,
    high: int,
    factor: float = 1.0,
) -> Tensor:
    zero_points = _learned(zero_points, low, high)
    return _fake_quantize_channels(a, scales, zero_points, axis, low, high)[0]


def _learned_gradients(
    gradient: Tensor,
    a: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    low: int,
    high: int,
    factor: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Of the value, and element by element of scale and zero point.

    Source: Esser et al., "Learned step size quantization", 2020, and Jain et al., "Trained quantization thresholds",
    2020, as in PyTorch's ``FakeQuantizeCore.cpp``.
    """
    zero_point = _learned(zero_point, low, high)
    rounded = _rounded(a, scale, zero_point)
    inside = (rounded >= low) & (rounded <= high)
    kept = rounded.clamp(low, high) - zero_point
    slope = torch.where(inside, (kept * scale - a) / scale, kept)
    shift = torch.where(inside, torch.zeros_like(a), -scale)
    return gradient * inside, gradient * slope * factor, gradient * shift * factor


@decomposes(aten._fake_quantize_learnable_per_tensor_affine_backward.default)
def _fake_quantize_learned_backward(
    gradient: Tensor,
    a: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    low: int,
    high: int,
    factor: float = 1.0,
) -> tuple[Tensor, Tensor, Tensor]:
    value, of_scale, of_point = _learned_gradients(
        gradient, a, _number(scale), _number(zero_point), low, high, factor
    )
    return value, of_scale.sum().reshape(1), of_point.sum().reshape(1)


@decomposes(aten._fake_quantize_learnable_per_channel_affine_backward.default)
def _fake_quantize_learned_channels_backward(
    gradient: Tensor,
    a: Tensor,
    scales: Tensor,
    zero_points: Tensor,
    axis: int,
    low: int,
    high: int,
    factor: float = 1.0,
) -> tuple[Tensor, Tensor, Tensor]:
    scales, zero_points = (_along(p, axis, a.dim()) for p in (scales, zero_points))
    value, of_scales, of_points = _learned_gradients(
        gradient, a, scales, zero_points, low, high, factor
    )
    others = [d for d in range(a.dim()) if d != axis % a.dim()]
    if not others:
        return value, of_scales, of_points
    return value, of_scales.sum(others), of_points.sum(others)
