"""Writing elements to positions that tensors tell, in ONNX: one ``ScatterElements`` or ``ScatterND`` each.

Of several elements for one position any may win, as in PyTorch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import highest, lowest, si64, widened
from torch2mlir.conversion.lowering import Operand, Tensor
from torch2mlir.conversion.torch_to_onnx.indexing import as_position, as_vector, positions
from torch2mlir.conversion.torch_to_onnx.lowering import OnnxLowering, lowers, si32
from torch2mlir.conversion.torch_to_onnx.words import ui8
from torch2mlir.dialects.torch.dims import KnownSize

REDUCTIONS = {"sum": "add", "prod": "mul", "amax": "max", "amin": "min"}
"""PyTorch's reductions in ONNX's names."""


def _along(
    lower: OnnxLowering,
    x: Tensor,
    dim: int,
    index: Tensor,
    source: Operand,
    reduction: str | None = None,
) -> Tensor:
    """``x[i, index[i, j, k], k] = source[i, j, k]`` for ``dim == 1``, or ``+=`` and its like; half floats in f32."""
    shape, dtype = x.sizes, x.dtype
    computed = _combined_in(x, reduction)
    x, index = as_vector(lower, lower.cast(x, computed)), as_vector(lower, index)
    axis = dim
    if isinstance(source, Tensor):
        whole = as_vector(lower, lower.cast(source, computed))
        updates = lower.slice(whole, [0] * x.rank, index.sizes, [1] * x.rank)
    else:
        updates = lower.splat(source, index.sizes, computed)
    place = as_position(lower, index)

    def write(x: Tensor, updates: Tensor, reduction: str | None = reduction) -> Tensor:
        options = {"axis": axis, "reduction": reduction}
        operands = (x, place, updates)
        return lower.node("ScatterElements", *operands, sizes=x.sizes, dtype=x.dtype, **options)

    if reduction in ("max", "min") and element_types.is_float(computed):
        result = _extremum(lower, x, updates, write, reduction)
    else:
        result = write(x, updates)
    return lower.cast(lower.reshape(result, shape), dtype)


def _extremum(
    lower: OnnxLowering, x: Tensor, updates: Tensor, write: Callable[..., Tensor], reduction: str
) -> Tensor:
    """An extremum that is NaN where an element is, of which ONNX says nothing: NaNs are written by themselves."""
    neutral = {"max": lowest, "min": highest}[reduction](x.dtype)
    undefined = [lower.apply("IsNaN", each, dtype=i1) for each in (x, updates)]
    numbers = (
        lower.select(nan, neutral, each) for nan, each in zip(undefined, (x, updates), strict=True)
    )
    any_nan = write(*(lower.cast(each, si32) for each in undefined), "max")
    return lower.select(lower.cast(any_nan, i1), math.nan, write(*numbers))


def _combined_in(x: Tensor, reduction: str | None) -> Attribute:
    if reduction is None:
        return x.dtype
    return ui8 if element_types.is_bool(x.dtype) else widened(x.dtype)


@lowers("aten.scatter.src", "aten.scatter.value")
def scatter(lower: OnnxLowering, x: Tensor, dim: int, index: Tensor, source: Operand) -> Tensor:
    """``x`` with elements of the source, or one number, written along a dimension."""
    return _along(lower, x, dim, index, source)


@lowers("aten.scatter_add")
def scatter_add(lower: OnnxLowering, x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """``x`` with elements of the source added along a dimension."""
    return _along(lower, x, dim, index, source, "add")


@lowers("aten.scatter_reduce.two")
def scatter_reduce(
    lower: OnnxLowering,
    x: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    include_self: bool,
) -> Tensor:
    """``x`` reduced with the elements of the source that point to each place."""
    return _along(lower, x, dim, index, source, REDUCTIONS[reduce])


# whole slices


@lowers("aten.index_put")
def index_put(
    lower: OnnxLowering,
    x: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
    accumulate: bool,
) -> Tensor:
    """``x`` with ``x[indices] = values``, or ``+=``; the indices and the values broadcast."""
    reduction = "add" if accumulate else None
    dtype, computed = x.dtype, _combined_in(x, reduction)
    at = positions(lower, x, indices)
    places = at.indices
    if len(at.axes) == 1:
        places = lower.reshape(lower.cast(places, si64), (*at.sizes, 1))
    turned = lower.transpose(lower.cast(x, computed), at.to_front(x))
    order = at.indexed_order(x)
    in_front: tuple[KnownSize, ...] = (*at.sizes, *turned.sizes[len(at.axes) :])
    updates = lower.broadcast_to(lower.cast(values, computed), [in_front[d] for d in order])
    updates = lower.transpose(updates, _inverse(order))
    result = lower.node(
        "ScatterND",
        turned,
        places,
        updates,
        sizes=turned.sizes,
        dtype=computed,
        reduction=reduction,
    )
    return lower.cast(lower.transpose(result, _inverse(at.to_front(x))), dtype)


def _inverse(permutation: Sequence[int]) -> list[int]:
    return sorted(range(len(permutation)), key=permutation.__getitem__)
