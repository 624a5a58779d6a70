"""What arithmetic and comparisons give whatever the number is: ``x + 0``, ``x - x``, ``x == x``, ``x or True``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.ir import Operation, SSAValue

from torch2mlir.dialects.torch.values import Values
from torch2mlir.transforms.folding.constants import constant, insert_before

Fold = Callable[[Operation, Values], Sequence[SSAValue] | None]


def _constant(op: Operation, value: Any) -> Sequence[SSAValue]:
    new = constant(value, op.results[0].type)
    insert_before(op, new)
    return new.results


def _neutral(element: int) -> Fold:
    """The left operand, if the right one changes nothing."""

    def fold(op: Operation, values: Values) -> Sequence[SSAValue] | None:
        return [op.operands[0]] if values.of(op.operands[1]) == element else None

    return fold


def _commutative(neutral: float, absorbing: float | None = None) -> Fold:
    """The operand that is not ``neutral``; ``absorbing`` if one of them is that."""

    def fold(op: Operation, values: Values) -> Sequence[SSAValue] | None:
        left, right = op.operands
        known = [values.of(left), values.of(right)]
        if absorbing is not None and absorbing in known:
            return _constant(op, absorbing)
        if known[1] == neutral:
            return [left]
        return [right] if known[0] == neutral else None

    return fold


def _of_one_value(result: Any) -> Fold:
    """A constant, if both operands are one value."""

    def fold(op: Operation, values: Values) -> Sequence[SSAValue] | None:
        return _constant(op, result) if op.operands[0] is op.operands[1] else None

    return fold


def _either(op: Operation, values: Values) -> Sequence[SSAValue] | None:
    return [op.operands[0]] if op.operands[0] is op.operands[1] else None


def _difference(op: Operation, values: Values) -> Sequence[SSAValue] | None:
    return _neutral(0)(op, values) or _of_one_value(0)(op, values)


_EXACT = ("int", "bool", "str")
_REFLEXIVE = {"eq": True, "le": True, "ge": True, "ne": False, "lt": False, "gt": False}

IDENTITY_FOLDS: dict[str, Fold] = {
    "torch.aten.add.int": _commutative(0),
    "torch.aten.sub.int": _difference,
    "torch.aten.floordiv.int": _neutral(1),
    "torch.aten.mul.int": _commutative(1, absorbing=0),
    "torch.aten.__or__.bool": _commutative(False, absorbing=True),
    "torch.aten.__and__.bool": _commutative(True, absorbing=False),
    "torch.prim.max.int": _either,
    "torch.prim.min.int": _either,
    **{
        f"torch.aten.{name}.{kind}": _of_one_value(answer)
        for name, answer in _REFLEXIVE.items()
        for kind in _EXACT
    },
    # NaN is equal to nothing, but not less than itself either
    "torch.aten.lt.float": _of_one_value(False),
    "torch.aten.gt.float": _of_one_value(False),
}
"""Op on numbers -> its result, where one operand, or their being the same, is enough to know."""
