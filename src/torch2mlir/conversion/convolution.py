"""What targets share of convolutions; transposed ones are plain ones over inputs with zeros between the elements."""

from __future__ import annotations

from collections.abc import Sequence

from torch2mlir.conversion.lowering import Lowering, Tensor
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import KnownSize


def in_full(
    lower: Lowering,
    x: Tensor,
    weight: Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> tuple[Tensor, Tensor, list[int]]:
    """What a convolution is without padding and not transposed: input, weight ``[f, c / groups, ..]`` and strides."""
    if not transposed:
        around = [0, 0, *padding]
        return lower.pad(x, around, around, 0), weight, list(stride)
    x = spread(
        lower, x, stride, transposed_padding(lower, weight, padding, dilation, output_padding)
    )
    weight = turned(lower, weight, groups)
    if groups == 1:
        weight = lower.transpose(weight, [1, 0, *range(2, weight.rank)])
    return x, weight, [1] * len(stride)


def transposed_padding(
    lower: Lowering,
    weight: Tensor,
    paddings: Sequence[int],
    dilations: Sequence[int],
    output_paddings: Sequence[int],
) -> list[tuple[int, int]]:
    """The padding with which a transposed convolution is a plain one; negative for paddings wider than the window."""
    pairs = []
    window = zip(weight.sizes[2:], paddings, dilations, output_paddings, strict=True)
    for size, padding, dilation, extra in window:
        low = dilation * (lower.static(size, "the size of a window") - 1) - padding
        pairs.append((low, low + extra))
    return pairs


def turned(lower: Lowering, weight: Tensor, groups: int) -> Tensor:
    """The weight of a transposed convolution, ``[c, f / groups, ..]``, reversed in space.

    Several groups become ones of the output channels, ``[f, c / groups, ..]``; otherwise the channels stay in place.
    """
    weight = lower.reverse(weight, [d for d in range(2, weight.rank) if weight.sizes[d] != 1])
    if groups == 1:
        return weight
    inputs, outputs, *space = weight.sizes
    per_group = dims.floordiv(inputs, groups)
    split = lower.reshape(weight, [groups, per_group, outputs, *space])
    swapped = lower.transpose(split, [0, 2, 1, *range(3, split.rank)])
    return lower.reshape(swapped, [dims.mul(groups, outputs), per_group, *space])


def apart(lower: Lowering, x: Tensor, steps: Sequence[int]) -> Tensor:
    """``steps[i] - 1`` zeros after every element along dimension ``i``.

    As padding of dimensions of size 1: a strided tensor.insert_slice comes out wrong from IREE 3.13.
    """
    if all(step == 1 for step in steps):
        return x
    split, after = list[KnownSize](), list[KnownSize]()
    for size, step in zip(x.sizes, steps, strict=True):
        split += [size] if step == 1 else [size, 1]
        after += [0] if step == 1 else [0, step - 1]
    padded = lower.pad(lower.reshape(x, split), [0] * len(after), after, 0)
    return lower.reshape(padded, list(map(dims.mul, x.sizes, steps)))


def spread(
    lower: Lowering,
    x: Tensor,
    strides: Sequence[int],
    edges: Sequence[tuple[int, int]],
) -> Tensor:
    """The input with zeros between its elements and around; negative amounts around are cut off."""
    x = apart(lower, x, [1, 1, *strides])
    low = [0, 0, *(edge[0] for edge in edges)]
    # the last element has zeros behind it already
    high = [0, 0, *(edge[1] - (s - 1) for edge, s in zip(edges, strides, strict=True))]
    cut = [max(0, -a) for a in low]
    sizes = [
        dims.sub(size, first + max(0, -b))
        for size, first, b in zip(x.sizes, cut, high, strict=True)
    ]
    x = lower.slice(x, cut, sizes, [1] * x.rank)
    return lower.pad(x, [max(0, a) for a in low], [max(0, b) for b in high], 0)
