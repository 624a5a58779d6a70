"""``onnx-long-sums-by-parts``: long sums and means of 32-bit floats as sums of sums.

ONNX Runtime 1.31 and OpenVINO 2026.4 add up one element after the other in each lane of a vector: the variance of a
million numbers was off by 2e-5 and 4e-4, where eager mode, which adds up parts, is off by 5e-8. An unknown number of
elements is added up in parts as well, if they are everything, or rows of few: parts of wider rows would be more than
what is there. Other lines whose length nobody knows stay as they are; those of several dimensions are added up along
one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import isqrt, prod

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ModuleOp,
    TensorType,
    f32,
    i64,
)
from xdsl.ir import Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects import onnx
from torch2mlir.dialects.onnx import op_class
from torch2mlir.dialects.tensors import element_of, integers, shape_of
from torch2mlir.engine_passes.onnx_nodes import Nodes

SUMS = ("onnx.ReduceSum", "onnx.ReduceMean")
_LONGEST = 2**14
"""Elements that are added up as they are."""
_FEWEST = 32
"""Parts, and elements of a part, of a line that is cut as it is."""
_PART = 1024
"""Elements of a part of a line that is padded."""
_END = 2**63 - 1
"""Behind the last element, for slices."""
_NARROW = 16
"""Elements beside each of an unknown number, up to which these are padded to whole parts."""


class OnnxLongSumsByPartsPass(PassForOps):
    """See the module's docstring."""

    name = "onnx-long-sums-by-parts"
    looks_for = frozenset(SUMS)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if each.name in SUMS]:
            axes = _axes(each)
            sizes = [shape_of(each.operands[0])[axis] for axis in axes]
            is_long = DYNAMIC_INDEX in sizes or prod(sizes) > _LONGEST
            if is_long and element_of(each.results[0]) == f32:
                (_add_unknown if adds_unknown(each) else _add_parts)(each, axes)


def _axes(op: Operation) -> Sequence[int]:
    """The dimensions that are reduced; none if they are not known."""
    axes = op.operands[1].owner if len(op.operands) > 1 else None
    if not isinstance(axes, Operation) or "value" not in axes.properties:
        return ()
    rank = len(shape_of(op.operands[0]))
    return sorted(axis % rank for axis in integers(axes.properties["value"]))


