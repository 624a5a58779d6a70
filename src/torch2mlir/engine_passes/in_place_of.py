"""Other ops in place of one of a target dialect, written with the words that lowerings have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import IntegerType, Signedness, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from torch2mlir.contract import element_types
from torch2mlir.contract.target import get_target
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.dialects.tensors import element_of, shape_of


def as_tensor(value: SSAValue) -> Tensor:
    """A value of static shape as lowerings get it."""
    return Tensor(value, tuple(shape_of(value)), _signed(element_of(value)))


def _signed(element: Attribute) -> Attribute:
    """Integers without a sign are signed ones, booleans aside."""
    is_signless = (
        isinstance(element, IntegerType) and element.signedness.data == Signedness.SIGNLESS
    )
    if is_signless and element != i1:
        return IntegerType(element_types.bit_width(element), Signedness.SIGNED)
    return element


def replace(
    op: Operation, build: Callable[[Any], Sequence[Tensor | None]], target: str = "stablehlo"
) -> None:
    """Takes an op of static shapes away.

    Args:
        op: its users get what is built.
        build: emits, with the lowering it is given, what gives the op's results; None for those that nobody uses.
        target: whose lowering that is.
    """
    lower = get_target(target).lowering_class()
    lower.location = op.location
    results = build(lower)
    Rewriter.insert_op([*lower.entry, *lower.body], InsertPoint.before(op))
    for old, new in zip(op.results, results, strict=True):
        if new is not None:
            old.replace_all_uses_with(new.value)
    Rewriter.erase_op(op)
