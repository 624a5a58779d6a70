"""``torch-run-time-positions``: parts of a tensor at positions that are read from tensors become indexing by tensors.

``x[i]`` with a rank-0 tensor ``i`` is captured as ``select(x, 0, item(i))``, and a window ``x[i:i+2]`` as a slice. The
dialects' slices have constant offsets; what they have for positions known at run time is gathering. That a position is
within the tensor is asserted: PyTorch raises an error where it is not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType, ModuleOp, Signedness, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import INT64_MAX
from torch2mlir.dialects.torch.values import Unknown, Values
from torch2mlir.frontends import dtypes
from torch2mlir.frontends.fx.constants import ConstantPool, list_type
from torch2mlir.transforms.semantics.needs import Needs
from torch2mlir.transforms.semantics.symbols import symbol_ranges
from torch2mlir.transforms.typing.type_lattice import is_known_tensor

_INDEX = IntegerType(64, Signedness.SIGNED)


class _Rewriter:
    """Replaces one op by ops before it.

    Args:
        op: the op.
        block: it is in.
        values: reads its operands.
    """

    def __init__(self, op: Operation, block: Block, values: Values) -> None:
        self.op, self.block, self.values = op, block, values
        self.constants = ConstantPool(self.insert)

    def insert(self, new: Operation) -> None:
        """Inserts an op with the line of the one it replaces."""
        new.location = self.op.location
        self.block.insert_op_before(new, self.op)

    def emit(self, name: str, operands: Sequence[SSAValue], type: Attribute) -> SSAValue:
        """The result of an op of the registry."""
        op = core.build(name, operands, [type])
        self.insert(op)
        return op.results[0]

    def list_of(self, values: Sequence[SSAValue]) -> SSAValue:
        """A list of numbers."""
        op = core.PrimListConstructOp.create(operands=values, result_types=[list_type(values)])
        self.insert(op)
        return op.results[0]

    def places(self, dim: SSAValue, start: SSAValue, count: int) -> SSAValue:
        """``count`` positions along a dimension of the op's operand from one on, negative from the end."""
        x = self.op.operands[0]
        none, scalar = self.constants.scalar(None), self.constants.scalar
        type = t.vtensor((count,), _INDEX)
        code = scalar(dtypes.SCALAR_TYPE[dtypes.FROM_ELEMENT_TYPE[_INDEX]])
        first = [self.list_of([scalar(count)]), start, code, none, none, none]
        places = self.emit("torch.aten.full", first, type)
        if count > 1:
            steps = [scalar(0), scalar(count), scalar(1), code, none, none, none]
            counted = self.emit("torch.aten.arange.start_step", steps, type)
            places = self.emit("torch.aten.add.Tensor", [places, counted, scalar(1)], type)
        size = self.emit("torch.aten.size.int", [x, dim], t.int_type)
        return self.emit("torch.aten.remainder.Scalar", [places, size], type)

    def calculated(self, name: str, *operands: SSAValue | int) -> SSAValue:
        """Python's arithmetic on integers."""
        constants = [self.constants.scalar(o) if isinstance(o, int) else o for o in operands]
        return self.emit(f"torch.{name}.int", constants, t.int_type)

    def holds(self, name: str, *operands: SSAValue | int) -> SSAValue:
        """A comparison of integers."""
        constants = [self.constants.scalar(o) if isinstance(o, int) else o for o in operands]
        return self.emit(f"torch.aten.{name}.int", constants, t.bool_type)

    def check(self, condition: SSAValue, message: str) -> None:
        """Has the program end where a condition does not hold."""
        text = {"message": StringAttr(message)}
        self.insert(core.RuntimeAssertOp.create(operands=[condition], properties=text))

    def check_within(self, dim: SSAValue, start: SSAValue, count: int) -> None:
        """That ``count`` places from a position on are within the tensor; a negative one counts from the end."""
        size = self.emit("torch.aten.size.int", [self.op.operands[0], dim], t.int_type)
        first = self.from_front(start, size)
        both = [
            self.holds("ge", first, 0),
            self.holds("le", self.calculated("aten.add", first, count), size),
        ]
        within = self.emit("torch.aten.__and__.bool", both, t.bool_type)
        self.check(within, "a position read from a tensor is outside of the dimension it is for")

    def from_front(self, place: SSAValue, size: SSAValue) -> SSAValue:
        """A position counted from the front."""
        is_negative = self.holds("lt", place, 0)
        turns = self.emit("torch.aten.Int.bool", [is_negative], t.int_type)
        added = self.calculated("aten.mul", turns, size)
        return self.calculated("aten.add", place, added)

    def rows(self, start: SSAValue, count: int) -> SSAValue:
        """``count`` slices of the op's operand along its dimension from a position on."""
        x, dim = self.op.operands[:2]
        places = self.places(dim, start, count)
        sizes, axis = t.known_sizes(x), self.values.of(dim)
        rank = len(sizes)
        taken = (*sizes[: axis % rank], count, *sizes[axis % rank + 1 :])
        result = t.vtensor(taken, t.tensor_of(x).dtype)
        return self.emit("torch.aten.index_select", [x, dim, places], result)


