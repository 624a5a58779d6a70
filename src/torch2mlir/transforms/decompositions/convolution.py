"""Gradients of convolutions, which are convolutions again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten


class _Options(NamedTuple):
    """Of a convolution, one for each dimension of space."""

    stride: list[int]
    padding: list[int]
    dilation: list[int]
    groups: int


def _each(option: Sequence[int], count: int) -> list[int]:
    return list(option) * count if len(option) == 1 else list(option)


@decomposes(aten.convolution_backward.default)
def _convolution_backward(
    grad: Tensor,
    x: Tensor,
    weight: Tensor,
    bias_sizes: Sequence[int] | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Gradients with respect to input, weight and bias, as far as they are asked for.

    Dumoulin and Visin, A guide to convolution arithmetic for deep learning, https://arxiv.org/abs/1603.07285.
    """
    spatial = x.dim() - 2
    options = _Options(
        _each(stride, spatial), _each(padding, spatial), _each(dilation, spatial), groups
    )
    of_input = of_weight = of_bias = None
    if output_mask[0] and transposed:
        whole = aten.convolution(grad, weight, None, *options[:3], False, [0] * spatial, groups)
        of_input = _cropped(whole, x.shape[2:])
    elif output_mask[0]:
        of_input = _transposed(grad, weight, x.shape[2:], options)
    if output_mask[1]:
        # in a transposed convolution the gradient is what the window moves over
        source, window = (grad, x) if transposed else (x, grad)
        of_weight = _correlated(source, window, weight.shape[2:], options)
    if output_mask[2]:
        of_bias = grad.sum([0, *range(2, grad.dim())])
    return of_input, of_weight, of_bias


def _cropped(x: Tensor, sizes: Sequence[Any]) -> Tensor:
    """The first elements of the dimensions of space."""
    for dim, size in enumerate(sizes, 2):
        x = aten.slice(x, dim, 0, size)
    return x


def _transposed(
    grad: Tensor,
    weight: Tensor,
    sizes: Sequence[Any],
    options: _Options,
) -> Tensor:
    """The transposed convolution with a result of these sizes.

    What the windows left over at the end is its output padding; where that is not known, the most there can be.
    """
    stride, padding, dilation, groups = options
    missing = []
    for axis, size in enumerate(sizes):
        reach = dilation[axis] * (weight.shape[2 + axis] - 1) + 1
        covered = (grad.shape[2 + axis] - 1) * stride[axis] - 2 * padding[axis] + reach
        left = size - covered
        missing.append(left if isinstance(left, int) else stride[axis] - 1)
    whole = aten.convolution(grad, weight, None, stride, padding, dilation, True, missing, groups)
    return _cropped(whole, sizes)


def _correlated(
    source: Tensor,
    window: Tensor,
    kernel: Sequence[Any],
    options: _Options,
) -> Tensor:
    """``[f, c / groups, ..]``: channel f of the window over each channel c of its group in the source.

    Batches are summed over as channels are in a convolution; strides and dilations change places.
    """
    stride, padding, dilation, groups = options
    batch, channels = source.shape[:2]
    space = range(2, source.dim())
    if groups == 1:
        source = source.transpose(0, 1)
    else:
        split = source.reshape(batch, groups, channels // groups, *source.shape[2:])
        order = split.permute(2, 1, 0, *(dim + 1 for dim in space))
        source = order.reshape(channels // groups, groups * batch, *source.shape[2:])
    none = [0] * len(kernel)
    products = aten.convolution(
        source, window.transpose(0, 1), None, dilation, padding, stride, False, none, groups
    )
    return _cropped(products, kernel).transpose(0, 1)
