"""Reductions in StableHLO: ``reduce`` with the neutral element, pairs for indices, windows for running sums."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Region, SSAValue

from torch2mlir.conversion import promotion
from torch2mlir.conversion.lowering import Number, Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering, lowers
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.torch import dims as sizes_of


def lowest(dtype: object) -> Number:
    """What every element is at least."""
    if promotion.is_float(dtype):  # type: ignore[arg-type]
        return float("-inf")
    unsigned = promotion.is_unsigned(dtype)  # type: ignore[arg-type]
    return 0 if unsigned else -(2 ** (promotion.bit_width(dtype) - 1))  # type: ignore[arg-type]


def highest(dtype: object) -> Number:
    """What every element is at most."""
    if promotion.is_float(dtype):  # type: ignore[arg-type]
        return float("inf")
    bits = promotion.bit_width(dtype) - (0 if promotion.is_unsigned(dtype) else 1)  # type: ignore[arg-type]
    return 2**bits - 1


def _over(lower: StablehloLowering, x: Tensor, dims: Sequence[int] | int | None) -> list[int]:
    return lower.dims(dims, x.rank) if x.rank else []


@lowers("aten.sum.dim_IntList")
def sum_(
    lower: StablehloLowering,
    x: Tensor,
    dims: Sequence[int] | None,
    keepdim: bool,
    dtype: int | None,
) -> Tensor:
    """Half precision sums in f32, as PyTorch."""
    return lower.reduce(
        hlo.AddOp, lower.operand(x, lower.out.dtype), _over(lower, x, dims), 0, keepdim
    )


@lowers("aten.mean.dim")
def mean(
    lower: StablehloLowering,
    x: Tensor,
    dims: Sequence[int] | None,
    keepdim: bool,
    dtype: int | None,
) -> Tensor:
    """The sum over the number of elements; half precision in f32."""
    over = _over(lower, x, dims)
    computed = lower.widened(lower.out.dtype)
    total = lower.reduce(hlo.AddOp, lower.operand(x, computed), over, 0, keepdim)
    count = lower.splat(sizes_of.product([x.sizes[d] for d in over]), total.sizes, computed)
    return lower.cast(lower.op(hlo.DivOp, [total, count], total.sizes, computed), lower.out.dtype)


@lowers("aten.prod.dim_int")
def prod(lower: StablehloLowering, x: Tensor, dim: int, keepdim: bool, dtype: int | None) -> Tensor:
    """The product along one dimension."""
    return lower.reduce(
        hlo.MulOp, lower.operand(x, lower.out.dtype), _over(lower, x, dim), 1, keepdim
    )


@lowers("aten.amax")
def amax(lower: StablehloLowering, x: Tensor, dims: Sequence[int], keepdim: bool) -> Tensor:
    """The largest element; NaN wins."""
    return lower.reduce(hlo.MaxOp, x, _over(lower, x, dims), lowest(x.dtype), keepdim)


@lowers("aten.amin")
def amin(lower: StablehloLowering, x: Tensor, dims: Sequence[int], keepdim: bool) -> Tensor:
    """The smallest element; NaN wins."""
    return lower.reduce(hlo.MinOp, x, _over(lower, x, dims), highest(x.dtype), keepdim)


@lowers("aten.any.dims")
def any_(lower: StablehloLowering, x: Tensor, dims: Sequence[int] | None, keepdim: bool) -> Tensor:
    """Whether any element is not zero."""
    result = lower.reduce(
        hlo.OrOp, lower.operand(x, lower.bool), _over(lower, x, dims), False, keepdim
    )
    return lower.cast(result, lower.out.dtype)


@lowers("aten.all.dims")
def all_(lower: StablehloLowering, x: Tensor, dims: Sequence[int] | None, keepdim: bool) -> Tensor:
    """Whether all elements are not zero."""
    result = lower.reduce(
        hlo.AndOp, lower.operand(x, lower.bool), _over(lower, x, dims), True, keepdim
    )
    return lower.cast(result, lower.out.dtype)


def _extreme(
    lower: StablehloLowering, x: Tensor, dim: int, keepdim: bool, largest: bool
) -> tuple[Tensor, Tensor]:
    """The extreme along a dimension and the index where it is first; NaN is more extreme than any number."""
    index = lower.iota(x.sizes, dim, lower.si64)
    start = lowest(x.dtype) if largest else highest(x.dtype)
    kept = [size for axis, size in enumerate(x.sizes) if axis != dim]
    inits = [lower.splat(start, (), x.dtype), lower.splat(0, (), lower.si64)]
    types = [lower.tensor_type(kept, x.dtype), lower.tensor_type(kept, lower.si64)]
    reduced = lower.emit(
        hlo.ReduceOp,
        [x.value, index.value, *(init.value for init in inits)],
        types,
        {"dimensions": hlo.i64_array([dim])},
        [_extreme_body(lower, x, "GT" if largest else "LT")],
    )
    shape = [1 if axis == dim else size for axis, size in enumerate(x.sizes)] if keepdim else kept
    values = Tensor(reduced.results[0], tuple(kept), x.dtype)
    indices = Tensor(reduced.results[1], tuple(kept), lower.si64)
    return lower.reshape(values, shape), lower.reshape(indices, shape)


def _extreme_body(lower: StablehloLowering, x: Tensor, direction: str) -> Region:
    value, index = lower.tensor_type((), x.dtype), lower.tensor_type((), lower.si64)

    def build(a: SSAValue, i: SSAValue, b: SSAValue, j: SSAValue) -> list[SSAValue]:
        left, right = Tensor(a, (), x.dtype), Tensor(b, (), x.dtype)
        first, second = Tensor(i, (), lower.si64), Tensor(j, (), lower.si64)
        earlier = lower.compare("LT", first, second)
        ties = lower.logical(hlo.AndOp, lower.compare("EQ", left, right), earlier)
        chosen = lower.logical(hlo.OrOp, lower.compare(direction, left, right), ties)
        if promotion.is_float(x.dtype):
            is_nan = lower.compare("NE", left, left)
            other_is_number = lower.compare("EQ", right, right)
            wins = lower.logical(hlo.OrOp, other_is_number, earlier)
            chosen = lower.logical(hlo.OrOp, chosen, lower.logical(hlo.AndOp, is_nan, wins))
        return [lower.select(chosen, *pair).value for pair in ((left, right), (first, second))]

    return lower.region([value, index, value, index], build)


@lowers("aten.max.dim")
def max_dim(lower: StablehloLowering, x: Tensor, dim: int, keepdim: bool) -> tuple[Tensor, Tensor]:
    """The largest elements and their first indices."""
    return _along(lower, x, dim, keepdim, True)


@lowers("aten.min.dim")
def min_dim(lower: StablehloLowering, x: Tensor, dim: int, keepdim: bool) -> tuple[Tensor, Tensor]:
    """The smallest elements and their first indices."""
    return _along(lower, x, dim, keepdim, False)


def _along(
    lower: StablehloLowering, x: Tensor, dim: int, keepdim: bool, largest: bool
) -> tuple[Tensor, Tensor]:
    if x.rank == 0:
        return x, lower.splat(0, (), lower.si64)
    return _extreme(lower, x, lower.dim(dim, x.rank), keepdim, largest)


@lowers("aten.argmax")
def argmax(lower: StablehloLowering, x: Tensor, dim: int | None, keepdim: bool) -> Tensor:
    """The first index of the largest element; of the flattened tensor without ``dim``."""
    return _arg(lower, x, dim, keepdim, True)


@lowers("aten.argmin")
def argmin(lower: StablehloLowering, x: Tensor, dim: int | None, keepdim: bool) -> Tensor:
    """The first index of the smallest element; of the flattened tensor without ``dim``."""
    return _arg(lower, x, dim, keepdim, False)


def _arg(
    lower: StablehloLowering, x: Tensor, dim: int | None, keepdim: bool, largest: bool
) -> Tensor:
    if dim is None:
        flat = lower.reshape(x, (sizes_of.product(x.sizes),))
        return lower.reshape(_extreme(lower, flat, 0, False, largest)[1], lower.out.sizes)
    return _along(lower, x, dim, keepdim, largest)[1]


@lowers("aten.cumsum")
def cumsum(lower: StablehloLowering, x: Tensor, dim: int, dtype: int | None) -> Tensor:
    """Running sums: a window that reaches back to the start, or a triangular product where its length varies."""
    x = lower.operand(x, lower.out.dtype)
    if x.rank == 0:
        return x
    dim = lower.dim(dim, x.rank)
    length = x.sizes[dim]
    if not isinstance(length, int):
        return _cumsum_by_product(lower, x, dim)
    if length == 0:
        return x
    low = [length - 1 if axis == dim else 0 for axis in range(x.rank)]
    window = [length if axis == dim else 1 for axis in range(x.rank)]
    return lower.reduce_window(
        hlo.AddOp, x, 0, window, padding=[(edge, 0) for edge in low], sizes=x.sizes
    )


def _cumsum_by_product(lower: StablehloLowering, x: Tensor, dim: int) -> Tensor:
    square = (x.sizes[dim], x.sizes[dim])
    row, column = (lower.iota(square, axis, lower.si64) for axis in (0, 1))
    lower_triangle = lower.cast(lower.compare("GE", row, column), x.dtype)
    last = [axis for axis in range(x.rank) if axis != dim] + [dim]
    moved = lower.transpose(x, last)
    summed = lower.dot(moved, lower_triangle, contracting=(x.rank - 1, 1))
    return lower.transpose(summed, [last.index(axis) for axis in range(x.rank)])
