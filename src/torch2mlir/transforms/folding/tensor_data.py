"""``torch.tensor([..])``: a literal of numbers that are known, and of others what joins tensors of one number each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    Float32Type,
    IntegerType,
    Signedness,
    TensorType,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue

from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim
from torch2mlir.dialects.torch.tensor_facts import DTYPE_NUMBERS, FLOATS
from torch2mlir.dialects.torch.values import Unknown, Values
from torch2mlir.transforms.folding.constants import (
    constant,
    insert_before,
    int_before,
    list_before,
)
from torch2mlir.transforms.folding.containers import members_of

Fold = Callable[[Operation, Values], Sequence[SSAValue] | None]

_DTYPES = {number: dtype for dtype, number in DTYPE_NUMBERS.items()}
_DEFAULTS: dict[type, Attribute] = {
    bool: i1,
    int: IntegerType(64, Signedness.SIGNED),
    float: Float32Type(),
}
"""The dtype of a tensor of Python numbers, if none is given and PyTorch's default is not changed."""


def _shape(data: Any) -> tuple[int, ...]:
    if not isinstance(data, list):
        return ()
    return (len(data), *_shape(data[0])) if data else (0,)


def _flat(data: Any) -> Iterator[Any]:
    if isinstance(data, list):
        for member in data:
            yield from _flat(member)
    else:
        yield data


def _kind(number: Any) -> type | None:
    """Python's type of a number, known or not; None if it is something else."""
    if isinstance(number, Dim):
        return int
    if isinstance(number, Unknown):
        return _KINDS.get(type(number.value.type))
    return type(number) if isinstance(number, bool | int | float) else None


_KINDS: dict[type[Attribute], type] = {t.BoolType: bool, t.IntType: int, t.FloatType: float}


def _joined(op: Operation, shape: tuple[int, ...], dtype: Attribute) -> Sequence[SSAValue]:
    """Tensors of one number each, one behind the other."""

    def emit(name: str, operands: Sequence[SSAValue], sizes: tuple[int, ...]) -> SSAValue:
        new = core.build(f"torch.aten.{name}", operands, [t.vtensor(sizes, dtype)])
        insert_before(op, new)
        return new.results[0]

    def listed(sizes: Sequence[int]) -> SSAValue:
        return list_before(op, [int_before(op, size) for size in sizes], t.ListType(t.int_type))

    none = constant(None, t.none_type)
    insert_before(op, none)
    options = [int_before(op, DTYPE_NUMBERS[dtype]), *[none.results[0]] * 3]
    ones = [emit("full", [listed([1]), each, *options], (1,)) for each in _in(op.operands[0])]
    parts = list_before(op, ones, t.ListType(t.vtensor((1,), dtype)))
    row = emit("cat", [parts, int_before(op, 0)], (len(ones),))
    return [emit("view", [row, listed(shape)], shape)]


def _in(value: SSAValue) -> Iterator[SSAValue]:
    """The numbers of nested lists."""
    members = members_of(value)
    if members is None:
        yield value
    else:
        for member in members:
            yield from _in(member)


def _literal(op: Operation, values: Values) -> Sequence[SSAValue] | None:
    data, number = values.of(op.operands[0]), values.of(op.operands[1])
    numbers, shape = list(_flat(data)), _shape(data)
    if not isinstance(op.results[0].type, t.ValueTensorType) or not numbers:
        return None
    kinds = [_kind(n) for n in numbers]
    dtype = _DTYPES.get(number) if isinstance(number, int) else None
    if number is None and None not in kinds:
        dtype = _DEFAULTS[max(filter(None, kinds), key=list(_DEFAULTS).index)]
    if not isinstance(dtype, (IntegerType, *FLOATS)) or None in kinds:
        return None
    if any(isinstance(n, Unknown | Dim) for n in numbers):
        return _joined(op, shape, dtype)
    convert = float if isinstance(dtype, FLOATS) else bool if dtype == i1 else int
    element: Any = t.signless(dtype)
    attribute = DenseIntOrFPElementsAttr.from_list(
        TensorType(element, shape),
        [int(convert(n)) if convert is bool else convert(n) for n in numbers],
    )
    literal = core.ValueTensorLiteralOp.create(
        result_types=[t.vtensor(shape, dtype)], properties={"value": attribute}
    )
    insert_before(op, literal)
    return literal.results


TENSOR_FOLDS: dict[str, Fold] = {"torch.aten.tensor": _literal}
"""Ops that make a tensor of Python numbers -> the literal, if the numbers are known."""
