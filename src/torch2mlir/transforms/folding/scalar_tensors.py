"""Arithmetic of sizes as traces record it, in tensors of one element, becomes arithmetic of numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.ir import Operation, SSAValue

from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim
from torch2mlir.dialects.torch.values import Values
from torch2mlir.transforms.folding.casts import CAST_FOLDS
from torch2mlir.transforms.folding.constants import constant, insert_before

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


def _read(name: str, kind: Callable[[Any], Any]) -> Fold:
    """A number read from a tensor: one that is there already, or of sizes, or that PyTorch computes from known ones.

    Args:
        name: of the op.
        kind: what it reads.
    """

    def fold(op: Operation, values: Values) -> Sequence[SSAValue] | None:
        if (known := CAST_FOLDS[name](op, values)) is not None:
            return known
        if name == _INT and (number := _number(op.operands[0], values, op, {})) is not None:
            return [number]
        tensor = _known_tensor(op.operands[0], values)
        return None if tensor is None else _constant(op, tensor, kind)

    return fold


def _known_tensor(value: SSAValue, values: Values) -> Any:
    try:
        from torch2mlir.transforms.folding.known_tensors import known_tensor
    except ModuleNotFoundError:  # PyTorch, which says what it is: the program computes it
        return None
    return known_tensor(value, values, {})


def _constant(op: Operation, tensor: Any, kind: Callable[[Any], Any]) -> Sequence[SSAValue] | None:
    try:
        number = kind(tensor.item())
    except (OverflowError, ValueError):  # of an infinity or NaN there is no integer
        return None
    new = constant(number, op.results[0].type)
    insert_before(op, new)
    return new.results


SCALAR_TENSOR_FOLDS: dict[str, Fold] = {
    _INT: _read(_INT, int),
    "torch.aten.Float.Tensor": _read("torch.aten.Float.Tensor", float),
    "torch.aten.Bool.Tensor": _read("torch.aten.Bool.Tensor", bool),
}
"""Ops that read a tensor of one element -> the number, if it is computed from numbers."""
