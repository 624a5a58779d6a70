"""``torch-canonicalize``: ops that change nothing disappear, and so does what is there twice or nobody uses.

What is known of numbers, lists and branches before the program runs is computed; see :mod:`..folding`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, bf16, f16, f32, f64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import Pure

from torch2mlir.contract.core_ops import CORE_OPS, IDENTITIES, SCALAR_OPS
from torch2mlir.contract.pass_order import op_names
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch.dims import Dim
from torch2mlir.dialects.torch.lists import is_written
from torch2mlir.dialects.torch.ops import RegistryOp
from torch2mlir.dialects.torch.python_ops import PYTHON_OPS, is_constant
from torch2mlir.dialects.torch.schema import DROPOUTS
from torch2mlir.dialects.torch.symbols import retype_function
from torch2mlir.dialects.torch.tensor_facts import TENSOR_FACTS
from torch2mlir.dialects.torch.types import AnyTensorType, ListType, NonValueTensorType
from torch2mlir.dialects.torch.values import Values
from torch2mlir.transforms.folding.branches import simplify_branch
from torch2mlir.transforms.folding.casts import CAST_FOLDS, Fold
from torch2mlir.transforms.folding.constants import constant, insert_before, put_in_place
from torch2mlir.transforms.folding.containers import CONTAINER_FOLDS
from torch2mlir.transforms.folding.handed_on import OPTIONAL_FOLDS, UNINITIALIZED, tuples_carried
from torch2mlir.transforms.folding.identities import IDENTITY_FOLDS
from torch2mlir.transforms.folding.local_lists import DICT_WRITERS, LIST_WRITERS, follow_lists
from torch2mlir.transforms.folding.loop_values import count, simplify_loop
from torch2mlir.transforms.folding.numbers import NUMBER_FOLDS
from torch2mlir.transforms.folding.scalar_tensors import SCALAR_TENSOR_FOLDS
from torch2mlir.transforms.folding.tensor_data import TENSOR_FOLDS
from torch2mlir.transforms.folding.unroll import (
    MOST_UNROLLED,
    needs_unrolling,
    trip_count,
    unroll,
)


def _same_type(op: Operation, values: Values) -> SSAValue | None:
    return op.operands[0] if op.operands[0].type == op.results[0].type else None


def _same_shape(op: Operation, values: Values) -> SSAValue | None:
    """Equal types say that the sizes are equal, unless one is unknown: a ``?`` may be any size."""
    type = op.results[0].type
    known = isinstance(type, AnyTensorType) and type.sizes is not None and None not in type.sizes
    return _same_type(op, values) if known else None


def _nothing_to_drop(op: Operation, values: Values) -> SSAValue | None:
    """No dimension of size 1 in any call: one that varies may be 1, and calls with such a size are to find the op."""
    source = op.operands[0].type
    if not isinstance(source, AnyTensorType) or not source.sizes:
        return _same_shape(op, values)
    over = values.of(op.operands[1]) if len(op.operands) > 1 else range(len(source.sizes))
    over = [over] if isinstance(over, int) else over
    if not isinstance(over, Sequence) or any(isinstance(source.sizes[dim], Dim) for dim in over):
        return None
    return _same_shape(op, values)


def _conversion(op: Operation, values: Values) -> SSAValue | None:
    """To the same type, or back to the type that a wider float was made from: widening loses nothing."""
    x = op.operands[0]
    inner = x.owner
    if isinstance(inner, Operation) and inner.name == op.name:
        original, wider = inner.operands[0].type, x.type
        if original == op.results[0].type and _widens(original, wider):
            return inner.operands[0]
    return _same_type(op, values)


_WIDER: dict[Attribute, tuple[Attribute, ...]] = {f32: (f64,), f16: (f32, f64), bf16: (f32, f64)}


def _widens(narrow: Attribute, wide: Attribute) -> bool:
    if not isinstance(narrow, AnyTensorType) or not isinstance(wide, AnyTensorType):
        return False
    return narrow.dtype is not None and wide.dtype in _WIDER.get(narrow.dtype, ())


def _permutation(op: Operation, values: Values) -> SSAValue | None:
    """One that moves nothing, or that undoes the permutation before it."""
    order, x = values.of(op.operands[1]), op.operands[0]
    if not isinstance(order, list):
        return None
    rank = len(order)
    if _positive(order) == list(range(rank)):
        return x
    if isinstance(x.owner, Operation) and x.owner.name == "torch.aten.permute":
        inner = values.of(x.owner.operands[1])
        if isinstance(inner, list) and [_positive(inner)[d] for d in order] == list(range(rank)):
            return x.owner.operands[0]
    return None


def _positive(order: list[int]) -> list[int]:
    return [d % len(order) for d in order]


def _view_of_view(op: Operation, values: Values) -> SSAValue | None:
    """Nothing between them: two views in a row are the second one on the first one's operand."""
    if (same := _same_shape(op, values)) is not None:
        return same
    source = op.operands[0].owner
    if isinstance(source, Operation) and source.name == "torch.aten.view":
        op.operands[0] = source.operands[0]
        return _same_shape(op, values)
    return None


