"""``torch-unpacked-parts``: parts of a tensor whose sizes vary, where a program takes them from their list one by one.

How many parts ``a, b, c = x.chunk(3)`` are depends on the size. A program was captured for sizes that have so many, and
its types say how long each is: they are slices, one after the other. Rows of ``x.unbind()`` are selected. A call of a
size that has another number of parts is one of another program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects.torch import core, dims
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim, KnownSize, are_known, operands_to_compute
from torch2mlir.dialects.torch.lists import parts_taken
from torch2mlir.dialects.torch.values import Values
from torch2mlir.frontends.fx.decisions import note
from torch2mlir.transforms.folding.constants import insert_before, int_before
from torch2mlir.transforms.semantics.needs import needs_of

_DIM_OPERAND = {
    f"torch.aten.{prefix}{name}": 2
    for prefix in ("", "unsafe_")
    for name in ("chunk", "split.Tensor", "split_with_sizes")
} | {"torch.aten.tensor_split.sections": 2, "torch.aten.tensor_split.indices": 2}
"""Op that gives a list of parts, one after the other -> which operand is the dimension."""

_ARITHMETIC = {
    "add": "torch.aten.add.int",
    "mul": "torch.aten.mul.int",
    "floordiv": "torch.aten.floordiv.int",
    "mod": "torch.aten.remainder.int",
    "max": "torch.prim.max.int",
    "min": "torch.prim.min.int",
}
_UNBIND = "torch.aten.unbind.int"
Symbols = Mapping[str, SSAValue]


def size_before(op: Operation, size: KnownSize, symbols: Symbols) -> SSAValue:
    """A size as a number of the program, computed before an op.

    Args:
        op: what needs it.
        size: an expression of the symbols.
        symbols: their values.
    """
    if isinstance(size, int):
        return int_before(op, size)
    if size.op == "symbol":
        return symbols[size.name]

    def computed(one: SSAValue, other: SSAValue) -> SSAValue:
        made = core.build(_ARITHMETIC[size.op], [one, other], [t.int_type])
        insert_before(op, made)
        return made.results[0]

    return reduce(computed, (size_before(op, each, symbols) for each in operands_to_compute(size)))


def _slice(op: Operation, values: Values, symbols: Symbols) -> bool:
    """Puts slices in the place of an op whose list is unpacked, if a size of them varies; whether it did."""
    uses = list(op.results[0].uses)
    unpack = uses[0].operation if len(uses) == 1 else None
    x, dim = op.operands[0], values.of(op.operands[_DIM_OPERAND[op.name]])
    whole = x.type.sizes if isinstance(x.type, t.ValueTensorType) else None
    if not isinstance(unpack, core.PrimListUnpackOp) or whole is None or not isinstance(dim, int):
        return False
    lengths = [_length(part, dim) for part in unpack.results]
    if not isinstance(whole[dim], Dim) or not are_known(lengths):
        return False
    if not {name for each in lengths if isinstance(each, Dim) for name in each.symbols()} <= {
        *symbols
    }:
        return False
    _note_number(op, unpack, values, symbols)
    _unpack_slices(op, unpack, lengths, symbols)
    return True


def _note_number(op: Operation, unpack: Operation, values: Values, given: Symbols) -> None:
    """Has a call ask whether there are as many parts as are taken, of an argument's size."""
    for decision in needs_of(op, values, unpack.result_types):
        if decision.symbols and set(decision.symbols) <= given.keys():
            note(decision)


def _length(part: SSAValue, dim: int) -> KnownSize | None:
    sizes = part.type.sizes if isinstance(part.type, t.ValueTensorType) else None
    return None if sizes is None else sizes[dim]


def _unpack_slices(
    op: Operation, unpack: Operation, lengths: Sequence[KnownSize], symbols: Symbols
) -> None:
    start: KnownSize = 0
    dim = op.operands[_DIM_OPERAND[op.name]]
    for part, length in zip(list(unpack.results), lengths, strict=True):
        end = dims.add(start, length)
        bounds = [size_before(unpack, place, symbols) for place in (start, end)]
        places = [dim, *bounds, int_before(unpack, 1)]
        _take(op, unpack, part, "torch.aten.slice.Tensor", places)
        start = end
    _erase(unpack, op)


def _select(op: Operation, values: Values) -> bool:
    """Puts selected rows in the place of those that are unpacked; whether it did."""
    x, dim = op.operands[0], values.of(op.operands[1])
    whole = x.type.sizes if isinstance(x.type, t.ValueTensorType) else None
    if parts_taken(op) is None or whole is None or not isinstance(dim, int):
        return False
    if whole[dim] is None:
        return False
    # of a known size too: what computes the tensor may be written in ops that know less of it
    unpacks = [use.operation for use in op.results[0].uses]
    for unpack in unpacks:
        for row, part in enumerate(list(unpack.results)):
            places = [op.operands[1], int_before(unpack, row)]
            _take(op, unpack, part, "torch.aten.select.int", places)
    _erase(*unpacks, op)
    return True


def _take(
    op: Operation, unpack: Operation, part: SSAValue, name: str, places: Sequence[SSAValue]
) -> None:
    made = core.build(name, [op.operands[0], *places], [part.type])
    insert_before(unpack, made)
    part.replace_all_uses_with(made.results[0])


def _erase(*ops: Operation) -> None:
    for each in ops:
        each.detach()
        each.erase()


@dataclass(frozen=True)
class UnpackedPartsPass(PassForOps):
    """See the module's docstring."""

    name = "torch-unpacked-parts"
    looks_for = frozenset({*_DIM_OPERAND, _UNBIND})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        values = Values()
        symbols = dict[str, SSAValue]()
        for each in list(op.walk()):
            if isinstance(each, core.SymbolicIntOp):
                symbols[each.symbol] = each.results[0]
            elif each.name in _DIM_OPERAND:
                _slice(each, values, symbols)
            elif each.name == _UNBIND:
                _select(each, values)
