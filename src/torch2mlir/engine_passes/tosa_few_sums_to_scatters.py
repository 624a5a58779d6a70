"""``tosa-few-sums-to-scatters``: few rows added at positions that may come twice become a loop over them on IREE.

``tosa.scatter`` takes no index twice, so the lowering compares the indices with each other, adds the rows of equal ones
up in a product with what it finds, and writes the sums; those of an index that came before go behind the values, from
where they are cut off. That is the square of the number of rows: 512 of them take 7 times the time of eager mode. The
loop over rows that Linalg has for it is linear, and adds them up in their order.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType, ModuleOp
from xdsl.ir import Operation, SSAValue

from torch2mlir.contract.element_types import si64
from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.conversion.lowering import Scalar, Tensor
from torch2mlir.conversion.torch_to_linalg.lowering import LinalgLowering
from torch2mlir.conversion.torch_to_linalg.scalars import Scalars
from torch2mlir.conversion.torch_to_linalg.scatter import combined_rows
from torch2mlir.dialects import tosa
from torch2mlir.dialects.tensors import element_of, integers, shape_of
from torch2mlir.engine_passes.in_place_of import as_tensor, replace
from torch2mlir.engine_passes.tosa_hits_to_scatters import (
    apart,
    axis_of,
    counts_up,
    is_static,
    number_of,
    sums_of_rows,
    uncast,
)


class _Sums(NamedTuple):
    """``values [N, K, C]``, and the rows ``[N, W, C]`` of the sums' type that are added at ``positions [N, W]``."""

    values: SSAValue
    positions: SSAValue
    rows: SSAValue


class TosaFewSumsToScattersPass(PassForOps):
    """See the module's docstring."""

    name = "tosa-few-sums-to-scatters"
    looks_for = frozenset({tosa.ScatterOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if isinstance(each, tosa.SliceOp)]:
            if (found := _found(each)) is not None:
                replace(each, partial(_added, found=found), "linalg-on-tensors")


def _found(cut: Operation) -> _Sums | None:
    """What a slice cuts off from, if that is such sums and places behind them."""
    written = cut.operands[0].owner
    if not isinstance(written, tosa.ScatterOp) or not all(map(is_static, written.operands)):
        return None
    longer, choice = written.operands[0].owner, uncast(written.operands[1]).owner
    if not isinstance(longer, tosa.PadOp) or not isinstance(choice, tosa.SelectOp):
        return None
    values, (again, behind, index) = longer.operands[0], choice.operands
    if not is_static(index) or (len(shape_of(values)), len(shape_of(index))) != (3, 2):
        return None
    (_, places, _), (_, count) = shape_of(values), shape_of(index)
    if (
        shape_of(cut.results[0]) != shape_of(values)
        or _sizes(cut.operands[1]) != [0, 0, 0]
        or _sizes(longer.operands[1]) != [0, 0, 0, count, 0, 0]
        or not _is_again(again, index)
        or not _is_behind(behind, places, count)
    ):
        return None
    rows = _rows_of_sums(written.operands[2], values, index)
    return None if rows is None else _Sums(values, index, rows)


def _sizes(shape: SSAValue) -> list[int] | None:
    op = shape.owner
    return list(integers(op.properties["values"])) if isinstance(op, tosa.ConstShapeOp) else None


def _rows_of_sums(total: SSAValue, values: SSAValue, index: SSAValue) -> SSAValue | None:
    """The rows of which those of one index are added up with each other and with the value that is there."""
    addition = _before_cast(total).owner
    if not isinstance(addition, tosa.AddOp):
        return None
    old, sums = _before_cast(addition.operands[0]).owner, sums_of_rows(addition.operands[1].owner)
    if (
        isinstance(old, tosa.GatherOp)
        and sums is not None
        and old.operands[0] is values
        and _root(old.operands[1]) is _root(index)
        and _compares_with_itself(sums.chosen, index)
    ):
        return sums.rows
    return None


def _before_cast(value: SSAValue) -> SSAValue:
    return value.owner.operands[0] if isinstance(value.owner, tosa.CastOp) else value


def _root(value: SSAValue) -> SSAValue:
    """What an index is a reshape of, or the same in another wide type."""
    while isinstance(value.owner, tosa.ReshapeOp | tosa.CastOp):
        element = element_of(value)
        if not isinstance(element, IntegerType) or element.width.data < 32:
            break
        value = value.owner.operands[0]
    return value


def _compares_with_itself(same: SSAValue, index: SSAValue) -> bool:
    """Whether ``[N, W, W]`` says which indices are equal."""
    op, (batches, count) = same.owner, shape_of(index)
    return (
        isinstance(op, tosa.EqualOp)
        and [tuple(shape_of(x)) for x in op.operands] == [(batches, count, 1), (batches, 1, count)]
        and all(_root(x) is _root(index) for x in op.operands)
    )


def _is_again(again: SSAValue, index: SSAValue) -> bool:
    """Whether it says of which indices an equal one comes before."""
    while isinstance(again.owner, tosa.ReshapeOp):
        again = again.owner.operands[0]
    any_op = again.owner
    if not isinstance(any_op, tosa.ReduceAnyOp) or axis_of(any_op) != 2:
        return False
    both, count = any_op.operands[0].owner, shape_of(index)[1]
    if not isinstance(both, tosa.LogicalAndOp):
        return False
    same, earlier = both.operands
    order = earlier.owner
    return (
        _compares_with_itself(same, index)
        and isinstance(order, tosa.GreaterOp)
        and [tuple(shape_of(x)) for x in order.operands] == [(1, count, 1), (1, 1, count)]
        and all(counts_up(x, count) for x in order.operands)
    )


def _is_behind(behind: SSAValue, places: int, count: int) -> bool:
    """Whether it counts on from the number of places."""
    op = behind.owner
    return (
        isinstance(op, tosa.AddOp)
        and counts_up(op.operands[0], count)
        and number_of(op.operands[1]) == places
    )


def _added(lower: LinalgLowering, found: _Sums) -> list[Tensor]:
    values, index, rows = map(as_tensor, found)
    (batches, places, width), count = shape_of(found.values), shape_of(found.positions)[1]

    def place(s: Scalars, position: Scalar) -> Scalar:
        wide = s.cast(position, si64)
        inside = s("min", s("max", wide, 0), places - 1)
        return s("add", s("mul", s.cast(s.index(0), si64), places), inside)

    at = lower.compute(place, [(index, range(2))], index.sizes, si64)
    at = lower.reshape(at, [batches * count, 1])
    begin = lower.reshape(lower.cast(values, rows.dtype), [batches * places, width])
    flat = lower.reshape(rows, [batches * count, width])
    sums = combined_rows(lower, begin, apart(lower, at), apart(lower, flat), "add")
    return [lower.cast(lower.reshape(sums, values.sizes), values.dtype)]