def _whole_slice(op: Operation, values: Values) -> SSAValue | None:
    step = values.of(op.operands[4])
    return _same_shape(op, values) if step == 1 else None


def _joined_alone(op: Operation, values: Values) -> SSAValue | None:
    """One tensor joined with none."""
    source = op.operands[0].owner
    if not isinstance(source, core.PrimListConstructOp) or len(source.operands) != 1:
        return None
    (member,) = source.operands
    return member if member.type == op.results[0].type else None


def _exchange(op: Operation, values: Values) -> SSAValue | None:
    """A dimension exchanged with itself."""
    first, second = (values.of(operand) for operand in op.operands[1:])
    return op.operands[0] if isinstance(first, int) and first == second else None


def _part_of_complex(part: int) -> Callable[[Operation, Values], SSAValue | None]:
    """A part of a complex number made of its parts."""

    def fold(op: Operation, values: Values) -> SSAValue | None:
        source = op.operands[0].owner
        if not isinstance(source, Operation) or source.name != "torch.aten.complex":
            return None
        operand = source.operands[part]
        return operand if operand.type == op.results[0].type else None

    return fold


def _first_of(*folds: Fold) -> Fold:
    def fold(op: Operation, values: Values) -> Sequence[SSAValue] | None:
        return next((found for each in folds if (found := each(op, values)) is not None), None)

    return fold


def _operand(op: Operation, values: Values) -> SSAValue | None:
    return op.operands[0]


_SIZES = frozenset({"torch.aten.size.int", "torch.aten.numel"})
_FOLDS: dict[str, Callable[[Operation, Values], SSAValue | None]] = {
    **dict.fromkeys(IDENTITIES, _operand),
    "torch.aten.view": _view_of_view,
    **dict.fromkeys(
        (
            "torch.aten.expand",
            "torch.aten.broadcast_to",
            "torch.aten.reshape",
        ),
        _same_shape,
    ),
    **dict.fromkeys(
        ("torch.aten.squeeze", "torch.aten.squeeze.dim", "torch.aten.squeeze.dims"),
        _nothing_to_drop,
    ),
    "torch.aten.cat": _joined_alone,
    "torch.aten.transpose.int": _exchange,
    "torch.aten.permute": _permutation,
    "torch.aten.slice.Tensor": _whole_slice,
    "torch.prims.convert_element_type": _conversion,
    "torch.aten.repeat": _same_shape,
    "torch.prims.real": _part_of_complex(0),
    "torch.prims.imag": _part_of_complex(1),
}
"""Op -> the value it can be replaced by, if it changes nothing."""


_CONVERSIONS = (
    "to.dtype to.dtype_layout to.device to.other to.prim_Device to.prim_dtype to.prim_other type_as"
    " contiguous _to_copy"
)
_TO_THE_SAME = frozenset(f"torch.aten.{name}" for name in _CONVERSIONS.split())
"""Conversions that are their operand if its dtype stays: devices and memory formats are not the program's meaning."""


def _same_dtype(op: Operation, values: Values) -> SSAValue | None:
    source, result = op.operands[0], op.results[0].type
    if not isinstance(source.type, AnyTensorType) or not isinstance(result, AnyTensorType):
        return None
    dtype = source.type.dtype
    return source if dtype is not None and dtype == result.dtype else None


def _dropout(op: Operation, values: Values) -> SSAValue | None:
    return op.operands[0] if values.of(op.operands[2]) is False else None


_FOLDS.update(dict.fromkeys(_TO_THE_SAME, _same_dtype))
_FOLDS.update(dict.fromkeys(DROPOUTS, _dropout))


_DETERMINED = CORE_OPS | SCALAR_OPS | {core.PrimListConstructOp.name}
"""Ops that give the same again for the same operands: what is not core may draw random numbers."""
_FOLDED_NUMBERS = frozenset(PYTHON_OPS) | frozenset(TENSOR_FACTS) | _SIZES
_SEVERAL = {
    **CONTAINER_FOLDS,
    **CAST_FOLDS,
    **IDENTITY_FOLDS,
    **NUMBER_FOLDS,
    **TENSOR_FOLDS,
    **SCALAR_TENSOR_FOLDS,
}
_SEVERAL.update({name: _first_of(_SEVERAL[name], fold) for name, fold in OPTIONAL_FOLDS.items()})


def _reads_mutable(op: Operation) -> bool:
    """Whether what an op reads or gives may be written by others."""
    return any(isinstance(value.type, NonValueTensorType) for value in (*op.operands, *op.results))