def _select(rewriter: _Rewriter) -> SSAValue | None:
    op = rewriter.op
    place = rewriter.values.of(op.operands[2])
    if not isinstance(place, Unknown):
        return None
    rewriter.check_within(op.operands[1], op.operands[2], 1)
    row = rewriter.rows(op.operands[2], 1)
    return rewriter.emit("torch.aten.squeeze.dim", [row, op.operands[1]], op.results[0].type)


def _slice(rewriter: _Rewriter) -> SSAValue | None:
    op, values = rewriter.op, rewriter.values
    axis, start, step = (values.of(op.operands[i]) for i in (1, 2, 4))
    sizes = t.tensor_of(op.results[0]).sizes
    count = sizes[axis] if sizes is not None and isinstance(axis, int) else None
    if not isinstance(start, Unknown) or not isinstance(count, int) or step != 1:
        return None
    _check_slice(rewriter, op.operands[1:4], count)
    return rewriter.rows(op.operands[2], count)


def _check_slice(rewriter: _Rewriter, bounds: Sequence[SSAValue], count: int) -> None:
    """That a slice between two bounds, cut to the tensor as Python does, has ``count`` places."""
    dim, start, end = bounds
    if isinstance(end.type, t.OptionalType | t.NoneType) or rewriter.values.of(end) == INT64_MAX:
        rewriter.check_within(dim, start, count)
        return
    size = rewriter.emit("torch.aten.size.int", [rewriter.op.operands[0], dim], t.int_type)
    first, last = (
        rewriter.calculated("prim.min", rewriter.calculated("prim.max", place, 0), size)
        for place in (rewriter.from_front(start, size), rewriter.from_front(end, size))
    )
    length = rewriter.calculated("aten.sub", last, first)
    message = f"a slice between positions read from tensors has not the {count} places that the program has it for"
    rewriter.check(rewriter.holds("eq", length, count), message)


def _narrow(rewriter: _Rewriter) -> SSAValue | None:
    _, _, start, length = rewriter.op.operands
    count = rewriter.values.of(length)
    if not isinstance(rewriter.values.of(start), Unknown) or not isinstance(count, int):
        return None
    rewriter.check_within(rewriter.op.operands[1], start, count)
    return rewriter.rows(start, count)


def _narrow_from_element(rewriter: _Rewriter) -> SSAValue | None:
    _, dim, start, length = rewriter.op.operands
    count = rewriter.values.of(length)
    if not isinstance(count, int):
        return None
    place = rewriter.emit("torch.aten.item", [start], t.int_type)
    rewriter.check_within(dim, place, count)
    return rewriter.rows(place, count)


def _roll(rewriter: _Rewriter) -> SSAValue | None:
    """Along one dimension of a known size, by a number that the program computes."""
    op = rewriter.op
    lists = [operand.owner for operand in op.operands[1:]]
    if not all(
        isinstance(made, core.PrimListConstructOp) and len(made.operands) == 1 for made in lists
    ):
        return None
    shift, dim = (made.operands[0] for made in lists)  # type: ignore[union-attr]
    axis, sizes = rewriter.values.of(dim), t.tensor_of(op.operands[0]).sizes
    count = sizes[axis] if sizes is not None and isinstance(axis, int) else None
    if (
        not isinstance(rewriter.values.of(shift), Unknown)
        or not isinstance(count, int)
        or not count
    ):
        return None
    start = rewriter.emit("torch.aten.neg.int", [shift], t.int_type)
    places = rewriter.places(dim, start, count)
    return rewriter.emit(
        "torch.aten.index_select", [op.operands[0], dim, places], op.results[0].type
    )


