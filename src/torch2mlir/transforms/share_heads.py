"""``torch-share-heads``: attention takes keys and values whose heads are repeated before they are.

Models of fewer heads of keys than of queries repeat each one (``x[:, :, None].expand(..).reshape(..)``), which copies
the whole cache for every token. ``enable_gqa`` says the same, and a target that has a word for attention needs no copy.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Size
from torch2mlir.dialects.torch.values import Values
from torch2mlir.transforms.canonicalize import remove_unused
from torch2mlir.transforms.folding.constants import constant, insert_before

_ATTENTION = "torch.aten.scaled_dot_product_attention"
_KEY, _VALUE, _GROUPED = 1, 2, 7
_HEADS = 1
"""The dimension of the heads; another one behind it is expanded, and joined with it."""


@dataclass(frozen=True)
class ShareHeadsPass(PassForOps):
    """See the module's docstring."""

    name = "torch-share-heads"
    looks_for = frozenset({_ATTENTION})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        values = Values()
        for each in [each for each in op.walk() if each.name == _ATTENTION]:
            sources = [_before_repetition(each.operands[place], values) for place in (_KEY, _VALUE)]
            key, value = sources
            if key is None or value is None or values.of(each.operands[_GROUPED]) is not False:
                continue
            if _sizes(key)[_HEADS] != _sizes(value)[_HEADS]:
                continue
            grouped = constant(True, t.bool_type)
            insert_before(each, grouped)
            each.operands[_KEY], each.operands[_VALUE] = key, value
            each.operands[_GROUPED] = grouped.results[0]
            if (block := each.parent) is not None:
                remove_unused(block)


def _before_repetition(repeated: SSAValue, values: Values) -> SSAValue | None:
    """What ``repeated`` has every head of several times in a row; None if it is not made so."""
    expand = _made_by(repeated, "torch.aten.view")
    unsqueeze = None if expand is None else _made_by(expand, "torch.aten.expand")
    source = None if unsqueeze is None else _made_by(unsqueeze, "torch.aten.unsqueeze")
    if expand is None or unsqueeze is None or source is None:
        return None
    shape = _sizes(source)
    if len(shape) != 4 or not isinstance(heads := shape[_HEADS], int):
        return None
    if values.of(unsqueeze.owner.operands[1]) not in (_HEADS + 1, _HEADS - len(shape)):  # type: ignore[union-attr]
        return None
    times = _sizes(expand)[_HEADS + 1]
    if not isinstance(times, int) or None in shape:
        return None
    outer, inner = shape[:_HEADS], shape[_HEADS + 1 :]
    is_repeated = _sizes(expand) == (*outer, heads, times, *inner)
    return source if is_repeated and _sizes(repeated) == (*outer, heads * times, *inner) else None


def _made_by(value: SSAValue, name: str) -> SSAValue | None:
    """The first operand of the op that makes a value, if that is its name."""
    owner = value.owner
    return owner.operands[0] if isinstance(owner, Operation) and owner.name == name else None


def _sizes(value: SSAValue) -> tuple[Size, ...]:
    sizes = value.type.sizes if isinstance(value.type, t.ValueTensorType) else None
    return sizes or ()
