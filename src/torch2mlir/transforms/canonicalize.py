"""``torch-canonicalize``: ops that change nothing disappear, and so does what nobody uses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import Pure

from torch2mlir.dialects.torch.ops import RegistryOp
from torch2mlir.dialects.torch.types import AnyTensorType
from torch2mlir.dialects.torch.values import Values
from torch2mlir.transforms.core_ops import IDENTITIES


def _same_type(op: Operation, values: Values) -> SSAValue | None:
    return op.operands[0] if op.operands[0].type == op.results[0].type else None


def _same_shape(op: Operation, values: Values) -> SSAValue | None:
    """Equal types say that the sizes are equal, unless one is unknown: a ``?`` may be any size."""
    type = op.results[0].type
    known = isinstance(type, AnyTensorType) and type.sizes is not None and None not in type.sizes
    return _same_type(op, values) if known else None


def _identity_permutation(op: Operation, values: Values) -> SSAValue | None:
    order = values.of(op.operands[1])
    same = isinstance(order, list) and order == list(range(len(order)))
    return op.operands[0] if same else None


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


def _operand(op: Operation, values: Values) -> SSAValue | None:
    return op.operands[0]


_FOLDS: dict[str, Callable[[Operation, Values], SSAValue | None]] = {
    **dict.fromkeys(IDENTITIES, _operand),
    "torch.aten.view": _view_of_view,
    "torch.aten.expand": _same_shape,
    "torch.aten.squeeze.dims": _same_shape,
    "torch.aten.permute": _identity_permutation,
    "torch.aten.slice.Tensor": _whole_slice,
    "torch.prims.convert_element_type": _same_type,
    "torch.aten.repeat": _same_shape,
}
"""Op -> the value it can be replaced by, if it changes nothing."""


def canonicalize(block: Block) -> None:
    """Folds and removes in one walk forward and one back."""
    values = Values()
    for op in list(block.ops):
        for region in op.regions:
            for nested in region.blocks:
                canonicalize(nested)
        fold = _FOLDS.get(op.name) if isinstance(op, RegistryOp) else None
        if fold is not None and (replacement := fold(op, values)) is not None:
            op.results[0].replace_all_uses_with(replacement)
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
