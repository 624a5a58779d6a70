"""Elementwise functions that other elementwise ops can say."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.types import Number

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten
prims = torch.ops.prims


@decomposes(prims.exp2.default)
def _exp2(a: Tensor) -> Tensor:
    return aten.pow.Scalar(2.0, a)


decomposes(prims.signbit.default)(aten.signbit)


@decomposes(prims.fmax.default)
def _fmax(a: Tensor, b: Tensor) -> Tensor:
    """The larger; a number beats NaN."""
    return torch.where(torch.isnan(a), b, torch.where(torch.isnan(b), a, torch.maximum(a, b)))


@decomposes(prims.fmin.default)
def _fmin(a: Tensor, b: Tensor) -> Tensor:
    """The smaller; a number beats NaN."""
    return torch.where(torch.isnan(a), b, torch.where(torch.isnan(b), a, torch.minimum(a, b)))


@decomposes(prims.hypot.default)
def _hypot(a: Tensor, b: Tensor) -> Tensor:
    """The larger times ``sqrt(1 + ratio**2)``: squares may overflow. Infinite if one is, even beside NaN."""
    a, b = a.abs(), b.abs()
    larger, smaller = torch.maximum(a, b), torch.minimum(a, b)
    ratio = torch.where(larger == 0, 0.0, smaller / larger)
    result = larger * torch.sqrt(1 + ratio * ratio)
    return torch.where(torch.isinf(a) | torch.isinf(b), math.inf, result)


@decomposes(aten.lerp.Tensor)
def _lerp(start: Tensor, end: Tensor, weight: Tensor) -> Tensor:
    """A weight of rank 0 is rounded to the tensors' type first; PyTorch's definition reads it as it is."""
    if start.dim() > 0 and weight.dim() == 0:
        weight = weight.to(start.dtype)
    return torch._refs.lerp(start, end, weight)


@decomposes(aten.floor_divide.Scalar)
def _floor_divide_by_number(a: Tensor, b: Number) -> Tensor:
    """PyTorch's definition makes a tensor of the number, which half floats round."""
    return aten.div.Scalar_mode(a, b, rounding_mode="floor")


@decomposes(aten.__lshift__.Tensor, prims.shift_left.default)
def _left_shift(a: Tensor, b: Tensor) -> Tensor:
    return aten.bitwise_left_shift.Tensor(a, b)


@decomposes(aten.__lshift__.Scalar)
def _left_shift_by_number(a: Tensor, b: Number) -> Tensor:
    return aten.bitwise_left_shift.Tensor_Scalar(a, b)


@decomposes(aten.bitwise_left_shift.Scalar_Tensor)
def _left_shift_of_number(a: Number, b: Tensor) -> Tensor:
    return aten.bitwise_left_shift.Tensor(b.new_full([], a), b)


@decomposes(aten.__rshift__.Tensor, prims.shift_right_arithmetic.default)
def _right_shift(a: Tensor, b: Tensor) -> Tensor:
    return aten.bitwise_right_shift.Tensor(a, b)


@decomposes(aten.__rshift__.Scalar)
def _right_shift_by_number(a: Tensor, b: Number) -> Tensor:
    return aten.bitwise_right_shift.Tensor_Scalar(a, b)


@decomposes(aten.bitwise_right_shift.Scalar_Tensor)
def _right_shift_of_number(a: Number, b: Tensor) -> Tensor:
    return aten.bitwise_right_shift.Tensor(b.new_full([], a), b)


@decomposes(aten.remainder.Scalar_Tensor)
def _remainder_of_number(a: Number, b: Tensor) -> Tensor:
    """PyTorch's own form wraps the number and calls the op again."""
    return aten.remainder.Tensor(aten.scalar_tensor(a, dtype=torch.result_type(a, b)), b)


@decomposes(aten.rsub.Scalar)
def _rsub_from_number(a: Tensor, b: Number, alpha: Number = 1) -> Tensor:
    """``b - alpha * a``, the number in the type of the result: PyTorch's own form makes it a float32 tensor."""
    return aten.sub.Tensor(aten.scalar_tensor(b, dtype=torch.result_type(a, b)), a, alpha=alpha)


@decomposes(aten.rsub.Tensor)
def _rsub(a: Tensor, b: Tensor, *, alpha: Number = 1) -> Tensor:
    return aten.sub.Tensor(b, a, alpha=alpha)
