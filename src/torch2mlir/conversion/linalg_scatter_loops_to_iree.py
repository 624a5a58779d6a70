"""``linalg-scatter-loops-to-iree``: loops that write rows to given positions become ``iree_linalg_ext.scatter``.

What is looked for is the loop of ``torch_to_linalg/scatter.py``: over the rows, each combined with the one at its
position by a ``linalg.generic``. IREE runs a loop of dispatches of a row each, and this op as one dispatch, hundreds of
times faster. A loop that differs in anything stays as it is.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BoolAttr,
    DenseArrayBase,
    IntegerAttr,
    ModuleOp,
    i64,
)
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass

from torch2mlir.dialects import iree_linalg_ext, linalg, tensor_ext

_BODY: tuple[type[Operation], ...] = (
    tensor.ExtractOp,
    arith.IndexCastOp,
    tensor.ExtractSliceOp,
    tensor.ExtractSliceOp,
    linalg.GenericOp,
    tensor.InsertSliceOp,
    scf.YieldOp,
)


class LinalgScatterLoopsToIreePass(ModulePass):
    """See the module's docstring."""

    name = "linalg-scatter-loops-to-iree"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in [each for each in op.walk() if isinstance(each, scf.ForOp)]:
            _replace(loop)


def _replace(loop: scf.ForOp) -> None:
    ops = list(loop.body.block.ops)
    if len(loop.results) != 1 or [type(op) for op in ops] != list(_BODY):
        return
    found, place, old, row, combine, written, end = ops
    number, carried = loop.body.block.args
    places, rows = found.operands[0], row.operands[0]
    is_scatter = (
        _is_row(old, carried, place.results[0])
        and _is_row(row, rows, number)
        and found.operands[1] is number
        and _constant(found.operands[2]) == 0
        and place.operands[0] is found.results[0]
        and list(combine.operands) == [row.results[0], old.results[0]]
        and all(each.data == AffineMap.identity(2) for each in combine.properties["indexing_maps"])  # type: ignore[attr-defined]
        and written.operands[0] is combine.results[0]
        and _is_window(written, carried, place.results[0], 1)
        and end.operands[0] is written.results[0]
        and _constant(loop.lb) == 0
        and _constant(loop.step) == 1
        and _is_as_many(places, loop.ub)
    )
    if is_scatter:
        _insert(loop, rows, places, combine)


def _is_row(slice: Operation, source: SSAValue, offset: SSAValue) -> bool:
    """Whether it is a row of a matrix."""
    widths = [value.type.get_shape()[1] for value in (source, slice.results[0])]  # type: ignore[attr-defined]
    return widths[0] == widths[1] and _is_window(slice, source, offset, 0)


def _is_window(op: Operation, tensor: SSAValue, offset: SSAValue, position: int) -> bool:
    """Whether it reads, or writes, at an offset along the first dimension and at 0 along the second."""
    lists = [op.properties[f"static_{name}"].get_values() for name in ("offsets", "strides")]  # type: ignore[attr-defined]
    return (
        op.operands[position] is tensor
        and op.operands[position + 1] is offset
        and lists == [(DYNAMIC_INDEX, 0), (1, 1)]
    )


def _constant(value: SSAValue) -> int | None:
    op = value.owner
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
        return op.value.value.data
    return None


def _is_as_many(places: SSAValue, count: SSAValue) -> bool:
    """Whether a tensor has so many rows."""
    size = places.type.get_shape()[0]  # type: ignore[attr-defined]
    if size != DYNAMIC_INDEX:
        return _constant(count) == size
    op = places.owner
    match op:
        case tensor.EmptyOp():
            return op.operands[0] is count
        case tensor_ext.ExpandShapeOp():
            return op.operands[1] is count
        case linalg.GenericOp():
            return _is_as_many(op.operands[-1], count)
    return False


def _insert(loop: scf.ForOp, rows: SSAValue, places: SSAValue, combine: Operation) -> None:
    """The op in place of the loop."""
    region = combine.detach_region(combine.regions[0])
    end = region.block.last_op
    block = loop.parent
    assert end is not None and block is not None
    region.block.insert_op_before(iree_linalg_ext.YieldOp.create(operands=list(end.operands)), end)
    end.detach()
    end.erase()
    scatter = iree_linalg_ext.ScatterOp.create(
        operands=[rows, places, loop.iter_args[0]],
        result_types=[loop.results[0].type],
        properties={
            "dimension_map": DenseArrayBase.from_list(i64, [0]),
            "unique_indices": BoolAttr.from_bool(False),
        },
        regions=[region],
    )
    scatter.location = loop.location
    block.insert_op_before(scatter, loop)
    loop.results[0].replace_all_uses_with(scatter.results[0])
    loop.detach()
    loop.erase()
