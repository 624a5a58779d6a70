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
    correction: Number | None = 1,
    keepdim: bool = False,
    **_: object,
) -> Tensor:
    """Sum of squared deviations over ``n - correction``. https://pytorch.org/docs/stable/generated/torch.var.html

    Deviations are from a mean that is exact to the last digit. The sum of many numbers far from zero is rounded, in f32
    and by the order an engine adds in, by more than their deviations may be.
    """
    dims = list(dim) if dim else list(range(a.dim()))
    variance = _squares(_deviation(a, dims)).mean(dims, keepdim=keepdim)
    return _corrected(variance, a, dims, correction)


@decomposes(aten.std.correction)
def _std(
    a: Tensor,
    dim: Sequence[int] | None = None,
    *,
    correction: Number | None = None,
    keepdim: bool = False,
) -> Tensor:
    """The root of ``var``, also where that is beyond f32: PyTorch's kernels take the root in f64.

    Deviations are scaled by powers of two, so that nothing is rounded, by what they are on average: the largest of
    nothing is an error.
    """
    if a.dtype not in (torch.float32, torch.bfloat16):
        computed = _widened(a)
        root = aten.var.correction(computed, dim, correction=correction, keepdim=keepdim).sqrt()
        return root if computed is a else root.to(a.dtype)
    dims = list(dim) if dim else list(range(a.dim()))
    deviation = _deviation(a, dims)
    average = deviation.abs().mean(dims, keepdim=True)
    scale: Any = torch.ones_like(average)
    for holds, factor in (
        (average < 2.0**-30, 2.0**60),
        (average < 2.0**-75, 2.0**100),
        (average > 2.0**30, 2.0**-80),
    ):
        scale = torch.where(holds, factor, scale)
    variance = _squares(deviation * scale).mean(dims, keepdim=True)
    result = _corrected(variance, deviation, dims, correction).sqrt() / scale
    return (result if keepdim else result.squeeze(dims)).to(a.dtype)


@decomposes(aten.std_mean.correction)
def _std_mean(
    a: Tensor,
    dim: Sequence[int] | None = None,
    *,
    correction: Number | None = None,
    keepdim: bool = False,
) -> tuple[Tensor, Tensor]:
    """As ``std``, and the mean."""
    _, mean = aten.var_mean.correction(a, dim, correction=correction, keepdim=keepdim)
    return aten.std.correction(a, dim, correction=correction, keepdim=keepdim), mean


@decomposes(aten.var_mean.correction)
def _var_mean(
    a: Tensor,
    dim: Sequence[int] | None = None,
    *,
    correction: Number | None = None,
    keepdim: bool = False,
) -> tuple[Tensor, Tensor]:
    """Variance and mean, which normalization layers take, at a pass over the tensor less than ``var``.

    Deviations are from an estimate, the mean of a few elements, so that their sum is of small numbers; and it is added
    in the same loop as their squares: ``var = mean(d * d) - mean(d) ** 2``, https://doi.org/10.1080/00031305.1983.10483115.
    """
    dims = list(dim) if dim else list(range(a.dim()))
    computed = _widened(a)
    estimate = _few(computed, dims).mean(dims, keepdim=True)
    deviation = computed - estimate
    rest = deviation.mean(dims, keepdim=True)
    mean = estimate + rest
    # of equal elements the difference of the two may be rounded to less than nothing
    variance = (_squares(deviation).mean(dims, keepdim=True) - _squares(rest)).clamp(min=0)
    if not keepdim:
        variance, mean = variance.squeeze(dims), mean.squeeze(dims)
    return _corrected(variance, a, dims, correction), mean.to(a.dtype)


def _few(a: Tensor, dims: Sequence[int]) -> Tensor:
    """Elements evenly spread over the dimensions: 16 of one, 4 of each of several; all where the size is not known."""
    wanted = 16 if len(dims) == 1 else 4
    for axis in dims:
        size: Any = a.shape[axis]
        if isinstance(size, int) and size > wanted:
            # whole steps from the start on: TOSA, which has no steps, pads any other slice to them
            step = size // wanted
            a = aten.slice.Tensor(a, axis, 0, wanted * step, step)
    return a


def _deviation(a: Tensor, dims: list[int]) -> Tensor:
    """From a mean that is exact to the last digit; of half floats in f32."""
    computed = _widened(a)
    deviation = computed - _mean(computed, dims)
    return deviation - _mean(deviation, dims)


def _mean(a: Tensor, dims: list[int]) -> Tensor:
    """PyTorch divides complex numbers by a size that varies as if it were known."""
    if not a.is_complex():
        return a.mean(dims, keepdim=True)
    return torch.complex(a.real.mean(dims, keepdim=True), a.imag.mean(dims, keepdim=True))


def _widened(a: Tensor) -> Tensor:
    return a.float() if a.dtype in (torch.float16, torch.bfloat16) else a


def _squares(a: Tensor) -> Tensor:
    return a.abs() ** 2 if a.is_complex() else a * a


def _corrected(
    variance: Tensor, a: Tensor, dims: Sequence[int], correction: Number | None
) -> Tensor:
    """Of the mean of the squares their sum over ``n - correction``, not less than 0; None stands for 1."""
    correction = 1 if correction is None else correction
    if correction != 0:
        count: Any = 1
        for axis in dims:
            count = count * a.shape[axis]
        divisor = count - correction
        if isinstance(divisor, torch.SymInt | torch.SymFloat):
            divisor = torch.sym_max(divisor, 0)
        else:
            divisor = max(divisor, 0)
        variance = variance * count / divisor
    return variance if a.is_complex() else variance.to(a.dtype)


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
