"""``concats-of-parts``: a part of a tensor behind another part of it, negated, is read for itself.

IREE 3.13 takes ``torch.cat([-x[:, n // 2:], x[:, :n // 2]], 1)``, from a rotary embedding, for one loop that swaps the
halves of a row and negates one. It knows it by the ops and the shapes alone: any two parts of half a row are these
halves to it, ``[-x[:, 1::2], x[:, ::2]]`` and ``[-x[:, :4], x[:, 4:]]`` too. Where there is more than these two in the
result, joined or written in place (``y[:, :2] = -x[:, 2:4]; y[:, 2:4] = x[:, :2]``), they are halves of all of it, on
every dialect. A barrier keeps those apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import product

from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.ir import Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects import linalg
from torch2mlir.dialects.tensors import integer, shape_of
from torch2mlir.engine_passes.kept_apart import keep_apart
from torch2mlir.engine_passes.op_kinds import RESHAPES, SLICES


class ConcatsOfPartsPass(PassForOps):
    """See the module's docstring."""

    name = "concats-of-parts"
    looks_for = SLICES

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _keep_beside_negated(op)
        for each in [each for each in op.walk() if isinstance(each, tensor.ConcatOp)]:
            if len(each.operands) != 2:
                continue
            first, second = _negated(each.operands[0]), _part(each.operands[1])
            if first is None or second is None or first.source is not second.source:
                continue
            if not _are_swapped_halves(each, first, second):
                keep_apart(second.result)


def _keep_beside_negated(module: ModuleOp) -> None:
    """Keeps parts of tensors apart of which other parts of the same sizes are negated, but for halves of rows."""
    by_source = defaultdict[SSAValue, list[Operation]](list)
    for op in module.walk():
        if op.name in SLICES:
            by_source[_source(op)].append(op)
    for source, parts in by_source.items():
        negated = [part for part in parts if any(map(_is_negation, _users(part.results[0])))]
        kept = set[Operation]()
        for part, other in product(parts, negated):
            is_like_it = shape_of(part.results[0]) == shape_of(other.results[0])
            if part is other or part in kept or not is_like_it:
                continue
            if not (_is_half_of_rows(part, source) and _is_half_of_rows(other, source)):
                kept.add(part)
                keep_apart(part.results[0])


def _source(part: Operation) -> SSAValue:
    """What a part is a part of, or of which it is a part of a part."""
    source = part.operands[0]
    while isinstance(source.owner, Operation) and source.owner.name in SLICES:
        source = source.owner.operands[0]
    return source


def _is_half_of_rows(part: Operation, source: SSAValue) -> bool:
    """Whether a part is known to be half of all rows."""
    sizes, whole = shape_of(part.results[0]), shape_of(source)
    if not whole or len(sizes) != len(whole) or sizes[-1] * 2 != whole[-1]:
        return False
    unknown = iter(part.sizes if isinstance(part, tensor.ExtractSliceOp) else ())
    return all(
        _is_size_of(next(unknown, source), source, axis)
        if size == DYNAMIC_INDEX
        else size == whole[axis]
        for axis, size in enumerate(sizes[:-1])
    )


def _users(value: SSAValue) -> Iterator[Operation]:
    """The ops that read a value, or that with another shape."""
    for use in value.uses:
        if use.operation.name in RESHAPES:
            yield from _users(use.operation.results[0])
        else:
            yield use.operation


def _is_negation(op: Operation) -> bool:
    if isinstance(op, linalg.GenericOp):
        return any(isinstance(each, arith.NegfOp) for each in op.body.block.ops)
    return op.name in ("stablehlo.negate", "tosa.negate")


def _negated(value: SSAValue) -> tensor.ExtractSliceOp | None:
    """The part of which a value is the negative."""
    op = _behind_reshapes(value)
    if not isinstance(op, linalg.GenericOp) or len(op.inputs) != 1:
        return None
    return _part(op.inputs[0]) if _is_negation(op) else None


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
