"""Positions that sizes decide: how long a slice between them is where they fit, and which parts a program takes.

PyTorch's kernels compare a position with the size of its dimension, and hold it inside. On sizes that vary they go by
example sizes, which say nothing about others: ``x[:n]`` is taken for ``n`` elements, or for all of ``x``. Here a
position is inside; a call for which a slice has another length than the program says is another program (``needs.py``).
So are calls with other numbers of rows than a program unpacks, or where lengths of parts do not add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Operation

from torch2mlir.contract.positions import length_of_slice
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim
from torch2mlir.dialects.torch.lists import parts_taken
from torch2mlir.dialects.torch.values import Values
from torch2mlir.transforms.typing.type_lattice import is_known_tensor

_SLICE, _SELECT = "torch.aten.slice.Tensor", "torch.aten.select.int"


def types_by_positions(op: Operation, values: Values) -> Sequence[t.ValueTensorType] | None:
    """The type of a slice or a selected place that sizes decide, or those of the parts that a program takes.

    Returns:
        None for other ops, and where something is not known.
    """
    if (parts := _PARTS.get(op.name)) is not None:
        return parts(op, values)
    rule = _TYPES.get(op.name)
    type = None if rule is None else rule(op, values)
    return None if type is None else [type]


def _type_of_slice(op: Operation, values: Values) -> t.ValueTensorType | None:
    source: Any = op.operands[0].type
    dim, *positions = map(values.of, op.operands[1:])
    if not isinstance(dim, int) or not _are_known(source, positions):
        return None
    start, end, step = positions
    size = source.sizes[dim]
    if not isinstance(step, int) or not any(isinstance(each, Dim) for each in (size, start, end)):
        return None
    sizes = list(source.sizes)
    sizes[dim] = length_of_slice(start, end, size, step)
    return t.vtensor(tuple(sizes), source.dtype)


def _type_of_select(op: Operation, values: Values) -> t.ValueTensorType | None:
    source: Any = op.operands[0].type
    dim, place = map(values.of, op.operands[1:])
    if not isinstance(dim, int) or not isinstance(place, Dim) or not is_known_tensor(source):
        return None
    sizes = list(source.sizes)
    del sizes[dim]
    return t.vtensor(tuple(sizes), source.dtype)


def _types_of_rows(op: Operation, values: Values) -> Sequence[t.ValueTensorType] | None:
    source: Any = op.operands[0].type
    dim, count = values.of(op.operands[1]), parts_taken(op)
    if count is None or not isinstance(dim, int) or not is_known_tensor(source):
        return None
    if not isinstance(source.sizes[dim], Dim):
        return None
    sizes = list(source.sizes)
    del sizes[dim]
    return [t.vtensor(tuple(sizes), source.dtype)] * count


def _types_of_parts(op: Operation, values: Values) -> Sequence[t.ValueTensorType] | None:
    source: Any = op.operands[0].type
    lengths, dim = map(values.of, op.operands[1:])
    if not isinstance(lengths, list) or not isinstance(dim, int) or not _are_known(source, lengths):
        return None
    if not isinstance(source.sizes[dim], Dim) or None in lengths:
        return None
    shapes = [[*source.sizes] for _ in lengths]
    for sizes, length in zip(shapes, lengths, strict=True):
        sizes[dim] = length
    return [t.vtensor(tuple(sizes), source.dtype) for sizes in shapes]


_PARTS = {
    "torch.aten.unbind.int": _types_of_rows,
    "torch.aten.split_with_sizes": _types_of_parts,
    "torch.aten.split.sizes": _types_of_parts,
}
_TYPES = {_SLICE: _type_of_slice, _SELECT: _type_of_select}


def _are_known(source: Any, positions: list[Any]) -> bool:
    return is_known_tensor(source) and all(isinstance(each, int | Dim | None) for each in positions)
