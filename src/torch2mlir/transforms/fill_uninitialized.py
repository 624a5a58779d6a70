"""``torch-fill-uninitialized``: zeros where branches and loops of a scripted program hand on what nobody has put in.

What a program that returns early, breaks off a loop or sets an optional in one branch hands on otherwise is never read,
and dialects have no word for it: it becomes zeros of the type that it is handed on as.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects.placing import end_of
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim, are_known
from torch2mlir.frontends import dtypes
from torch2mlir.transforms.folding.constants import constant, insert_before, int_before, list_before
from torch2mlir.transforms.folding.handed_on import UNINITIALIZED, is_uninitialized
from torch2mlir.transforms.unpacked_parts import size_before

_NUMBERS: dict[type[Attribute], bool | int | float] = {
    t.BoolType: False,
    t.IntType: 0,
    t.FloatType: 0.0,
}


def _handed_on(op: Operation) -> list[tuple[Operation, int, Sequence[SSAValue]]]:
    """The ops that hand on values to others, from which operand on, and what these become."""
    if isinstance(op, core.PrimIfOp):
        return [(end_of(region.block), 0, op.results) for region in op.regions]
    if isinstance(op, core.PrimLoopOp):
        body = op.regions[0].block
        return [(op, 2, body.args[1:]), (end_of(body), 1, body.args[1:])]
    return []


def _zeros(op: Operation, type: Attribute, symbols: Mapping[str, SSAValue]) -> SSAValue | None:
    """Zeros of a type before an op; None if it does not say how many."""
    if (number := _NUMBERS.get(type.__class__)) is not None:
        new = constant(number, type)
        insert_before(op, new)
        return new.results[0]
    if not isinstance(type, t.ValueTensorType) or type.sizes is None or type.dtype is None:
        return None
    if not are_known(type.sizes) or not all(
        set(size.symbols()) <= set(symbols) for size in type.sizes if isinstance(size, Dim)
    ):
        return None
    sizes = [size_before(op, size, symbols) for size in type.sizes if size is not None]
    code = int_before(op, dtypes.SCALAR_TYPE[dtypes.FROM_ELEMENT_TYPE[type.dtype]])
    none = constant(None, t.none_type)
    insert_before(op, none)
    listed = list_before(op, sizes, t.ListType(t.int_type))
    operands = [listed, int_before(op, 0), code, *[none.results[0]] * 3]
    full = core.build("torch.aten.full", operands, [type])
    insert_before(op, full)
    return full.results[0]


@dataclass(frozen=True)
class FillUninitializedPass(PassForOps):
    """See the module's docstring."""

    name = "torch-fill-uninitialized"
    looks_for = frozenset({UNINITIALIZED})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        symbols = dict[str, SSAValue]()
        for each in list(op.walk()):
            if isinstance(each, core.SymbolicIntOp):
                symbols[each.symbol] = each.results[0]
            for giver, first, received in _handed_on(each):
                for place, value in enumerate(received, first):
                    if not is_uninitialized(giver.operands[place]):
                        continue
                    if (zeros := _zeros(giver, value.type, symbols)) is not None:
                        giver.operands[place] = zeros
