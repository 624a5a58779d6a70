"""``torch.tensor([..])`` of numbers that are known is a literal."""

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
from torch2mlir.dialects.torch.tensor_facts import DTYPE_NUMBERS, FLOATS
from torch2mlir.dialects.torch.values import Values
from torch2mlir.transforms.folding.constants import insert_before

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


def _literal(op: Operation, values: Values) -> Sequence[SSAValue] | None:
    data, number = values.of(op.operands[0]), values.of(op.operands[1])
    numbers, shape = list(_flat(data)), _shape(data)
    if not isinstance(op.results[0].type, t.ValueTensorType) or not numbers:
        return None
    if not all(isinstance(n, bool | int | float) for n in numbers):
        return None
    dtype = _DTYPES.get(number) if isinstance(number, int) else None
    if number is None:
        dtype = _DEFAULTS[max((type(n) for n in numbers), key=list(_DEFAULTS).index)]
    if not isinstance(dtype, (IntegerType, *FLOATS)):
        return None
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
