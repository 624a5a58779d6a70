"""Sorting in TOSA, which has no word for it: an element's place is the number of elements that come before it."""

from __future__ import annotations

from xdsl.ir import Attribute

from torch2mlir.conversion import promotion
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.promotion import si64
from torch2mlir.conversion.torch_to_tosa.casts import computed_dtype, si32
from torch2mlir.conversion.torch_to_tosa.expressions import Expr
from torch2mlir.conversion.torch_to_tosa.indexing import lines_of
from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering, lowers
from torch2mlir.dialects import tosa
from torch2mlir.dialects.torch import dims

MOST_COMPARISONS = 1 << 28
"""What one sort may compare; each comparison is an element of a tensor."""


@lowers("aten.sort.stable")
def sort(
    lower: TosaLowering, x: Tensor, stable: bool | None, dim: int, descending: bool
) -> tuple[Tensor, Tensor]:
    """The elements along a dimension in order, and where each was; NaN is beyond all numbers."""
    if x.rank == 0 or 0 in x.sizes:
        return x, lower.splat(0, x.sizes, si64)
    lines = lines_of(lower, x, dim)
    values = lines.of(lower.cast(x, computed_dtype(x.dtype)))
    comparisons = dims.mul(dims.product(values.sizes), values.sizes[1])
    if isinstance(comparisons, int) and comparisons > MOST_COMPARISONS:
        lower.fail(
            f"sorting would compare {comparisons} pairs at once; TOSA has no sort",
            "choose another dialect, or sort fewer elements",
        )
    places = _places(lower, values, descending)
    found = _inverse(lower, places, si64 if values.dtype == si64 else si32)
    ordered = lower.gather(lower.reshape(values, (*values.sizes, 1)), found)
    sizes = x.sizes
    return (
        lower.cast(lines.back(ordered, sizes), x.dtype),
        lower.cast(lines.back(found, sizes), si64),
    )


def _places(lower: TosaLowering, values: Tensor, descending: bool) -> Tensor:
    """How many elements of its line ``[N, K]`` come before each element."""
    count, length = values.sizes
    element = Expr(lower, lower.reshape(values, (count, length, 1)))
    rival = Expr(lower, lower.reshape(values, (count, 1, length)))
    columns = Expr(lower, lower.iota((1, 1, length), 2, si32))
    rows = Expr(lower, lower.iota((1, length, 1), 1, si32))
    before = _precedes(rival, element, descending)
    tied = ~_precedes(element, rival, descending) & (columns < rows)
    counted = lower.cast((before | tied).tensor, si32)
    return lower.reshape(lower.reduce(tosa.ReduceSumOp, counted, [2]), (count, length))


def _inverse(lower: TosaLowering, places: Tensor, dtype: Attribute) -> Tensor:
    """For each place of a line ``[N, K]`` the position of the element that goes there, in the type a gather takes."""
    count, length = places.sizes
    rows, columns = lower.iota((1, length, 1), 1, si32), lower.iota((1, 1, length), 2, dtype)
    going = lower.reshape(places, (count, 1, length))
    here = lower.compare(tosa.EqualOp, rows, going)
    positions = lower.select(here, columns, lower.splat(0, (1, 1, 1), dtype))
    return lower.reshape(lower.reduce(tosa.ReduceSumOp, positions, [2]), (count, length))


def _precedes(x: Expr, y: Expr, descending: bool) -> Expr:
    """Whether the order of values alone puts ``x`` before ``y``."""
    lesser, greater = (y, x) if descending else (x, y)
    less = greater > lesser
    if not promotion.is_float(x.tensor.dtype):
        return less
    return less | (lesser.equals(lesser) & ~greater.equals(greater))