def _add_parts(op: Operation, axes: Sequence[int]) -> None:
    """One sum along each line; long ones of a known length are cut into parts before."""
    x, (result,), before = op.operands[0], op.results, Nodes(op)
    if shape_of(x).count(DYNAMIC_INDEX) > 1:  # a reshape computes one size
        lines, longest = [(size, axis in axes) for axis, size in enumerate(shape_of(x))], math.inf
    else:
        lines, longest = _lines(shape_of(x), axes), _LONGEST
    name = op.name
    terms = prod(size for size, is_added in lines if is_added)
    uncut = [
        d
        for d, (size, is_added) in enumerate(lines)
        if is_added and size > longest and not _parts(size)
    ]
    if uncut and terms > 0:
        x = _padded(before, _reshaped(before, x, [size for size, _ in lines]), uncut)
        name = "onnx.ReduceSum"
        lines = [(size, a) for size, (_, a) in zip(shape_of(x), lines, strict=True)]
    shape, steps = list[int](), list[int]()
    for size, is_added in lines:
        count = _parts(size) if is_added and size > longest else 1
        parts = [count, size // count] if count > 1 else [size]
        steps += range(len(shape), len(shape) + len(parts)) if is_added else ()
        shape += parts
    if len(steps) < 2:
        return
    found, left = _reshaped(before, x, shape), list(range(len(shape)))
    for number, dimension in enumerate(_in_turn(steps)):
        # OpenVINO makes one sum of two that both keep their dimension, or both drop it
        keeps = number % 2 == 0
        found = _reduced(before, name, found, left.index(dimension), keeps)
        if not keeps:
            left.remove(dimension)
    if ones := [position for position, dimension in enumerate(left) if dimension in steps]:
        sizes = [size for d, size in enumerate(shape_of(found)) if d not in ones]
        type = TensorType(f32, sizes)
        found = before.value(op_class("Squeeze"), [found, before.integers(ones)], type)
    if shape_of(found) != shape_of(result):
        found = before.value(op_class("Unsqueeze"), [found, before.integers(axes)], result.type)
    if name != op.name:
        found = before.node("Div", [found, before.number(terms, f32)], found, f32)
    before.replace(found)


def adds_unknown(op: Operation) -> bool:
    """Whether an unknown number of elements is added up that are everything, or rows of few."""
    axes, sizes = _axes(op), shape_of(op.operands[0])
    unknown = [axis for axis, size in enumerate(sizes) if size == DYNAMIC_INDEX]
    if not unknown or not set(unknown) <= set(axes) or 0 in sizes:
        return False
    known = prod(size for size in sizes if size != DYNAMIC_INDEX)
    return _kept(op, axes) == 1 or (len(unknown) == 1 and known <= _NARROW)


def _kept(op: Operation, axes: Sequence[int]) -> int:
    """How many sums there are, of which each is of all elements along the dimensions that are reduced."""
    return prod(size for axis, size in enumerate(shape_of(op.operands[0])) if axis not in axes)


def _add_unknown(op: Operation, axes: Sequence[int]) -> None:
    """Adds up an unknown number of elements in parts."""
    x, (result,), before = op.operands[0], op.results, Nodes(op)
    kept = _kept(op, axes)
    if kept == 1:
        x, axis, steps = _reshaped(before, x, [DYNAMIC_INDEX]), 0, [0, 1]
    else:
        axis = shape_of(x).index(DYNAMIC_INDEX)
        steps = [a + (a > axis) for a in axes] + [axis + 1]
    found = _by_parts(before, x, axis)
    left = list(range(len(shape_of(found))))
    for number, step in enumerate(sorted(steps, key=lambda step: step != axis + 1)):
        keeps = number % 2 == 1  # see `_add_parts`
        found = _reduced(before, "onnx.ReduceSum", found, left.index(step), keeps)
        if not keeps:
            left.remove(step)
    found = _reshaped(before, found, shape_of(result))
    if op.name == "onnx.ReduceMean":
        count = before.value(op_class("Size"), [op.operands[0]], TensorType(i64, []))
        if kept != 1:
            count = before.node("Div", [count, before.number(kept, i64)], count, i64)
        found = before.node(
            "Div", [found, before.node("Cast", [count], count, f32, to=f32)], found, f32
        )
    before.replace(found)


def _by_parts(before: Nodes, x: SSAValue, axis: int) -> SSAValue:
    """With zeros behind a dimension of unknown size, which becomes parts and their elements."""
    sizes = shape_of(x)
    line = TensorType(i64, [1])
    # OpenVINO divides integers as floats of 32 bits: the first elements of all parts are counted instead
    bounds = [before.integers([number]) for number in (0, _END, axis, _PART)]
    first = before.value(op_class("Slice"), [x, *bounds], TensorType(f32, sizes))
    counts = [_size(before, each, axis) for each in (first, x)]
    whole = before.value(op_class("Mul"), [counts[0], before.integers([_PART])], line)
    missing = before.value(op_class("Sub"), [whole, counts[1]], line)
    rank = len(sizes)
    ends = [before.integers([0] * (rank + axis)), missing]
    if axis < rank - 1:
        ends.append(before.integers([0] * (rank - axis - 1)))
    joined = onnx.attributes("Concat", {"axis": 0})
    pads = before.value(op_class("Concat"), ends, TensorType(i64, [2 * rank]), joined)
    padded = before.value(op_class("Pad"), [x, pads], TensorType(f32, sizes))
    return _reshaped(before, padded, [*sizes[:axis], DYNAMIC_INDEX, _PART, *sizes[axis + 1 :]])


def _size(before: Nodes, x: SSAValue, axis: int) -> SSAValue:
    """The size of a dimension, as a list."""
    place = onnx.attributes("Shape", {"start": axis, "end": axis + 1})
    return before.value(op_class("Shape"), [x], TensorType(i64, [1]), place)


def _lines(sizes: Sequence[int], axes: Sequence[int]) -> list[tuple[int, bool]]:
    """Dimensions, and whether they are added up: neighbours of known sizes that are, as one."""
    lines = list[tuple[int, bool]]()
    for axis, size in enumerate(sizes):
        is_added = axis in axes
        if is_added and axis - 1 in axes and DYNAMIC_INDEX not in (size, lines[-1][0]):
            lines[-1] = (lines[-1][0] * size, True)
        else:
            lines.append((size, is_added))
    return lines


def _in_turn(dimensions: Sequence[int]) -> list[int]:
    """Neighbours in their order, so that parts are added to each other first; lines within others before these."""
    runs = list[list[int]]()
    for dimension in dimensions:
        if runs and runs[-1][-1] == dimension - 1:
            runs[-1].append(dimension)
        else:
            runs.append([dimension])
    return [dimension for run in reversed(runs) for dimension in run]


def _parts(size: int) -> int:
    """Into how many parts a line is cut; 0 if its length has no divisor near its root."""
    return next((n for n in range(isqrt(size), _FEWEST - 1, -1) if size % n == 0), 0)


def _padded(before: Nodes, x: SSAValue, axes: Sequence[int]) -> SSAValue:
    """With zeros behind, so that some lines can be cut."""
    behind = [-size % _PART if axis in axes else 0 for axis, size in enumerate(shape_of(x))]
    sizes = [size + more for size, more in zip(shape_of(x), behind, strict=True)]
    pads = before.integers([0] * len(behind) + behind)
    return before.value(op_class("Pad"), [x, pads], TensorType(f32, sizes))


def _reshaped(before: Nodes, x: SSAValue, sizes: Sequence[int]) -> SSAValue:
    if list(shape_of(x)) == list(sizes):
        return x
    target = before.integers([-1 if size == DYNAMIC_INDEX else size for size in sizes])
    return before.value(op_class("Reshape"), [x, target], TensorType(f32, sizes))


def _reduced(before: Nodes, name: str, x: SSAValue, axis: int, keeps: bool) -> SSAValue:
    kind, sizes = name.removeprefix("onnx."), list(shape_of(x))
    sizes[axis : axis + 1] = [1] if keeps else []
    operands, type = [x, before.integers([axis])], TensorType(f32, sizes)
    return before.value(
        op_class(kind), operands, type, onnx.attributes(kind, {"keepdims": int(keeps)})
    )
