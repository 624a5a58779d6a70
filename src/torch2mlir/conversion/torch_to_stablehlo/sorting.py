"""Sorting in StableHLO: one ``sort`` of the elements and, where somebody asks for them, their positions."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects.builtin import BoolAttr, f32, i32
from xdsl.ir import Attribute, Region, SSAValue

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import si32, si64
from torch2mlir.conversion.expressions import Expr, precedes
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering, lowers
from torch2mlir.dialects import chlo
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.torch.dims import KnownSize


@lowers("aten.sort.stable")
def sort(
    lower: StablehloLowering, x: Tensor, stable: bool | None, dim: int, descending: bool
) -> list[Tensor | None]:
    """The elements along a dimension in order, and where each was; NaN is beyond all numbers."""
    if x.rank == 0:
        return [x, lower.splat(0, (), si64)]
    axis = dim
    tensors = [x, lower.iota(x.sizes, axis, si64)] if lower.used[1] else [x]
    emitted = lower.emit(
        hlo.SortOp,
        [t.value for t in tensors],
        [t.value.type for t in tensors],
        {"dimension": hlo.i64_attr(axis), "is_stable": BoolAttr.from_bool(True)},
        [_comparator(lower, [t.dtype for t in tensors], descending)],
    )
    results = [Tensor(r, t.sizes, t.dtype) for r, t in zip(emitted.results, tensors, strict=True)]
    return [*results, *[None] * (2 - len(results))]


@lowers("aten.topk")
def topk(
    lower: StablehloLowering, x: Tensor, k: KnownSize, dim: int, largest: bool, ordered: bool
) -> Sequence[Tensor | None]:
    """The first ``k`` elements along a dimension in order, and where each was."""
    sizes = lower.results[0].sizes
    axis = dim % x.rank if x.rank else 0
    is_narrow = element_types.is_float(x.dtype) and element_types.bit_width(x.dtype) <= 32
    # two of one shape that nobody knows are one to IREE
    is_known = all(isinstance(size, int) and size for size in (*sizes, *x.sizes))
    if x.rank and is_narrow and isinstance(k, int) and is_known:
        return _top(lower, x, k, axis, largest)
    every = sort(lower, x, True, axis, largest)
    if x.rank == 0:
        return every
    return [each and lower.section(each, axis, 0, sizes[axis]) for each in every]


def _top(lower: StablehloLowering, x: Tensor, k: int, axis: int, largest: bool) -> list[Tensor]:
    """``chlo.top_k``, whose order is that of the bits: of NaNs there is one here, and of zeros, and it is the first."""
    order = [*(d for d in range(x.rank) if d != axis), axis]
    lines = lower.transpose(x, order)
    keys = lower.cast(lines, f32)
    keys = lower.select(lower.compare("eq", keys, 0.0), 0.0, keys)
    keys = lower.select(lower.compare("ne", keys, keys), math.nan, keys)
    keys = keys if largest else lower.apply(hlo.NegOp, keys)
    sizes = (*lines.sizes[:-1], k)
    types = [lower.tensor_type(sizes, dtype) for dtype in (f32, i32)]
    op = lower.emit(chlo.TopKOp, [keys.value], types, {"k": hlo.i64_attr(k)})
    places = lower.cast(Tensor(op.results[1], sizes, si32), si64)
    values = lower.take_elements(lines, x.rank - 1, places)
    back = [order.index(d) for d in range(x.rank)]
    return [lower.transpose(values, back), lower.transpose(places, back)]


def _comparator(lower: StablehloLowering, dtypes: list[Attribute], descending: bool) -> Region:
    """Whether the first of two elements has to come first; what is sorted along does not matter."""

    def build(*values: SSAValue) -> list[SSAValue]:
        x, y = (Expr(lower.words, Tensor(value, (), dtypes[0])) for value in values[:2])
        return [precedes(x, y, descending).value.value]

    types = [lower.tensor_type((), dtype) for dtype in dtypes for _ in range(2)]
    return lower.region(types, build)
