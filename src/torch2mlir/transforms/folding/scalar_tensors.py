"""Arithmetic of sizes as traces record it, in tensors of one element, becomes arithmetic of numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Operation, SSAValue

from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim
from torch2mlir.dialects.torch.values import Values
from torch2mlir.transforms.folding.casts import CAST_FOLDS
from torch2mlir.transforms.folding.constants import insert_before

Fold = Callable[[Operation, Values], Sequence[SSAValue] | None]

_INT = "torch.aten.Int.Tensor"
_NUMBERS = {
    "torch.prim.NumToTensor.Scalar",
    "torch.aten.tensor.int",
    "torch.aten.scalar_tensor",
}
_ARITHMETIC = {
    "torch.aten.mul.Tensor": "torch.aten.mul.int",
    "torch.aten.mul.Scalar": "torch.aten.mul.int",
    "torch.aten.add.Tensor": "torch.aten.add.int",
    "torch.aten.add.Scalar": "torch.aten.add.int",
    "torch.aten.sub.Tensor": "torch.aten.sub.int",
    "torch.aten.sub.Scalar": "torch.aten.sub.int",
    "torch.aten.floor_divide": "torch.aten.floordiv.int",
    "torch.aten.floor_divide.Scalar": "torch.aten.floordiv.int",
    "torch.aten.div.Tensor_mode": "torch.aten.floordiv.int",
    "torch.aten.div.Scalar_mode": "torch.aten.floordiv.int",
}
"""Op on tensors -> the op on ints; its third operand is a factor that must be 1, or a rounding mode."""


def _is_size(value: SSAValue, values: Values) -> bool:
    """Whether a number cannot be negative, so that it does not matter where division rounds to."""
    known = values.of(value)
    return isinstance(known, Dim) or (isinstance(known, int) and known >= 0)


Numbers = dict[SSAValue, SSAValue | None]
"""Tensor of one element -> the int that it holds, where that is computed from ints."""


def _number(
    value: SSAValue, values: Values, before: Operation, numbers: Numbers
) -> SSAValue | None:
    """The int that a tensor of one element holds."""
    if isinstance(value.type, t.IntType):
        return value
    if value not in numbers:  # there may be many ways to one
        numbers[value] = _computed(value, values, before, numbers)
    return numbers[value]


def _computed(
    value: SSAValue, values: Values, before: Operation, numbers: Numbers
) -> SSAValue | None:
    owner = value.owner
    if not isinstance(owner, Operation):
        return None
    if owner.name in _NUMBERS:
        return _number(owner.operands[0], values, before, numbers)
    name = _ARITHMETIC.get(owner.name)
    if name is None or (len(owner.operands) > 2 and values.of(owner.operands[2]) not in _RULES):
        return None
    operands = [_number(operand, values, before, numbers) for operand in owner.operands[:2]]
    a, b = operands
    if a is None or b is None:
        return None
    if "div" in name and not (_is_size(a, values) and _is_size(b, values)):
        return None
    op = core.build(name, [a, b], [t.int_type])
    insert_before(before, op)
    return op.results[0]


_RULES = (1, "trunc", "floor")


def _int(op: Operation, values: Values) -> Sequence[SSAValue] | None:
    if (known := CAST_FOLDS[_INT](op, values)) is not None:
        return known
    number = _number(op.operands[0], values, op, {})
    return None if number is None else [number]


SCALAR_TENSOR_FOLDS: dict[str, Fold] = {_INT: _int}
"""Ops that read a tensor of one element -> the number, if it is computed from numbers."""
