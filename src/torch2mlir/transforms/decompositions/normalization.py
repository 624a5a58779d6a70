"""Statistics and normalization layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch._decomp import decomposition_table
from torch.types import Number

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten
prims = torch.ops.prims


@decomposes(aten.var.correction, prims.var.default)
def _var(
    a: Tensor,
    dim: Sequence[int] | None = None,
    correction: float = 1,
    keepdim: bool = False,
    **_: object,
) -> Tensor:
    """Sum of squared deviations over ``n - correction``. https://pytorch.org/docs/stable/generated/torch.var.html"""
    return _moments(a, dim, correction, keepdim, is_refined=True)[0]


@decomposes(aten.var_mean.correction)
def _var_mean(
    a: Tensor,
    dim: Sequence[int] | None = None,
    *,
    correction: Number | None = None,
    keepdim: bool = False,
) -> tuple[Tensor, Tensor]:
    """As ``var``, and the mean: what normalization layers take, at a pass over the tensor less than ``var``."""
    return _moments(a, dim, correction, keepdim, is_refined=False)


def _moments(
    a: Tensor,
    dim: Sequence[int] | None,
    correction: Number | None,
    keepdim: bool,
    is_refined: bool,
) -> tuple[Tensor, Tensor]:
    """Variance and mean.

    Args:
        a: of any rank.
        dim: the dimensions; none stands for all.
        correction: what the number of elements is less in the divisor; None stands for 1.
        keepdim: whether these dimensions stay, of size 1.
        is_refined: whether deviations are from a mean that is exact to the last digit. The sum of many numbers far from
            zero is rounded, in f32 and by the order an engine adds in, by more than their deviations may be.
    """
    dims = list(dim) if dim else list(range(a.dim()))
    count: Any = 1
    for axis in dims:
        count = count * a.shape[axis]
    computed = a.float() if a.dtype in (torch.float16, torch.bfloat16) else a
    mean = computed.mean(dims, keepdim=True)
    deviation = computed - mean
    if is_refined:
        deviation = deviation - deviation.mean(dims, keepdim=True)
    squares = deviation.abs() ** 2 if deviation.is_complex() else deviation * deviation
    # torch.sum of the squares over n - correction; the sum and the mean are the same where there is no correction
    correction = 1 if correction is None else correction
    if correction == 0:
        variance = squares.mean(dims, keepdim=keepdim)
    else:
        divisor = count - correction
        if isinstance(divisor, torch.SymInt | torch.SymFloat):
            divisor = torch.sym_max(divisor, 0)
        else:
            divisor = max(divisor, 0)
        variance = squares.sum(dims, keepdim=keepdim) / divisor
    if not keepdim:
        mean = mean.squeeze(dims)
    return variance if computed is a else variance.to(a.dtype), mean.to(a.dtype)


@decomposes(aten._native_batch_norm_legit_no_training.default)
def _batch_norm_inference(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor,
    variance: Tensor,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """One affine step per channel: ``input * scale + shift`` with both computed from the statistics alone.

    Halves are computed in single precision, as PyTorch's kernel does: a mean far from zero would leave no digits.
    """
    half = input.dtype in (torch.float16, torch.bfloat16)
    dtype = torch.float32 if half else input.dtype
    scale = torch.rsqrt(variance.to(dtype) + eps)
    if weight is not None:
        scale = scale * weight.to(dtype)
    shift = -mean.to(dtype) * scale
    if bias is not None:
        shift = shift + bias.to(dtype)
    channels = [1, -1] + [1] * (input.dim() - 2)
    out = input.to(dtype) * scale.view(channels) + shift.view(channels)
    empty = input.new_empty(0)
    return out.to(input.dtype), empty, empty


_OF_PYTORCH = decomposition_table[aten._native_batch_norm_legit_functional.default]


@decomposes(aten._native_batch_norm_legit_functional.default)
def _batch_norm_with_statistics(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor,
    variance: Tensor,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, ...]:
    """PyTorch's own, but a batch of nothing leaves the running statistics: the mean of no elements is NaN."""
    results = _OF_PYTORCH(input, weight, bias, mean, variance, training, momentum, eps)
    count: Any = input.numel()
    if not training or (isinstance(count, int) and count):
        return tuple(results)
    is_empty = torch.full((), count) == 0
    *others, new_mean, new_variance = results
    kept = ((mean, new_mean), (variance, new_variance))
    return *others, *(torch.where(is_empty, old, new) for old, new in kept)


@decomposes(aten.batch_norm.default)
def _batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor | None,
    variance: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = False,
) -> Tensor:
    """In inference the affine step at once; in training PyTorch's own form, which updates the statistics."""
    if not training:
        return _batch_norm_inference(input, weight, bias, mean, variance, momentum, eps)[0]
    return aten.native_batch_norm(input, weight, bias, mean, variance, training, momentum, eps)[0]
