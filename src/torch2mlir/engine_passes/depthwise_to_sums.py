"""``depthwise-to-sums``: depthwise convolutions on IREE as one sum of shifted tensors, a factor for each channel.

IREE 3.13 makes no vectors of ``linalg.depthwise_conv_2d_nchw_chw`` and few of the op for channels last, that of TOSA. A
loop over the result that reads a slice of the input for each element of the window is 10 times faster with a
window of 7x7 and of 3x3. What strides jump over is brought together first: in a loop every stride of which
is 1, neighbours are read together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, AnyFloat, ModuleOp
from xdsl.ir import Operation

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.conversion.lowering import Scalar, Tensor
from torch2mlir.conversion.torch_to_linalg.lowering import Access, LinalgLowering
from torch2mlir.conversion.torch_to_linalg.scalars import Scalars
from torch2mlir.dialects import linalg, tosa
from torch2mlir.dialects.tensors import element_of, integers, shape_of
from torch2mlir.dialects.torch.dims import KnownSize
from torch2mlir.engine_passes.in_place_of import as_tensor, replace

MAX_TAPS = 64
"""Size of the largest window that is written out: a loop reads two tensors for each element of it."""
_CHANNELS_FIRST = frozenset(
    op.name
    for op in (
        linalg.DepthwiseConv1DNcwCwOp,
        linalg.DepthwiseConv2DNchwChwOp,
        linalg.DepthwiseConv3DNcdhwCdhwOp,
    )
)


class DepthwiseToSumsPass(PassForOps):
    """See the module's docstring."""

    name = "depthwise-to-sums"
    looks_for = _CHANNELS_FIRST | {tosa.DepthwiseConv2DOp.name}

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if each.name in self.looks_for and _is_plain(each)]:
            build = _channels_first if each.name in _CHANNELS_FIRST else _channels_last
            replace(each, partial(build, op=each), "linalg-on-tensors")


def _is_plain(op: Operation) -> bool:
    """Whether it is of floats of one type, of known sizes, with a window small enough and a filter for each channel."""
    values = [*op.operands, *op.results]
    shapes = [shape_of(value) for value in values]
    element = element_of(values[0])
    weight = shapes[1]
    window = weight[1:] if op.name in _CHANNELS_FIRST else weight[:2]
    return (
        isinstance(element, AnyFloat)
        and all(element_of(value) == element for value in values)
        and not any(size in (0, DYNAMIC_INDEX) for shape in shapes for size in shape)
        and prod(window) <= MAX_TAPS
        and (op.name in _CHANNELS_FIRST or weight[3] == 1)
    )


@dataclass(frozen=True)
class _Window:
    """How a window moves over a tensor.

    Attributes:
        sizes: of the window.
        strides: from place to place.
        dilations: from element to element of the window.
    """

    sizes: Sequence[int]
    strides: Sequence[int]
    dilations: Sequence[int]


def _channels_first(lower: LinalgLowering, op: Operation) -> list[Tensor]:
    x, weight, init = (as_tensor(operand) for operand in op.operands)
    strides, dilations = (list(integers(op.properties[p])) for p in ("strides", "dilations"))
    window = _Window(shape_of(op.operands[1])[1:], strides, dilations)
    moved = lower.transpose(weight, [*range(1, weight.rank), 0])
    return [_summed(lower, x, moved, (init, range(init.rank)), init.sizes, window)]


def _channels_last(lower: LinalgLowering, op: Operation) -> list[Tensor]:
    x, weight, bias, *_ = (as_tensor(operand) for operand in op.operands)
    pads, strides, dilations = (
        list(integers(op.properties[p])) for p in ("pad", "stride", "dilation")
    )
    height, width, channels, _ = shape_of(op.operands[1])
    weight = lower.reshape(weight, [height, width, channels])
    first = lower.pad(lower.transpose(x, [0, 3, 1, 2]), [0, 0, *pads[::2]], [0, 0, *pads[1::2]], 0)
    count, *places, _ = shape_of(op.results[0])
    begin: Access = (bias, [None if bias.sizes == (1,) and channels > 1 else 1])
    window = _Window((height, width), strides, dilations)
    result = _summed(lower, first, weight, begin, [count, channels, *places], window)
    return [lower.transpose(result, [0, 2, 3, 1])]


def _summed(
    lower: LinalgLowering,
    x: Tensor,
    weight: Tensor,
    begin: Access,
    sizes: Sequence[KnownSize],
    window: _Window,
) -> Tensor:
    """What is begun with, and for each element of the window the slice it sees times its factors ``[*window, C]``."""
    apart = _apart(lower, x, window)
    channels = weight.sizes[-1]
    accesses: list[Access] = [begin]
    for tap in product(*map(range, window.sizes)):
        offsets = [place * step for place, step in zip(tap, window.dilations, strict=True)]
        accesses.append((_seen(lower, apart, offsets, sizes, window), range(x.rank)))
        ones = [1] * len(tap)
        factors = lower.extract_slice(
            weight, [*tap, 0], [*ones, channels], [1] * weight.rank, [channels]
        )
        accesses.append((factors, [1]))

    def add(s: Scalars, total: Scalar, *read: Scalar) -> Scalar:
        for element, factor in zip(read[::2], read[1::2], strict=True):
            total = s("add", total, s("mul", element, factor))
        return total

    return lower.compute(add, accesses, sizes, x.dtype)


def _apart(lower: LinalgLowering, x: Tensor, window: _Window) -> Tensor:
    """The input with a dimension in front for the places between two strides, for each that the window moves over."""
    if all(stride == 1 for stride in window.strides):
        return x
    split, high = list[int](), [0] * x.rank
    places, phases = list[int](), list[int]()
    for d, size in enumerate(x.sizes):
        assert isinstance(size, int)
        places.append(len(split))
        over = 0 <= d - 2 < len(window.strides)
        stride = window.strides[d - 2] if over else 1
        high[d] = -size % stride
        split.append((size + high[d]) // stride)
        if over:
            phases.append(len(split))
            split.append(stride)
    padded = lower.pad(x, [0] * x.rank, high, 0)
    return lower.transpose(lower.reshape(padded, split), [*phases, *places])


def _seen(
    lower: LinalgLowering,
    apart: Tensor,
    offsets: Sequence[int],
    sizes: Sequence[KnownSize],
    window: _Window,
) -> Tensor:
    """What one element of the window sees from all places."""
    starts = [0] * len(sizes)
    strided = apart.rank > len(sizes)
    steps = window.strides if strided else [1] * len(offsets)
    for i, (offset, step) in enumerate(zip(offsets, steps, strict=True)):
        starts[2 + i] = offset // step
    phases = [offset % step for offset, step in zip(offsets, steps, strict=True)] if strided else []
    ones = [1] * len(phases)
    return lower.extract_slice(
        apart,
        [*phases, *starts],
        [*ones, *sizes],
        [1] * apart.rank,
        sizes,
    )
