"""``torch-canonicalize``: ops that change nothing disappear, and so does what is there twice or nobody uses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, bf16, f16, f32, f64
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import Pure

from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch.ops import RegistryOp
from torch2mlir.dialects.torch.types import AnyTensorType
from torch2mlir.dialects.torch.values import Values
from torch2mlir.transforms.core_ops import CORE_OPS, IDENTITIES, SCALAR_OPS
from torch2mlir.transforms.loop_values import count, simplify_loop


def _same_type(op: Operation, values: Values) -> SSAValue | None:
    return op.operands[0] if op.operands[0].type == op.results[0].type else None


def _same_shape(op: Operation, values: Values) -> SSAValue | None:
    """Equal types say that the sizes are equal, unless one is unknown: a ``?`` may be any size."""
    type = op.results[0].type
    known = isinstance(type, AnyTensorType) and type.sizes is not None and None not in type.sizes
    return _same_type(op, values) if known else None


def _conversion(op: Operation, values: Values) -> SSAValue | None:
    """To the same type, or back to the type that a wider float was made from: widening loses nothing."""
    x = op.operands[0]
    inner = x.owner
    if isinstance(inner, Operation) and inner.name == op.name:
        original, wider = inner.operands[0].type, x.type
        if original == op.results[0].type and _widens(original, wider):
            return inner.operands[0]
    return _same_type(op, values)


_WIDER = {f32: (f64,), f16: (f32, f64), bf16: (f32, f64)}


def _widens(narrow: Attribute, wide: Attribute) -> bool:
    types = isinstance(narrow, AnyTensorType) and isinstance(wide, AnyTensorType)
    return types and wide.dtype in _WIDER.get(narrow.dtype, ())  # type: ignore[attr-defined]


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


def _part_of_complex(part: int) -> Callable[[Operation, Values], SSAValue | None]:
    """A part of a complex number made of its parts."""

    def fold(op: Operation, values: Values) -> SSAValue | None:
        source = op.operands[0].owner
        if not isinstance(source, Operation) or source.name != "torch.aten.complex":
            return None
        operand = source.operands[part]
        return operand if operand.type == op.results[0].type else None

    return fold


def _operand(op: Operation, values: Values) -> SSAValue | None:
    return op.operands[0]


_FOLDS: dict[str, Callable[[Operation, Values], SSAValue | None]] = {
    **dict.fromkeys(IDENTITIES, _operand),
    "torch.aten.view": _view_of_view,
    "torch.aten.expand": _same_shape,
    "torch.aten.squeeze.dims": _same_shape,
    "torch.aten.permute": _permutation,
    "torch.aten.slice.Tensor": _whole_slice,
    "torch.prims.convert_element_type": _conversion,
    "torch.aten.repeat": _same_shape,
    "torch.prims.real": _part_of_complex(0),
    "torch.prims.imag": _part_of_complex(1),
}
"""Op -> the value it can be replaced by, if it changes nothing."""


_DETERMINED = CORE_OPS | SCALAR_OPS | {core.PrimListConstructOp.name}
"""Ops that give the same again for the same operands: what is not core may draw random numbers."""


def _twin(op: Operation, seen: dict[tuple[object, ...], Operation]) -> Operation | None:
    """An earlier op that computes the same."""
    if op.name not in _DETERMINED:
        return None
    twin = seen.setdefault((op.name, *op.operands), op)
    return twin if twin is not op and twin.result_types == op.result_types else None


def canonicalize(block: Block) -> None:
    """Folds, merges and removes in one walk forward and one back."""
    values = Values()
    seen: dict[tuple[object, ...], Operation] = {}
    for op in list(block.ops):
        for region in op.regions:
            for nested in region.blocks:
                canonicalize(nested)
        if isinstance(op, core.PrimLoopOp):
            count(op, values)
            simplify_loop(op)
            continue
        fold = _FOLDS.get(op.name) if isinstance(op, RegistryOp) else None
        if fold is not None and (replacement := fold(op, values)) is not None:
            op.results[0].replace_all_uses_with(replacement)
        elif (twin := _twin(op, seen)) is not None:
            for result, earlier in zip(op.results, twin.results, strict=True):
                result.replace_all_uses_with(earlier)
    remove_unused(block)


def remove_unused(block: Block) -> None:
    """Erases pure ops without users, last first, so that one walk is enough."""
    op = block.last_op
    while op is not None:
        previous = op.prev_op
        unused = all(r.first_use is None for r in op.results) if op.results else False
        if unused and op.has_trait(Pure):
            op.detach()
            op.erase()
        op = previous


@dataclass(frozen=True)
class CanonicalizePass(ModulePass):
    """See the module's docstring."""

    name = "torch-canonicalize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            for region in function.regions:
                for block in region.blocks:
                    canonicalize(block)
