"""``tensor`` on arrays. Nothing is updated in place: an op that changes a tensor copies it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, IntegerAttr, TensorType
from xdsl.ir import Attribute, Operation

from torch2mlir.errors import EngineError
from torch2mlir.runtime.reference.interpreter import (
    ReferenceInterpreter,
    attribute,
    implements,
    integers,
    operand_groups,
)
from torch2mlir.runtime.reference.loops import over_indices
from torch2mlir.runtime.reference.values import Array, dtype_of, undefined


def _result_shape(op: Operation) -> tuple[int, ...]:
    return cast("TensorType[Attribute]", op.results[0].type).get_shape()


def _filled(static: Sequence[int], dynamic: Iterator[Array]) -> list[int]:
    """A list of sizes with the runtime values in the places that are not static."""
    return [size if size != DYNAMIC_INDEX else next(dynamic).item() for size in static]


def _mixed(op: Operation, name: str, dynamic: Sequence[Array]) -> list[int]:
    return _filled(integers(op, name), iter(dynamic))


@implements("tensor.empty")
def empty(_: ReferenceInterpreter, op: Operation, *sizes: Array) -> Array:
    """A tensor with nothing in it yet: NaN, or the lowest integer."""
    return undefined(tuple(_filled(_result_shape(op), iter(sizes))), op.results[0].type)


@implements("tensor.dim")
def dim(_: ReferenceInterpreter, op: Operation, source: Array, axis: Array) -> Array:
    """The size of one dimension."""
    if not 0 <= axis.item() < source.ndim:
        raise EngineError(f"dimension {axis.item()} of a tensor of rank {source.ndim}")
    return np.array(source.shape[axis.item()], np.int64)


@implements("tensor.rank")
def rank(_: ReferenceInterpreter, op: Operation, source: Array) -> Array:
    """The number of dimensions."""
    return np.array(source.ndim, np.int64)


@implements("tensor.cast")
def cast_shape(_: ReferenceInterpreter, op: Operation, source: Array) -> Array:
    """The same tensor; that it has the shape the result type says is checked for every op."""
    return source


def _window(op: Operation, arguments: Sequence[Sequence[Array]]) -> tuple[list[int], ...]:
    offsets, sizes, strides = arguments
    return (
        _mixed(op, "static_offsets", offsets),
        _mixed(op, "static_sizes", sizes),
        _mixed(op, "static_strides", strides),
    )


def _slices(
    shape: Sequence[int], offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int]
) -> tuple[slice, ...]:
    """A window as Python slices.

    Raises:
        EngineError: the window leaves the tensor.
    """
    parts = []
    for axis, (total, offset, size, stride) in enumerate(
        zip(shape, offsets, sizes, strides, strict=True)
    ):
        last = offset + (size - 1) * stride if size > 0 else offset
        if size < 0 or offset < 0 or last < 0 or (size > 0 and max(offset, last) >= total):
            raise EngineError(
                f"a slice leaves its tensor in dimension {axis}: offset {offset}, size {size}, "
                f"stride {stride} of {total}"
            )
        end = offset + size * stride
        parts.append(slice(offset, end if end >= 0 else None, stride))
    return tuple(parts)


@implements("tensor.extract_slice")
def extract_slice(_: ReferenceInterpreter, op: Operation, *arguments: Array) -> Array:
    """A window of a tensor, without the dimensions of size 1 the result type drops."""
    (source,), *window = operand_groups(op, arguments)
    offsets, sizes, strides = _window(op, window)
    part = source[_slices(source.shape, offsets, sizes, strides)]
    wanted = _result_shape(op)
    kept, position = [], 0
    for static, size in zip(integers(op, "static_sizes"), sizes, strict=True):
        if position < len(wanted) and wanted[position] == static:
            position += 1
        elif static == 1:
            continue
        kept.append(size)
    return part.reshape(kept) if len(kept) == len(wanted) else part.reshape(wanted)


@implements("tensor.insert_slice")
def insert_slice(_: ReferenceInterpreter, op: Operation, *arguments: Array) -> Array:
    """A copy of a tensor with a window replaced."""
    (source,), (destination,), *window = operand_groups(op, arguments)
    offsets, sizes, strides = _window(op, window)
    result = np.array(destination)
    result[_slices(destination.shape, offsets, sizes, strides)] = source.reshape(sizes)
    return result


def _reassociation(op: Operation) -> list[list[int]]:
    groups = cast("ArrayAttr[ArrayAttr[IntegerAttr]]", attribute(op, "reassociation"))
    return [[index.value.data for index in group] for group in groups]


@implements("tensor.collapse_shape")
def collapse_shape(_: ReferenceInterpreter, op: Operation, source: Array) -> Array:
    """Neighbouring dimensions become one."""
    sizes = [
        int(np.prod([source.shape[axis] for axis in group], dtype=np.int64))
        for group in _reassociation(op)
    ]
    return source.reshape(sizes)


@implements("tensor.expand_shape")
def expand_shape(_: ReferenceInterpreter, op: Operation, source: Array, *sizes: Array) -> Array:
    """A dimension becomes several; a size that is given nowhere follows from the others."""
    shape = _filled(integers(op, "static_output_shape") or _result_shape(op), iter(sizes))
    for axis, group in enumerate(_reassociation(op)):
        if int(np.prod([shape[i] for i in group], dtype=np.int64)) != source.shape[axis]:
            raise EngineError(
                f"dimension {axis} of size {source.shape[axis]} cannot expand to "
                f"{[shape[i] for i in group]}"
            )
    return source.reshape(shape)


@implements("tensor.reshape")
def reshape(_: ReferenceInterpreter, op: Operation, source: Array, shape: Array) -> Array:
    """Another shape, given at run time, for the same elements."""
    return source.reshape([int(size) for size in shape])


@implements("tensor.pad")
def pad(interpreter: ReferenceInterpreter, op: Operation, *arguments: Array) -> Array:
    """Surrounds a tensor with what the region yields; negative padding cuts."""
    (source,), low, high = operand_groups(op, arguments)
    before, after = _mixed(op, "static_low", low), _mixed(op, "static_high", high)
    shape = [n + b + a for n, b, a in zip(source.shape, before, after, strict=True)]
    if min(shape, default=0) < 0:
        raise EngineError(f"padding {before} and {after} cuts more than there is of {source.shape}")
    result = np.array(over_indices(interpreter, op, shape))
    kept = [
        slice(max(-b, 0), n - max(-a, 0))
        for n, b, a in zip(source.shape, before, after, strict=True)
    ]
    placed = [
        slice(max(b, 0), max(b, 0) + max(cut.stop - cut.start, 0))
        for b, cut in zip(before, kept, strict=True)
    ]
    result[tuple(placed)] = source[tuple(kept)]
    return result


@implements("tensor.generate")
def generate(interpreter: ReferenceInterpreter, op: Operation, *sizes: Array) -> Array:
    """Elements computed from their indices."""
    return over_indices(interpreter, op, _filled(_result_shape(op), iter(sizes)))


@implements("tensor.from_elements")
def from_elements(_: ReferenceInterpreter, op: Operation, *elements: Array) -> Array:
    """A tensor of single values."""
    dtype = dtype_of(op.results[0].type)
    return np.array([element.item() for element in elements], dtype).reshape(_result_shape(op))


@implements("tensor.splat")
def splat(_: ReferenceInterpreter, op: Operation, value: Array, *sizes: Array) -> Array:
    """One value everywhere."""
    return np.broadcast_to(value, _filled(_result_shape(op), iter(sizes)))


@implements("tensor.extract")
def extract(_: ReferenceInterpreter, op: Operation, source: Array, *indices: Array) -> Array:
    """An element, or as many as there are indices when it runs inside a loop nest.

    Raises:
        EngineError: an index is outside the tensor.
    """
    for axis, index in enumerate(indices):
        if index.size and (index.min() < 0 or index.max() >= source.shape[axis]):
            worst = index.min() if index.min() < 0 else index.max()
            raise EngineError(
                f"index {worst} is outside dimension {axis} of size {source.shape[axis]}"
            )
    return np.asarray(source[tuple(indices)])


@implements("tensor.insert")
def insert(
    _: ReferenceInterpreter, op: Operation, value: Array, destination: Array, *indices: Array
) -> Array:
    """A copy with one element replaced."""
    result = np.array(destination)
    result[tuple(index.item() for index in indices)] = value.item()
    return result


@implements("tensor.concat")
def concat(_: ReferenceInterpreter, op: Operation, *parts: Array) -> Array:
    """Tensors one after another along a dimension."""
    (axis,) = integers(op, "dim")
    return np.concatenate(parts, axis=axis)
