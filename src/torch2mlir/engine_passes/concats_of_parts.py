"""``concats-of-parts``: a part of a tensor behind another part of it, negated, is read for itself.

IREE 3.13 takes ``torch.cat([-x[:, n // 2:], x[:, :n // 2]], 1)``, from a rotary embedding, for one loop that swaps the
halves of a row and negates one. It knows it by the ops and the shapes alone: any two parts of half a row are these
halves to it, ``[-x[:, 1::2], x[:, ::2]]`` and ``[-x[:, :4], x[:, 4:]]`` too. Where further parts follow, the first two
are halves of all of the result to it, on every dialect. A barrier keeps those apart.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.ir import Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects import linalg
from torch2mlir.dialects.tensors import integer, shape_of
from torch2mlir.engine_passes.kept_apart import keep_apart
from torch2mlir.engine_passes.op_kinds import JOINS, RESHAPES, SLICES


class ConcatsOfPartsPass(PassForOps):
    """See the module's docstring."""

    name = "concats-of-parts"
    looks_for = JOINS

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if each.name in JOINS]:
            if len(each.operands) > 2:
                self._keep_from_several(each)
                continue
            if not isinstance(each, tensor.ConcatOp) or len(each.operands) < 2:
                continue
            first, second = _negated(each.operands[0]), _part(each.operands[1])
            if first is None or second is None or first.source is not second.source:
                continue
            if not _are_swapped_halves(each, first, second):
                keep_apart(second.result)

    def _keep_from_several(self, concat: Operation) -> None:
        """Keeps the second of several parts apart if it is of what the first is computed from, by elements."""
        first, second = (_behind_reshapes(operand) for operand in concat.operands[:2])
        if first is None or second is None or second.name not in SLICES:
            return
        parts = (_behind_reshapes(operand) for operand in first.operands)
        source = second.operands[0]
        if any(p is not None and p.name in SLICES and p.operands[0] is source for p in parts):
            keep_apart(second.results[0])


def _negated(value: SSAValue) -> tensor.ExtractSliceOp | None:
    """The part of which a value is the negative."""
    op = _behind_reshapes(value)
    if not isinstance(op, linalg.GenericOp) or len(op.inputs) != 1:
        return None
    is_negative = any(isinstance(each, arith.NegfOp) for each in op.body.block.ops)
    return _part(op.inputs[0]) if is_negative else None


def _part(value: SSAValue) -> tensor.ExtractSliceOp | None:
    op = _behind_reshapes(value)
    return op if isinstance(op, tensor.ExtractSliceOp) else None


def _behind_reshapes(value: SSAValue) -> Operation | None:
    while isinstance(value.owner, Operation) and value.owner.name in RESHAPES:
        value = value.owner.operands[0]
    return value.owner if isinstance(value.owner, Operation) else None


def _are_swapped_halves(
    concat: tensor.ConcatOp, first: tensor.ExtractSliceOp, second: tensor.ExtractSliceOp
) -> bool:
    """Whether the second half of each row comes before the first, of the whole tensor."""
    axis, whole = integer(concat.properties["dim"]), shape_of(first.source)
    if shape_of(concat.result) != whole or axis >= len(whole) or whole[axis] % 2:
        return False
    half = whole[axis] // 2
    return all(
        _is_range(part, axis, start, half) and part.result.type == concat.operands[0].type
        for part, start in ((first, half), (second, 0))
    )


def _is_range(part: tensor.ExtractSliceOp, axis: int, start: int, size: int) -> bool:
    """Whether a part is all there is but for one axis, and a known range of that."""
    whole = list(shape_of(part.source))
    places = part.static_offsets.get_values()
    sizes, steps = list(part.static_sizes.get_values()), part.static_strides.get_values()
    unknown = iter(part.sizes)
    for dim, known in enumerate(sizes):
        if known == DYNAMIC_INDEX and not _is_size_of(next(unknown), part.source, dim):
            return False
    wanted = [size if dim == axis else full for dim, full in enumerate(whole)]
    starts = [start if dim == axis else 0 for dim in range(len(whole))]
    return list(places) == starts and sizes == wanted and set(steps) == {1}


def _is_size_of(value: SSAValue, x: SSAValue, axis: int) -> bool:
    """Whether a number is the size of a tensor along an axis, as is seen where it is asked for."""
    op = value.owner
    if not isinstance(op, tensor.DimOp) or op.source is not x:
        return False
    index = op.index.owner
    return isinstance(index, arith.ConstantOp) and integer(index.value) == axis
