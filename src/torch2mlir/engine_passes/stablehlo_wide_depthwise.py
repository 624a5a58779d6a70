"""``stablehlo-wide-depthwise``: depthwise convolutions of wide windows as sums with the channels first, kept apart.

XLA on the CPU (jaxlib 0.10.2) makes one loop of the sum over a window of slices times factors. With the channels last
(``stablehlo-channels-last``) that loop loads a factor for each element; with the channels first a factor stays the same
along a row, which takes a quarter of the time: of 96x56x56, 0.6 ms against 2.9 for a window of 7x7, 0.2 against 0.5 for
3x3. Turning the input and the result takes 0.2 ms each, so only wide windows gain. Strides above 1 would read every
other element of a row, and short rows are no vectors.

Barriers stand before and behind: XLA computes a transpose that is read by a loop once for each of its slices.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, ModuleOp
from xdsl.ir import SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.rows import RowOp
from torch2mlir.dialects.tensors import element_of, shape_of
from torch2mlir.engine_passes.in_place_of import as_tensor, replace
from torch2mlir.engine_passes.stablehlo_channels_last import MAX_TAPS

MIN_TAPS = 16
"""Size of the smallest window for which two transposes are less than what is gained."""
MIN_ROW = 8
"""Elements of the shortest row that are a vector of f32."""


class StablehloWideDepthwisePass(PassForOps):
    """See the module's docstring."""

    name = "stablehlo-wide-depthwise"
    looks_for = frozenset({hlo.ConvolutionOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if isinstance(each, hlo.ConvolutionOp)]:
            if _is_channels_first(each) and _is_wide_depthwise(each):
                replace(each, partial(_summed, op=each))


def _is_channels_first(op: RowOp) -> bool:
    first = (0, 1, tuple(range(2, len(shape_of(op.lhs)))))
    return all((*side[:2], tuple(side[2])) == first for side in op.dimension_numbers.sides())


def _is_wide_depthwise(op: RowOp) -> bool:
    """Whether every channel is a convolution of its own, of a wide window that moves by single steps."""
    channels, inputs, *window = shape_of(op.rhs)
    strides = op.window_strides
    return (
        inputs == 1
        and op.feature_group_count.value.data == channels
        and op.batch_group_count.value.data == 1
        and op.lhs_dilation is None
        and op.window_reversal is None
        and (strides is None or set(strides.get_values()) == {1})
        and MIN_TAPS <= prod(window) <= MAX_TAPS
        and isinstance(element_of(op.result), AnyFloat)
        and 0 not in shape_of(op.lhs)
        and shape_of(op.result)[-1] >= MIN_ROW
    )


def _summed(lower: StablehloLowering, op: RowOp) -> list[Tensor]:
    result = as_tensor(op.result)
    x, weight = (
        lower.cast(as_tensor(each), result.dtype) for each in (_apart(lower, op.lhs), op.rhs)
    )
    channels, _, *window = shape_of(op.rhs)
    space, rank = len(window), result.rank
    if op.padding is not None:
        low, high = zip(*hlo.padding_pairs(op.padding), strict=True)
        x = lower.pad(x, [0, 0, *low], [0, 0, *high], 0)
    dilations = [1] * space if op.rhs_dilation is None else op.rhs_dilation.get_values()
    ones, total = [1] * rank, None
    for tap in product(*map(range, window)):
        starts = [place * step for place, step in zip(tap, dilations, strict=True)]
        part = lower.slice(x, [0, 0, *starts], result.sizes, ones)
        factor = lower.slice(weight, [0, 0, *tap], [channels, 1, *[1] * space], ones)
        factor = lower.broadcast_in_dim(lower.reshape(factor, [channels]), result.sizes, [1])
        term = lower.apply(hlo.MulOp, part, factor)
        total = term if total is None else lower.apply(hlo.AddOp, total, term)
    assert total is not None
    return [as_tensor(_apart(lower, total.value))]


def _apart(lower: StablehloLowering, value: SSAValue) -> SSAValue:
    """A value that is computed before what reads it."""
    return lower.emit(hlo.OptimizationBarrierOp, [value], [value.type]).results[0]
