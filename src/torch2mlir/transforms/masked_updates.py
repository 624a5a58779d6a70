"""``torch-masked-updates``: what a mask takes out, computes on and puts back is a selection among all elements.

``x[m] = f(x[m])`` is captured as indexing by a mask, whose result has a size that depends on elements. Where ``f`` is
elementwise, ``where(m, f(x), x)`` is the same, of a size that every dialect has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType, ModuleOp, i1
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim, are_known, product
from torch2mlir.dialects.torch.ops import RegistryOp
from torch2mlir.dialects.torch.values import Values
from torch2mlir.transforms.decompositions import find_overload
from torch2mlir.transforms.folding.constants import insert_before, int_before

_PUT = "torch.aten.index_put"
_TAKE = "torch.aten.index.Tensor"
_SIZE, _AT_LEAST, _AT_MOST = "torch.aten.size.int", "torch.aten.ge.int", "torch.aten.le.int"
_DIVIDES = ("div", "floor_divide", "remainder", "fmod", "gcd", "lcm", "pow", "__rpow__")
"""Ops that integers of other elements may end the program in."""


class _Update:
    """One ``index_put`` by a mask.

    Args:
        op: it.
        mask: where it writes, and the dimension that is the mask's first.
        values: of the block.
    """

    def __init__(self, op: Operation, mask: tuple[SSAValue, int], values: Values) -> None:
        self.op, self.values = op, values
        self.mask, self.place = mask
        self.type: t.ValueTensorType = op.operands[0].type  # type: ignore[assignment]
        self._whole = dict[SSAValue, SSAValue | None]()
        self._made = list[Operation]()

    def run(self) -> bool:
        """Replaces it, if what it puts is an elementwise function of what the same mask takes."""
        whole = self.whole(self.op.operands[2])
        if whole is None:
            return False
        for made in self._made:
            insert_before(self.op, made)
        result = core.build(
            "torch.aten.where.self", [self._spread(), whole, self.op.operands[0]], [self.type]
        )
        insert_before(self.op, result)
        self.op.results[0].replace_all_uses_with(result.results[0])
        self.op.detach()
        self.op.erase()
        return True

    def whole(self, value: SSAValue) -> SSAValue | None:
        """The tensor of all elements of which a value has those that the mask takes."""
        if value not in self._whole:
            self._whole[value] = self._of_all(value)
        return self._whole[value]

    def _of_all(self, value: SSAValue) -> SSAValue | None:
        op, type = value.owner, value.type
        if not isinstance(op, RegistryOp) or not isinstance(type, t.ValueTensorType):
            return None
        if op.name == _TAKE:
            source = op.operands[0]
            mask = _mask_of(op, self.values)
            same = mask is not None and mask[1] == self.place and _is_same(mask[0], self.mask)
            return source if same and t.tensor_of(source).sizes == self.type.sizes else None
        if len(op.results) != 1 or not _is_elementwise(op):
            return None
        operands = list[SSAValue]()
        for operand in op.operands:
            whole = self._operand(operand)
            if whole is None:
                return None
            operands.append(whole)
        made = core.build(op.name, operands, [t.vtensor(self.type.sizes, type.dtype)])
        self._made.append(made)
        return made.results[0]

    def _operand(self, operand: SSAValue) -> SSAValue | None:
        """An operand of the op on all elements: one that has no dimension of what is taken is the same."""
        type = operand.type
        if not isinstance(type, t.AnyTensorType):
            return operand
        if type.sizes is None:
            return None
        sizes = self.type.sizes or ()
        behind = sizes[self.place + len(t.known_sizes(self.mask)) :]
        is_known = all(isinstance(size, int) or size in behind for size in type.sizes)
        return operand if is_known and len(type.sizes) <= len(behind) else self.whole(operand)

    def _spread(self) -> SSAValue:
        """The mask with a dimension for each behind it that it takes whole."""
        mask, sizes = self.mask, t.known_sizes(self.mask)
        for _ in range(len(self.type.sizes or ()) - len(sizes) - self.place):
            sizes = (*sizes, 1)
            last = int_before(self.op, -1)
            wider = core.build("torch.aten.unsqueeze", [mask, last], [t.vtensor(sizes, i1)])
            insert_before(self.op, wider)
            mask = wider.results[0]
        return mask


def _mask_of(op: Operation, values: Values) -> tuple[SSAValue, int] | None:
    """The boolean tensor that is an op's only index, and how many dimensions are before those it indexes."""
    indices = values.of(op.operands[1])
    if not isinstance(indices, list):
        return None
    given = [(index, place) for place, index in enumerate(indices) if index is not None]
    if len(given) != 1 or not isinstance(given[0][0], SSAValue):
        return None
    type = given[0][0].type
    is_mask = isinstance(type, t.ValueTensorType) and type.dtype == i1 and bool(type.sizes)
    return given[0] if is_mask else None


