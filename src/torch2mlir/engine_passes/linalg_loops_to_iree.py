"""``linalg-loops-to-iree``: loops over rows become ``iree_linalg_ext.scatter`` and ``iree_linalg_ext.scan``.

What is looked for are the loops of ``torch_to_linalg``: in ``scatter.py`` each row is combined with the one at its
position by a ``linalg.generic``, in ``reduction.py`` each slice of a dimension with what is reached. IREE runs
a loop as dispatches of a row each and these ops as one, hundreds of times faster. A loop that differs stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

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
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects import iree_linalg_ext, linalg, tensor_ext
from torch2mlir.dialects.tensors import integers, shape_of
from torch2mlir.engine_passes.beside import Beside

_SCATTER: tuple[type[Operation], ...] = (
    tensor.ExtractOp,
    arith.IndexCastOp,
    tensor.ExtractSliceOp,
    tensor.ExtractSliceOp,
    linalg.GenericOp,
    tensor.InsertSliceOp,
    scf.YieldOp,
)
_SCAN: tuple[type[Operation], ...] = (
    tensor.ExtractSliceOp,
    linalg.GenericOp,
    tensor.InsertSliceOp,
    scf.YieldOp,
)


class LinalgLoopsToIreePass(PassForOps):
    """See the module's docstring."""

    name = "linalg-loops-to-iree"
    looks_for = frozenset({scf.ForOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in [each for each in op.walk() if isinstance(each, scf.ForOp)]:
            if _constant(loop.lb) != 0 or _constant(loop.step) != 1:
                continue
            kinds = tuple(type(each) for each in loop.body.block.ops)
            if kinds == _SCATTER and len(loop.results) == 1:
                _replace_scatter(loop)
            elif kinds == _SCAN and len(loop.results) == 2:
                _replace_scan(loop)


def _replace_scatter(loop: scf.ForOp) -> None:
    found, place, old, row, combine, written, end = loop.body.block.ops
    number, carried = loop.body.block.args
    places, rows = found.operands[0], row.operands[0]
    if (
        _window(old, 0, carried, place.results[0]) == 0
        and _window(row, 0, rows, number) == 0
        and found.operands[1] is number
        and _constant(found.operands[2]) == 0
        and place.operands[0] is found.results[0]
        and _is_elementwise(combine, [row.results[0], old.results[0]])
        and written.operands[0] is combine.results[0]
        and _window(written, 1, carried, place.results[0]) == 0
        and end.operands[0] is written.results[0]
        and _has_size(places, 0, loop.ub)
    ):
        properties: dict[str, Attribute] = {
            "dimension_map": DenseArrayBase.from_list(i64, [0]),
            "unique_indices": BoolAttr.from_bool(False),
        }
        operands = [rows, places, loop.iter_args[0]]
        _replace(loop, iree_linalg_ext.ScatterOp, operands, properties, _body(combine))


def _replace_scan(loop: scf.ForOp) -> None:
    here, combine, written, end = loop.body.block.ops
    number, result, reached = loop.body.block.args
    source = here.operands[0]
    axis = _window(here, 0, source, number)
    if (
        axis is not None
        and source.type == result.type
        and _is_elementwise(combine, [here.results[0], reached])
        and written.operands[0] is combine.results[0]
        and _window(written, 1, result, number) == axis
        and list(end.operands) == [written.results[0], combine.results[0]]
        and _has_size(loop.iter_args[0], axis, loop.ub)
    ):
        properties: dict[str, Attribute] = {
            "dimension": IntegerAttr(axis, i64),
            "inclusive": BoolAttr.from_bool(True),
        }
        body = _body(combine)
        new, old = body.block.args
        swapped = [new, old]
        uses = [[*each.uses] for each in swapped]
        for which, other in zip(uses, reversed(swapped), strict=True):
            for use in which:
                use.operation.operands[use.index] = other
        _replace(loop, iree_linalg_ext.ScanOp, [source, *loop.iter_args], properties, body)


def _window(op: Operation, position: int, source: SSAValue, offset: SSAValue) -> int | None:
    """The dimension of which it reads, or writes, one place, whole slices in the others; None if it does otherwise."""
    offsets, strides, sizes = (
        list(integers(op.properties[f"static_{name}"])) for name in ("offsets", "strides", "sizes")
    )
    shape = shape_of(source)
    if (
        op.operands[position] is not source
        or len(op.operands) < position + 2
        or op.operands[position + 1] is not offset
        or sorted(offsets) != [DYNAMIC_INDEX, *[0] * (len(shape) - 1)]
        or any(stride != 1 for stride in strides)
    ):
        return None
    axis = offsets.index(DYNAMIC_INDEX)
    wanted = [1 if d == axis else size for d, size in enumerate(shape)]
    return axis if sizes == wanted else None


def _is_elementwise(op: Operation, operands: Sequence[SSAValue]) -> bool:
    """Whether it combines corresponding elements of these operands, and nothing else."""
    maps = op.properties["indexing_maps"]
    rank = len(shape_of(op.results[0]))
    return list(op.operands) == list(operands) and all(
        each.data == AffineMap.identity(rank)
        for each in maps  # type: ignore[attr-defined]
    )


def _constant(value: SSAValue) -> int | None:
    op = value.owner
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
        return op.value.value.data
    return None


def _has_size(value: SSAValue, axis: int, count: SSAValue) -> bool:
    """Whether a dimension has so many places."""
    shape = shape_of(value)
    if shape[axis] != DYNAMIC_INDEX:
        return _constant(count) == shape[axis]
    place = [d for d, size in enumerate(shape) if size == DYNAMIC_INDEX].index(axis)
    op = value.owner
    match op:
        case tensor.EmptyOp():
            return op.operands[place] is count
        case tensor_ext.ExpandShapeOp():
            return op.operands[1 + place] is count
        case linalg.GenericOp():
            return _has_size(op.operands[-1], axis, count)
    return False


def _body(combine: Operation) -> Region:
    """What is done with two elements, ended as IREE's ops are."""
    region = combine.detach_region(combine.regions[0])
    end = region.block.last_op
    assert end is not None
    region.block.insert_op_before(iree_linalg_ext.YieldOp.create(operands=[*end.operands]), end)
    end.detach()
    end.erase()
    return region


def _replace(
    loop: scf.ForOp,
    kind: type[Operation],
    operands: Sequence[SSAValue],
    properties: dict[str, Attribute],
    body: Region,
) -> None:
    before, types = Beside(loop), [value.type for value in loop.results]
    before.replace(*before.create(kind, operands, types, properties, [body]).results)
