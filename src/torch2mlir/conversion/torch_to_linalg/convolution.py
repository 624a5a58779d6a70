"""Convolutions in Linalg-on-Tensors: the named ops on channels-first layouts, padded with tensor.pad.

Halves are accumulated in f32. A convolution accumulates into zeros and its bias is added afterwards: broadcast to the
result's sizes the bias would be a tensor that an engine computes into, in the caller's memory if it is an argument.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType, i64
from xdsl.ir import Attribute, Operation
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from torch2mlir.contract.element_types import widened
from torch2mlir.conversion.convolution import in_full
from torch2mlir.conversion.lowering import Scalar, Tensor
from torch2mlir.conversion.torch_to_linalg.linear import TRANSPOSED_RHS, product
from torch2mlir.conversion.torch_to_linalg.lowering import (
    Access,
    LinalgLowering,
    Subscript,
    lowers,
)
from torch2mlir.conversion.torch_to_linalg.scalars import Scalars, addition
from torch2mlir.dialects import linalg
from torch2mlir.dialects.linalg.structured import SEGMENTS, segment_sizes
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import KnownSize, Sizes

PLAIN: dict[int, type[Operation]] = {
    1: linalg.Conv1DNcwFcwOp,
    2: linalg.Conv2DNchwFchwOp,
    3: linalg.Conv3DNcdhwFcdhwOp,
}
DEPTHWISE: dict[int, type[Operation]] = {
    1: linalg.DepthwiseConv1DNcwCwOp,
    2: linalg.DepthwiseConv2DNchwChwOp,
    3: linalg.DepthwiseConv3DNcdhwCdhwOp,
}
"""Number of window dimensions -> the named op."""


@lru_cache(maxsize=256)
def window_factors(values: tuple[int, ...]) -> Attribute:
    """Strides or dilations as the named ops take them."""
    return DenseIntOrFPElementsAttr.from_list(TensorType(i64, [len(values)]), values)


def window_properties(strides: Sequence[int], dilations: Sequence[int]) -> dict[str, Attribute]:
    """The properties of a named convolution or pooling."""
    return {
        "strides": window_factors(tuple(strides)),
        "dilations": window_factors(tuple(dilations)),
        SEGMENTS: segment_sizes(2, 1),
    }


@lowers("aten.convolution")
def convolution(
    lower: LinalgLowering,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Tensor:
    """Cross-correlation of ``x[n, c, ..]`` with ``weight[f, c / groups, ..]``, plus ``bias[f]``."""
    count = x.rank - 2
    dilations = list(dilation)
    x, weight, strides = in_full(
        lower, x, weight, stride, padding, dilation, transposed, output_padding, groups
    )
    windows = lower.out.sizes[2:], weight.sizes[2:]
    x, strides = without_unread(lower, x, *windows, strides, dilations)
    init = lower.full(0, lower.out.sizes, widened(lower.out.dtype))
    if groups == 1 and all(size == 1 for size in lower.out.sizes[2:]):
        result = one_place(lower, x, weight, init, dilations)
    elif groups == 1:
        result = windowed(lower, PLAIN[count], x, weight, init, strides, dilations)
    elif groups == x.sizes[1] == weight.sizes[0]:
        filters = lower.reshape(weight, [weight.sizes[0], *weight.sizes[2:]])
        result = windowed(lower, DEPTHWISE[count], x, filters, init, strides, dilations)
    else:
        result = grouped(lower, x, weight, init, strides, dilations, groups)
    if bias is not None:
        result = with_bias(lower, result, bias)
    return lower.cast(result, lower.out.dtype)


def without_unread(
    lower: LinalgLowering,
    x: Tensor,
    places: Sequence[KnownSize],
    kernel: Sequence[KnownSize],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> tuple[Tensor, list[int]]:
    """The input cut to the window where that has one place only, and the strides that are left.

    IREE drops such a dimension of the result, and then finds more of the input than the window reads.

    Args:
        lower: of the convolution or pool.
        x: ``[n, c, ..]``, with its padding.
        places: how many the window has along each of the other dimensions.
        kernel: the sizes of the window.
        strides: between its places.
        dilations: between its elements.
    """
    sizes, left = list(x.sizes), list(strides)
    for i, (place, dilation) in enumerate(zip(places, dilations, strict=True)):
        window = kernel[i]
        if place == 1 and strides[i] != 1 and isinstance(window, int):
            sizes[i + 2], left[i] = dilation * (window - 1) + 1, 1
    return lower.slice(x, [0] * x.rank, sizes, [1] * x.rank), left


def one_place(
    lower: LinalgLowering, x: Tensor, weight: Tensor, init: Tensor, dilations: Sequence[int]
) -> Tensor:
    """A convolution whose window has one place only: a product of matrices.

    IREE drops the places' dimensions, and then finds more of the input than the window reads.
    """
    window = weight.sizes[2:]
    read = lower.slice(x, [0] * x.rank, [*x.sizes[:2], *window], [1, 1, *dilations])
    columns = dims.product(weight.sizes[1:])
    rows = lower.reshape(read, [x.sizes[0], columns])
    filters = lower.reshape(weight, [weight.sizes[0], columns])
    into = lower.reshape(init, init.sizes[:2])
    result = product(lower, linalg.MatmulOp, rows, filters, into, TRANSPOSED_RHS)
    return lower.reshape(result, init.sizes)


def with_bias(lower: LinalgLowering, result: Tensor, bias: Tensor) -> Tensor:
    """A number added to each channel."""

    def build(s: Scalars, element: Scalar, added: Scalar) -> Scalar:
        return addition(s, element, s.cast(added, element.dtype))

    accesses: list[Access] = [(result, range(result.rank)), (bias, [1])]
    return lower.compute(build, accesses, result.sizes, result.dtype)


def windowed(
    lower: LinalgLowering,
    op_class: type[Operation],
    x: Tensor,
    window: Tensor,
    init: Tensor,
    strides: Sequence[int],
    dilations: Sequence[int],
) -> Tensor:
    """A named op that moves a window over a tensor; ``init`` if there are no elements."""
    if 0 in x.sizes or 0 in window.sizes:
        return init
    properties = window_properties(strides, dilations)
    return lower.op(op_class, [x, window, init], init.sizes, init.dtype, properties)


def grouped(
    lower: LinalgLowering,
    x: Tensor,
    weight: Tensor,
    init: Tensor,
    strides: Sequence[int],
    dilations: Sequence[int],
    groups: int,
) -> Tensor:
    """Channels split into groups that do not mix, a dimension of their own."""
    x = lower.reshape(x, split_groups(x.sizes, 1, groups))
    weight = lower.reshape(weight, split_groups(weight.sizes, 0, groups))
    split = lower.reshape(init, split_groups(init.sizes, 1, groups))
    if len(strides) == 2:
        named = linalg.Conv2DNgchwGfchwOp
        result = windowed(lower, named, x, weight, split, strides, dilations)
    else:
        result = grouped_nest(lower, x, weight, split, strides, dilations)
    return lower.reshape(result, init.sizes)


def split_groups(sizes: Sizes, dim: int, groups: int) -> list[KnownSize]:
    """The sizes with a dimension split in two, the groups first."""
    return [*sizes[:dim], groups, dims.floordiv(sizes[dim], groups), *sizes[dim + 1 :]]


def grouped_nest(
    lower: LinalgLowering,
    x: Tensor,
    weight: Tensor,
    init: Tensor,
    strides: Sequence[int],
    dilations: Sequence[int],
) -> Tensor:
    """A grouped convolution in one or three dimensions, which has no named op."""
    count = len(strides)
    batch, group, feature, channel = 0, 1, 2, 3 + count
    outer, inner = range(3, 3 + count), range(4 + count, 4 + 2 * count)
    places = [
        window_place(o, i, stride, dilation)
        for o, i, stride, dilation in zip(outer, inner, strides, dilations, strict=True)
    ]

    def build(s: Scalars, element: Scalar, factor: Scalar, total: Scalar) -> Scalar:
        product = s("mul", s.cast(element, total.dtype), s.cast(factor, total.dtype))
        return s("add", total, product)

    source: list[Subscript] = [batch, group, channel, *places]
    inputs = [(x, source), (weight, [group, feature, channel, *inner])]
    kinds = "p" * channel + "r" * (1 + count)
    return lower.nest(kinds, inputs, [(init, [batch, group, feature, *outer])], build)[0]


def window_place(outer: int, inner: int, stride: int, dilation: int) -> AffineExpr:
    """The position ``outer * stride + inner * dilation`` of loops."""
    position, offset = AffineDimExpr(outer), AffineDimExpr(inner)
    return (position * stride if stride != 1 else position) + (
        offset * dilation if dilation != 1 else offset
    )