def _scattered(rewriter: _Rewriter, rows: SSAValue, start: SSAValue, count: int) -> SSAValue | None:
    """The op's first operand with other rows from a position on."""
    op = rewriter.op
    x, dim = op.operands[0], op.operands[2]
    axis, rank = rewriter.values.of(dim), len(t.known_sizes(x))
    places = rewriter.places(dim, start, count)
    none = rewriter.constants.scalar(None)
    indices = core.PrimListConstructOp.create(
        operands=[*[none] * (axis % rank), places],
        result_types=[t.ListType(t.OptionalType(places.type))],
    )
    rewriter.insert(indices)
    false = rewriter.constants.scalar(False)
    operands = [x, indices.results[0], rows, false]
    return rewriter.emit("torch.aten.index_put", operands, op.results[0].type)


def _select_scatter(rewriter: _Rewriter) -> SSAValue | None:
    _, source, dim, index = rewriter.op.operands
    axis, type = rewriter.values.of(dim), source.type
    if not isinstance(rewriter.values.of(index), Unknown) or not isinstance(axis, int):
        return None
    if not isinstance(type, t.ValueTensorType) or type.sizes is None:
        return None
    place = axis % (len(type.sizes) + 1)
    sizes = (*type.sizes[:place], 1, *type.sizes[place:])
    rewriter.check_within(dim, index, 1)
    row = rewriter.emit("torch.aten.unsqueeze", [source, dim], t.vtensor(sizes, type.dtype))
    return _scattered(rewriter, row, index, 1)


def _slice_scatter(rewriter: _Rewriter) -> SSAValue | None:
    _, source, dim, start, _, step = rewriter.op.operands
    values, type = rewriter.values, source.type
    axis = values.of(dim)
    if not isinstance(values.of(start), Unknown) or values.of(step) != 1:
        return None
    sizes = type.sizes if isinstance(type, t.ValueTensorType) else None
    count = sizes[axis] if sizes is not None and isinstance(axis, int) else None
    if not isinstance(count, int):
        return None
    _check_slice(rewriter, rewriter.op.operands[2:5], count)
    return _scattered(rewriter, source, start, count)


_REWRITES: dict[str, Callable[[_Rewriter], SSAValue | None]] = {
    "torch.aten.narrow": _narrow,
    "torch.aten.narrow.Tensor": _narrow_from_element,
    "torch.aten.roll": _roll,
    "torch.aten.select.int": _select,
    "torch.aten.slice.Tensor": _slice,
    "torch.aten.select_scatter": _select_scatter,
    "torch.aten.slice_scatter": _slice_scatter,
}
"""Op -> what replaces it where its position is not known before the program runs."""


def rewrite_positions(block: Block, given: Collection[str]) -> None:
    """Rewrites the ops of a block and of the regions in it; ``given`` are the symbols of the arguments."""
    values = Values()
    for op in list(block.ops):
        for region in op.regions:
            for nested in region.blocks:
                rewrite_positions(nested, given)
        rewrite = _REWRITES.get(op.name)
        if rewrite is None or not is_known_tensor(op.operands[0].type):
            continue  # what loops carry may get its type later, or never, which the contract says
        if (new := rewrite(_Rewriter(op, block, values))) is None:
            Needs(given, values).note(op, op.result_types)
        else:
            op.results[0].replace_all_uses_with(new)
            op.detach()
            op.erase()


@dataclass(frozen=True)
class RunTimePositionsPass(PassForOps):
    """See the module's docstring."""

    name = "torch-run-time-positions"
    looks_for = frozenset(_REWRITES)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        given = symbol_ranges(op).keys()
        for function in op.body.block.ops:
            if isinstance(function, FuncOp):
                for block in function.body.blocks:
                    rewrite_positions(block, given)
