"""Normalizations in ONNX, which has a word for each; they are kept whole for it."""

from __future__ import annotations

from torch2mlir.contract.element_types import bit_width, widened
from torch2mlir.conversion.lowering import ResultType, Tensor
from torch2mlir.conversion.torch_to_onnx.lowering import OnnxLowering, lowers
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import Sizes


def _scale(lower: OnnxLowering, weight: Tensor | None, sizes: Sizes, x: Tensor) -> Tensor:
    """A factor of the type of ``x``; ones where there is none."""
    return lower.splat(1, sizes, x.dtype) if weight is None else lower.cast(weight, x.dtype)


@lowers("aten.layer_norm", "aten.native_layer_norm")
def layer_norm(
    lower: OnnxLowering,
    x: Tensor,
    shape: Sizes,
    weight: Tensor | None,
    bias: Tensor | None,
    epsilon: float,
    *_: bool,
) -> list[Tensor]:
    """The elements of the last dimensions less their mean, over their deviation; half floats in f32.

    As results of their own, if there are so many, the means and the inverse deviations.
    """
    x = lower.cast(x, widened(lower.out.dtype))
    if dims.product(x.sizes) == 0:
        return [lower.splat(0, result.sizes, result.dtype) for result in lower.results]
    scale = _scale(lower, weight, shape, x)
    shift = None if bias is None else lower.cast(bias, x.dtype)
    kept = x.rank - len(shape)
    statistics = ResultType((*x.sizes[:kept], *[1] * len(shape)), widened(x.dtype))
    results = [ResultType(x.sizes, x.dtype), statistics, statistics][: len(lower.results)]
    found = lower.nodes(
        "LayerNormalization", [x, scale, shift], results, axis=kept - x.rank, epsilon=epsilon
    )
    return [lower.cast(t, r.dtype) for t, r in zip(found, lower.results, strict=True)]


@lowers("aten.rms_norm")
def rms_norm(
    lower: OnnxLowering,
    x: Tensor,
    shape: Sizes,
    weight: Tensor | None,
    epsilon: float | None,
) -> Tensor:
    """The elements over the root of their mean square; without an epsilon, that of the type."""
    dtype, x = lower.out.dtype, lower.cast(x, widened(lower.out.dtype))
    least = _EPSILONS[bit_width(x.dtype)] if epsilon is None else epsilon
    scale = _scale(lower, weight, shape, x)
    axis = -len(shape)
    operands = (x, scale)
    options = {"axis": axis, "epsilon": least}
    result = lower.node("RMSNormalization", *operands, sizes=x.sizes, dtype=x.dtype, **options)
    return lower.cast(result, dtype)


_EPSILONS = {32: 2.0**-23, 64: 2.0**-52}
"""The distance from 1 to the next float, by width."""


@lowers("aten.group_norm")
def group_norm(
    lower: OnnxLowering,
    x: Tensor,
    groups: int,
    weight: Tensor | None,
    bias: Tensor | None,
    epsilon: float,
    _: bool,
) -> Tensor:
    """Groups of channels of each sample normalized, channels scaled; half floats in f32.

    Each group is an instance. ``GroupNormalization`` is a function, whose variance is that of the squares less that of
    the mean: ONNX Runtime, which has no kernel for it, makes NaN of what varies little around a large mean.
    """
    dtype, x = lower.out.dtype, lower.cast(x, widened(lower.out.dtype))
    samples, channels, *places = x.sizes
    if any(map(lower.depends_on_data, places)):
        lower.fail("ONNX Runtime dies of a group norm of nothing, and elements decide its size")
    many = dims.floordiv(dims.product([channels, *places]), groups)
    ones, zeros = (lower.splat(value, (groups,), x.dtype) for value in (1, 0))
    instances = lower.reshape(x, (samples, groups, many))
    result = lower.node(
        "InstanceNormalization",
        *(instances, ones, zeros),
        sizes=instances.sizes,
        dtype=x.dtype,
        epsilon=epsilon,
    )
    result = lower.reshape(result, x.sizes)
    for op, factor in (("Mul", weight), ("Add", bias)):
        if factor is not None:
            each = lower.reshape(lower.cast(factor, x.dtype), (channels, *[1] * len(places)))
            result = lower.node(op, result, each, sizes=x.sizes, dtype=x.dtype)
    return lower.cast(result, dtype)


@lowers("aten.batch_norm")
def batch_norm(
    lower: OnnxLowering,
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor,
    variance: Tensor,
    training: bool,
    momentum: float,
    epsilon: float,
    _: bool,
) -> Tensor:
    """Channels normalized by what is known of them, in inference; half floats in f32."""
    dtype, x = lower.out.dtype, lower.cast(x, widened(lower.out.dtype))
    channels = (x.sizes[1],)
    scale = _scale(lower, weight, channels, x)
    shift = lower.splat(0, channels, x.dtype) if bias is None else lower.cast(bias, x.dtype)
    statistics = (lower.cast(each, x.dtype) for each in (mean, variance))
    operands = (x, scale, shift, *statistics)
    result = lower.node(
        "BatchNormalization", *operands, sizes=x.sizes, dtype=x.dtype, epsilon=epsilon
    )
    return lower.cast(result, dtype)


@lowers("aten._native_batch_norm_legit_no_training")
def native_batch_norm(
    lower: OnnxLowering,
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor,
    variance: Tensor,
    momentum: float,
    epsilon: float,
) -> list[Tensor]:
    """The same, and two tensors without elements."""
    result = batch_norm(lower, x, weight, bias, mean, variance, False, momentum, epsilon, False)
    return [result, *(lower.splat(0, r.sizes, r.dtype) for r in lower.results[1:])]
