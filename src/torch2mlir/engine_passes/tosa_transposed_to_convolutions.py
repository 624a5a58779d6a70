"""``tosa-transposed-to-convolutions``: a transposed convolution with strides as one convolution for all its phases.

IREE 3.13 does so itself, but begins with zeros of its own, which are the same for each of them; why that is wrong:
see ``tosa-biases-apart``, which comes after this pass.
"""

from __future__ import annotations

from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, AnyFloat, ModuleOp
from xdsl.ir import Operation

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering
from torch2mlir.dialects import tosa
from torch2mlir.dialects.tensors import element_of, i64_array, integers, shape_of
from torch2mlir.engine_passes.in_place_of import as_tensor, replace


class TosaTransposedToConvolutionsPass(PassForOps):
    """See the module's docstring."""

    name = "tosa-transposed-to-convolutions"
    looks_for = frozenset({tosa.TransposeConv2DOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if each.name in self.looks_for and _is_plain(each)]:
            replace(each, partial(_by_phases, op=each), "tosa")


def _is_plain(op: Operation) -> bool:
    """Whether it has strides and is of floats of one type and known sizes."""
    values = [*op.operands, *op.results]
    element = element_of(values[0])
    return (
        set(integers(op.properties["stride"])) != {1}
        and isinstance(element, AnyFloat)
        and all(element_of(value) == element for value in values)
        and not any(size in (0, DYNAMIC_INDEX) for value in values for size in shape_of(value))
    )


def _by_phases(lower: TosaLowering, op: Operation) -> list[Tensor]:
    """Elements of the result ``stride`` apart see the same part of the window: each such phase is a channel more."""
    x, weight, bias, *zero_points = (as_tensor(operand) for operand in op.operands)
    down, across = integers(op.properties["stride"])
    features, height, width, inputs = shape_of(op.operands[1])
    rows, columns = -(-height // down), -(-width // across)
    edges = [0, rows * down - height, columns * across - width, 0]
    whole = lower.pad(weight, [0] * 4, edges, 0)
    split = lower.reshape(whole, [features, rows, down, columns, across, inputs])
    apart = lower.transpose(split, [2, 4, 0, 1, 3, 5])
    channels = down * across * features
    phases = lower.reverse(lower.reshape(apart, [channels, rows, columns, inputs]), [1, 2])

    count, *places, _ = shape_of(op.operands[0])
    tall, wide = places[0] + rows - 1, places[1] + columns - 1
    properties = {
        "pad": i64_array([rows - 1, rows - 1, columns - 1, columns - 1]),
        "stride": i64_array([1, 1]),
        "dilation": i64_array([1, 1]),
        "acc_type": op.properties["acc_type"],
    }
    zeros = lower.splat(0, (channels,), x.dtype)
    operands = [x, phases, zeros, *zero_points]
    sizes = (count, tall, wide, channels)
    result = lower.op(tosa.Conv2DOp, operands, sizes, x.dtype, properties)
    beside = lower.reshape(result, [count, tall, wide, down, across, features])
    merged = lower.reshape(
        lower.transpose(beside, [0, 1, 3, 2, 4, 5]), [count, tall * down, wide * across, features]
    )
    fitted = _fitted(
        lower, merged, list(integers(op.properties["out_pad"])), shape_of(op.results[0])
    )
    return [lower.elementwise(tosa.AddOp, fitted, bias)]


def _fitted(lower: TosaLowering, x: Tensor, pad: list[int], sizes: tuple[int, ...]) -> Tensor:
    """Begun ``pad`` before the window's first place (after it, if negative), and as long as the result."""
    top, _, left, _ = pad
    cut, before = [0, max(-top, 0), max(-left, 0), 0], [0, max(top, 0), max(left, 0), 0]
    rest = zip(shape_of(x.value), cut, sizes, before, strict=True)
    taken = [min(have - c, want - b) for have, c, want, b in rest]
    after = [want - b - t for want, b, t in zip(sizes, before, taken, strict=True)]
    part = lower.slice(x, cut, taken, [1] * 4)
    return lower.pad(part, before, after, 0)
