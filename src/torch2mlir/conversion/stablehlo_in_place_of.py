"""Other StableHLO in place of an op, written with the words that lowerings to StableHLO have."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import IntegerType, Signedness, TensorType, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from torch2mlir.contract import element_types
from torch2mlir.contract.target import get_target
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering


def as_tensor(value: SSAValue) -> Tensor:
    """A value of static shape as lowerings get it."""
    assert isinstance(value.type, TensorType)
    return Tensor(value, tuple(value.type.get_shape()), _signed(value.type.element_type))


def _signed(element: Attribute) -> Attribute:
    """StableHLO's integers without a sign are signed ones, its booleans aside."""
    is_signless = (
        isinstance(element, IntegerType) and element.signedness.data == Signedness.SIGNLESS
    )
    if is_signless and element != i1:
        return IntegerType(element_types.bit_width(element), Signedness.SIGNED)
    return element


def replace(op: Operation, build: Callable[[StablehloLowering], Sequence[Tensor | None]]) -> None:
    """Takes an op of static shapes away.

    Args:
        op: its users get what is built.
        build: emits what gives the op's results; None for those that nobody uses.
    """
    lower = get_target("stablehlo").lowering_class()
    lower.location = op.location
    results = build(lower)
    Rewriter.insert_op([*lower.entry, *lower.body], InsertPoint.before(op))
    for old, new in zip(op.results, results, strict=True):
        if new is not None:
            old.replace_all_uses_with(new.value)
    Rewriter.erase_op(op)