class _Canonicalizer:
    """Canonicalizes the blocks of one module.

    What is folded are patterns and results: a function from an op to what replaces it, found by the op's name. xDSL's
    ``PatternRewriteWalker`` asks every pattern about every op: with 100 patterns and nothing to rewrite its walk takes
    four times as long as this one with all it does (twice with 20; 2,000 ops, the lowest of seven in turn), and
    canonicalization is what a compilation does most often.

    Args:
        lists_change: whether the module writes into lists or dicts.
    """

    def __init__(self, lists_change: bool) -> None:
        self.lists_change = lists_change

    def run(self, block: Block) -> None:
        """Folds, merges and removes until nothing is left to do."""
        self._sweep(block)
        while self.lists_change and follow_lists(block):
            self._sweep(block)
        remove_unused(block)

    def _sweep(self, block: Block) -> None:
        """One walk forward."""
        values = Values()
        seen: dict[tuple[object, ...], Operation] = {}
        op = block.first_op
        while op is not None:
            following = op.next_op
            if op.regions:
                following = self._visit_regions(op, values) or following
            elif not self._fold(op, values):
                self._merge(op, seen)
            op = following

    def _visit_regions(self, op: Operation, values: Values) -> Operation | None:
        """Canonicalizes an op with regions; returns where to go on if not behind it."""
        if isinstance(op, core.PrimIfOp) and isinstance(values.of(op.operands[0]), bool):
            return simplify_branch(op, values)
        if isinstance(op, core.PrimLoopOp):
            trips = trip_count(op, values)
            if trips is not None and trips <= MOST_UNROLLED and (trips == 0 or needs_unrolling(op)):
                return unroll(op, trips)
        for region in op.regions:
            for nested in region.blocks:
                self.run(nested)
        if isinstance(op, core.PrimIfOp):
            return simplify_branch(op, values)
        if isinstance(op, core.PrimLoopOp):
            count(op, values)
            return simplify_loop(tuples_carried(op)).next_op
        return None

    def _fold(self, op: Operation, values: Values) -> bool:
        name = op.name
        if name in _FOLDED_NUMBERS and _fold_number(op, values):
            return True
        if (several := _SEVERAL.get(name)) is not None:
            if (found := several(op, values)) is None:
                return False
            for old, new in zip(op.results, found, strict=True):
                put_in_place(old, new)
            return True
        fold = _FOLDS.get(name) if isinstance(op, RegistryOp) else None
        if fold is None or _reads_mutable(op) or (replacement := fold(op, values)) is None:
            return False
        put_in_place(op.results[0], replacement)
        return True

    def _merge(self, op: Operation, seen: dict[tuple[object, ...], Operation]) -> None:
        """Has an earlier op that computes the same take the place of one."""
        if isinstance(op, core.ConstantOp):
            key: tuple[object, ...] = (op.name, repr(op.value))
        elif op.name in _DETERMINED:
            key = (op.name, *op.operands)
        else:
            return
        twin = seen.setdefault(key, op)
        if twin is op or twin.result_types != op.result_types or _reads_mutable(op):
            return
        if self.lists_change and any(
            is_written(value)
            for value in (*op.operands, *op.results, *twin.results)
            if isinstance(value.type, ListType)
        ):
            return
        for result, earlier in zip(op.results, twin.results, strict=True):
            result.replace_all_uses_with(earlier)


def _fold_number(op: Operation, values: Values) -> bool:
    """A number, text or truth that is known becomes a constant."""
    result = op.results[0]
    value = values.of(result)
    if result.first_use is None or not is_constant(value) or value is None:
        return False
    new = constant(value, result.type)
    insert_before(op, new)
    put_in_place(result, new.results[0])
    return True


_WRITERS = frozenset(LIST_WRITERS.keys() | DICT_WRITERS)


def canonicalize(block: Block) -> None:
    """Folds, merges and removes in a block and the regions in it."""
    _Canonicalizer(not op_names(block).isdisjoint(_WRITERS)).run(block)


def remove_unused(block: Block) -> None:
    """Erases pure ops without users, last first, so that one walk is enough."""
    op = block.last_op
    while op is not None:
        previous = op.prev_op
        unused = all(r.first_use is None for r in op.results)
        if not op.results:
            unused = bool(op.regions) or op.name == _WARNING
        if unused and (op.has_trait(Pure) or _changes_nothing(op)):
            op.detach()
            op.erase()
        op = previous


def _changes_nothing(op: Operation) -> bool:
    """Whether an op, with what is in its regions, gives results and nothing else."""
    if isinstance(op, core.PrimIfOp | core.PrimLoopOp):
        return all(_changes_nothing(i) for r in op.regions for b in r.blocks for i in b.ops)
    if isinstance(op, core.PrimIfYieldOp | core.PrimLoopConditionOp) or op.has_trait(Pure):
        return True
    return op.name in _WITHOUT_EFFECT


_WARNING = "torch.aten.warn"
"""An op that compiled programs leave out: they have nobody to warn."""

_WITHOUT_EFFECT = {
    _WARNING,
    "torch.prim.ListConstruct",
    "torch.prim.DictConstruct",
    "torch.prim.TupleUnpack",
    UNINITIALIZED,
}


@dataclass(frozen=True)
class CanonicalizePass(ModulePass):
    """See the module's docstring."""

    name = "torch-canonicalize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for symbol in op.body.block.ops:
            for region in symbol.regions:
                for block in region.blocks:
                    canonicalize(block)
            if isinstance(symbol, FuncOp):
                retype_function(symbol)