def _is_same(one: SSAValue, other: SSAValue) -> bool:
    """Whether two values are the same, or the same op's on the same operands."""
    if one == other:
        return True
    a, b = one.owner, other.owner
    if not isinstance(a, RegistryOp | core.ConstantOp) or not isinstance(b, Operation):
        return False
    if a.name != b.name or len(a.operands) != len(b.operands):
        return False
    if isinstance(a, core.ConstantOp):
        return isinstance(b, core.ConstantOp) and a.value == b.value and one.type == other.type
    pure = isinstance(a, RegistryOp) and one.type == other.type and not _is_random(a)
    return pure and all(map(_is_same, a.operands, b.operands))


def _is_random(op: Operation) -> bool:
    overload = find_overload(op.name)
    return overload is None or torch.Tag.nondeterministic_seeded in overload.tags


def _is_elementwise(op: Operation) -> bool:
    """Whether an op does the same to each element, and no harm to any."""
    overload = find_overload(op.name)
    if overload is None or torch.Tag.pointwise not in overload.tags or _is_random(op):
        return False
    is_integer = isinstance(t.tensor_of(op.results[0]).dtype, IntegerType)
    return not (is_integer and op.name.split(".")[2].startswith(_DIVIDES))


def _drop_bounds(taken: Operation, values: Values) -> None:
    """Erases the assertions that a mask takes at least none and at most all elements."""
    mask = _mask_of(taken, values)
    if mask is None:
        return
    sizes = t.known_sizes(mask[0])
    if not are_known(sizes):
        return
    most = product(sizes)
    for size in list(_users(taken, _SIZE)):
        if values.of(size.operands[1]) != mask[1]:
            continue
        for name, bound in ((_AT_LEAST, 0), (_AT_MOST, most)):
            for compared in list(_users(size, name)):
                given: Dim | int | object = values.of(compared.operands[1])
                if compared.operands[0] == size.results[0] and given == bound:
                    for assertion in list(_users(compared, core.RuntimeAssertOp.name)):
                        assertion.detach()
                        assertion.erase()


def _users(op: Operation, name: str) -> Iterator[Operation]:
    return (use.operation for use in op.results[0].uses if use.operation.name == name)


def rewrite_updates(block: Block) -> None:
    """Rewrites the updates of a block and of the regions in it."""
    values, rewritten = Values(), False
    for op in list(block.ops):
        for region in op.regions:
            for nested in region.blocks:
                rewrite_updates(nested)
        if op.name == _PUT and values.of(op.operands[3]) is False:
            mask = _mask_of(op, values)
            if mask is not None and _has_sizes(op.operands[0].type):
                rewritten |= _Update(op, mask, values).run()
    if rewritten:
        for op in list(block.ops):
            if op.name == _TAKE:
                _drop_bounds(op, values)


def _has_sizes(*types: Attribute) -> bool:
    return all(
        isinstance(type, t.ValueTensorType) and type.sizes is not None and None not in type.sizes
        for type in types
    )


@dataclass(frozen=True)
class MaskedUpdatesPass(PassForOps):
    """See the module's docstring."""

    name = "torch-masked-updates"
    looks_for = frozenset({_PUT})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, FuncOp):
                for block in function.body.blocks:
                    rewrite_updates(block)
