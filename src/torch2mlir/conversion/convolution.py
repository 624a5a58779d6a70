"""What targets share of transposed convolutions, which are plain ones over inputs with zeros between the elements."""

from __future__ import annotations

from collections.abc import Sequence

from torch2mlir.conversion.lowering import Lowering, Tensor
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import KnownSize


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
