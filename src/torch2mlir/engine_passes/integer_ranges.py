"""What integers a program of the onnx dialect computes with, for an engine that holds those of 64 bits in 32.

It compares, divides and reduces those of 32 bits as floats, which hold them up to 2**24. A value of these types gets
the interval that its elements lie in, if those of the arguments lie in a given one and no dimension is longer than
given. Products of sizes count elements of tensors, of which memory does not hold so many; products of arguments, and of
sizes and constants, may leave 32 bits. Of floats that become integers the interval is known where they come from
integers and constants, as places in images do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, product
from math import ceil, floor, isfinite, prod
from typing import Any, NamedTuple

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    DenseIntOrFPElementsAttr,
    IntegerType,
    Signedness,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from torch2mlir.dialects.onnx import OnnxOp
from torch2mlir.dialects.tensors import element_of, integer, integers, shape_of

Interval = tuple[int, int]
FloatInterval = tuple[float, float]
_Either = tuple[Any, Any]
Known = dict[SSAValue, _Either]
"""An :data:`Interval` for integers; a :data:`FloatInterval` for floats that are numbers, if one is known."""
MOST = (1 << 31) - 1
EXACT = 1 << 24
"""Up to here every integer is a float of 32 bits."""
BOUNDS = (MOST, EXACT, 1 << 20, 1 << 16)
"""The largest magnitudes of arguments that are tried."""
COUNTED = 1 << 30
"""More elements are in no tensor."""
LONGEST = (COUNTED, EXACT, 1 << 20, 1 << 16)
"""The longest dimensions of unknown size that are tried."""

_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "Max": max,
    "Min": min,
}
_MOVING = {
    "CumSum",
    "Expand",
    "Flatten",
    "Gather",
    "GatherElements",
    "GatherND",
    "Identity",
    "Reshape",
    "ReduceMax",
    "ReduceMin",
    "Slice",
    "Squeeze",
    "Tile",
    "Transpose",
    "Unsqueeze",
    "Clip",
    "TopK",
}
"""Ops whose first result has elements of the first operand, or between them; sums are looked at first."""
_JOINING = {"Concat": 0, "Where": 1, "Pad": 0, "ScatterElements": 0, "ScatterND": 0}
"""Ops whose result has elements of several operands, from the one at this place on."""
_COMPARISONS = {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}
_OF_FLOATS = {"Clip", "Div", "MatMul", "Mod", "ReduceMax", "ReduceMin"}
"""Ops that compute with floats of 32 bits, whatever they are given; comparisons do too."""
_ROUNDED: dict[str, Callable[[float], float]] = {"Ceil": ceil, "Floor": floor, "Round": round}
_LARGEST_FLOAT = 1e30
_SLACK = 1e-6
"""By which part rounding to 32 bits moves a number at most, and more."""
_COUNTING = ("ArgMax", "ArgMin", "Shape", "Size", "NonZero")


def is_integer(type: Attribute) -> bool:
    """Whether elements are integers of 64 or 32 bits, with a sign."""
    if not isinstance(type, TensorType) or not isinstance(type.element_type, IntegerType):
        return False
    element = type.element_type
    return element.width.data in (32, 64) and element.signedness.data != Signedness.UNSIGNED


def _is_float(type: Attribute) -> bool:
    return isinstance(type, TensorType) and isinstance(type.element_type, AnyFloat)


class Limits(NamedTuple):
    """For which calls a program computes with the integers that it should have.

    Attributes:
        argument: the largest magnitude of integers in arguments.
        dimension: the longest dimension of an argument.
    """

    argument: int
    dimension: int


def limits_of(function: FuncOp) -> Limits | tuple[Operation, str]:
    """The widest limits within which a program stays in 32 bits, or an op that does not, and why.

    Those of at least a mebi are tried first, of integers and of dimensions: vocabularies have more than 65536 tokens.
    """
    culprit: tuple[Operation, str] | None = None
    for argument, dimension in (*product(BOUNDS[:-1], LONGEST[:-1]), *product(BOUNDS, LONGEST)):
        culprit = next(_leaving(function, Limits(argument, dimension)), None)
        if culprit is None:
            return Limits(argument, dimension)
    assert culprit is not None
    return culprit


def _leaving(function: FuncOp, limits: Limits) -> Iterator[tuple[Operation, str]]:
    """The ops that may have a result beyond 32 bits, or compute with what is no float."""
    known, bound = Known(), limits.argument
    sizes, counts = set[SSAValue](), set[SSAValue]()
    for argument in function.body.block.args:
        if not _is_float(argument.type):
            known[argument] = (-bound, bound)
    for op in _ops(function.body.block):
        if _rounds(op, known, counts):
            yield (
                op,
                "it computes with integers as with floats of 32 bits, and these may be beyond 2**24",
            )
        for result in op.results:
            if not is_integer(result.type):
                if _is_float(result.type) and (floats := _of_floats(op, result, known)) is not None:
                    if _is_size(op, sizes):
                        floats = _counted(op, result, floats, sizes, counts)
                    known[result] = floats
                continue
            interval = _interval(op, result, known, limits.dimension)
            if _is_size(op, sizes):
                interval = _counted(op, result, interval or (-COUNTED, COUNTED), sizes, counts)
            if interval is None or interval[0] < -MOST or interval[1] > MOST:
                is_read = op.name != "onnx.Constant" or _is_computed_with(result)
                if is_read and _is_wide(result.type):
                    yield op, "it holds 64-bit integers in 32 bits, and this may leave those"
                interval = (-MOST, MOST)
            known[result] = interval


def _is_wide(type: Attribute) -> bool:
    return isinstance(type, TensorType) and type.element_type != IntegerType(32)


def _rounds(op: Operation, known: Known, counts: set[SSAValue]) -> bool:
    """Whether an op may get integers that it takes for other ones.

    A comparison is right if all but one operand are within what floats hold; numbers of elements are not looked at.
    """
    name = op.name.removeprefix("onnx.")
    integers = [x for x in op.operands if is_integer(x.type) and x not in counts]
    magnitudes = sorted(max(map(abs, known.get(x, (-MOST, MOST)))) for x in integers)
    if name in _COMPARISONS:
        return any(size > EXACT for size in magnitudes[:-1])
    if name == "MatMul" and integers:
        found = _interval(op, op.results[0], known)
        return found is None or max(map(abs, found)) > EXACT
    return name in _OF_FLOATS and any(size > EXACT for size in magnitudes)


def _is_size(op: Operation, sizes: set[SSAValue]) -> bool:
    """Whether an op computes from sizes, and from constants with these."""
    if op.name in ("onnx.Shape", "onnx.Size"):
        return True
    others = [operand for operand in op.operands if operand not in sizes]
    constants = all(getattr(each.owner, "name", "") == "onnx.Constant" for each in others)
    return constants and len(others) < len(op.operands)


def _counted(
    op: Operation,
    result: SSAValue,
    interval: _Either,
    sizes: set[SSAValue],
    counts: set[SSAValue],
) -> _Either:
    """The interval of what is computed from sizes, where several together count the elements of a tensor."""
    is_of_several = op.name == "onnx.Size" or sum(x in sizes for x in op.operands) > 1
    sizes.add(result)
    if is_of_several or not counts.isdisjoint(op.operands):
        counts.add(result)
    if not is_of_several:
        return interval
    return max(interval[0], -COUNTED), min(interval[1], COUNTED)


def _is_computed_with(value: SSAValue) -> bool:
    """Whether a constant is more than a bound of a slice, which is held inside anyway."""
    return any(use.operation.name != "onnx.Slice" for use in value.uses)


def _ops(block: Block) -> Iterator[Operation]:
    """All ops, those of a body before what it is of."""
    for op in block.ops:
        for region in op.regions:
            for nested in region.blocks:
                yield from _ops(nested)
        yield op


def _interval(
    op: Operation, result: SSAValue, known: Known, longest: int = COUNTED
) -> Interval | None:
    if not isinstance(op, OnnxOp):
        return None
    name = op.row.name
    operands = [known.get(operand) for operand in op.operands]
    if name == "If":
        return _of_branches(op, result, known)
    if name in ("Constant", "ConstantOfShape"):
        value = op.properties.get("value")
        if not isinstance(value, DenseIntOrFPElementsAttr):
            return None
        elements = [int(element) for element in value.get_values()] or [0]
        return min(elements), max(elements)
    if name in _COUNTING or (name == "TopK" and result is op.results[1]):
        return 0, COUNTED if name == "Size" else _longest(op, longest)
    if name == "Cast":
        return _cast(op.operands[0].type, operands[0])
    if name in _JOINING and "reduction" in op.properties:
        return _with_updates(op, operands[0], operands[2])
    if name in _JOINING:
        return _union(operands[_JOINING[name] :])
    first = operands[0] if operands else None
    if first is None:
        return None
    if name in _ARITHMETIC:
        return _combined(_ARITHMETIC[name], operands)
    if name == "Div" and operands[1] is not None and operands[1][0] > 0:
        return first[0] // operands[1][0], first[1] // operands[1][0]
    if name in ("Neg", "Abs", "Div", "Mod", "Sign"):
        size = max(abs(first[0]), abs(first[1]))
        if name == "Mod" and len(operands) > 1 and operands[1] is not None:
            size = max(abs(operands[1][0]), abs(operands[1][1]))
        return (0 if first[0] >= 0 or name == "Abs" else -size), size
    if name == "Range":
        return _union(operands[:2])
    if name in ("CumSum", "MatMul"):
        return _total(op, first, operands)
    return first if name in _MOVING else None


def _of_branches(op: Operation, result: SSAValue, known: Known) -> _Either | None:
    """What the branches of ``onnx.If`` hand on for a result; None if that of one is not known."""
    place = op.results.index(result)
    handed_on = [region.block.ops.last for region in op.regions]
    return _all_of([known.get(end.operands[place]) for end in handed_on if end is not None])


def _of_floats(op: Operation, result: SSAValue, known: Known) -> FloatInterval | None:
    """What floats lie between, as computed with 32 bits; None where they may be infinite, no numbers, or anything."""
    if not isinstance(op, OnnxOp):
        return None
    name = op.row.name
    if name in ("Constant", "ConstantOfShape"):
        value = op.properties.get("value")
        elements = value.get_values() if isinstance(value, DenseIntOrFPElementsAttr) else ()
        found = _held([float(element) for element in elements]) if elements else None
    elif name == "Cast":
        operand = known.get(op.operands[0])
        is_boolean = element_of(op.operands[0]) == IntegerType(1)
        found = (0.0, 1.0) if is_boolean else operand
    elif name == "Where" and _is_where_itself(op):
        found = known.get(op.operands[1])
    elif name in _JOINING.keys() - {"Pad"} and "reduction" not in op.properties:
        found = _all_of([known.get(x) for x in op.operands[_JOINING[name] :] if _is_float(x.type)])
    elif name in _MOVING - {"CumSum", "Clip"}:
        found = known.get(op.operands[0])
    elif name == "If":
        found = _of_branches(op, result, known)
    elif name == "Pad":
        found = _all_of([(0.0, 0.0), *(known.get(x) for x in op.operands if _is_float(x.type))])
    else:
        found = _computed(name, [known.get(operand) for operand in op.operands])
    if found is None:
        return None
    low, high = found
    return _held([low - abs(low) * _SLACK, high + abs(high) * _SLACK])


def _is_where_itself(choice: OnnxOp) -> bool:
    """Whether a value is chosen where it is equal to itself, as ``torch-keep-products`` writes: a number always is."""
    condition, value = choice.operands[0].owner, choice.operands[1]
    return (
        isinstance(condition, OnnxOp)
        and condition.row.name == "Equal"
        and all(operand is value for operand in condition.operands)
    )


def _computed(name: str, operands: Sequence[FloatInterval | None]) -> FloatInterval | None:
    """What arithmetic makes of intervals."""
    numbers = [operand for operand in operands if operand is not None]
    if len(numbers) < len(operands) or not numbers:
        return None
    low, high = numbers[0]
    if name in _ROUNDED:
        return _ROUNDED[name](low), _ROUNDED[name](high)
    if name == "Neg":
        return -high, -low
    if name == "Abs":
        return 0, max(abs(low), abs(high))
    if name == "Div" and numbers[1][0] > 0:
        return _held([a / b for a, b in product(numbers[0], numbers[1])])
    if name == "Clip":
        bounds = list(chain.from_iterable(numbers[1:]))
        return min(low, *bounds), max(high, *bounds)
    return _combined(_ARITHMETIC[name], numbers) if name in _ARITHMETIC else None


def _all_of(operands: Sequence[_Either | None]) -> _Either | None:
    return None if None in operands else _union(operands)


def _held(elements: Sequence[float]) -> FloatInterval | None:
    """The interval of some numbers, if all are some."""
    if not all(isfinite(each) and abs(each) < _LARGEST_FLOAT for each in elements):
        return None
    return min(elements), max(elements)


def _longest(op: Operation, longest: int) -> int:
    """The largest position in a tensor's dimensions, the longest of which is given for arguments alone."""
    tensor = op.operands[0]
    shape = shape_of(tensor)
    if min(shape, default=0) >= 0:
        return max(shape, default=1)
    if isinstance(tensor.owner, Block) and isinstance(tensor.owner.parent_op(), FuncOp):
        return max(longest, *shape)
    return COUNTED // _step(op) if op.name == "onnx.Shape" else COUNTED


def _step(op: Operation) -> int:
    """Of how many elements along the dimension whose size is asked for one has been taken: a power of two, or 1."""
    tensor = op.operands[0].owner
    if not isinstance(tensor, OnnxOp) or tensor.name != "onnx.Slice" or len(tensor.operands) < 5:
        return 1
    axes, steps = (
        each.owner.properties.get("value") if isinstance(each.owner, OnnxOp) else None
        for each in tensor.operands[3:5]
    )
    start, end = op.properties.get("start"), op.properties.get("end")
    if axes is None or steps is None or start is None or end is None:
        return 1
    if [*integers(axes), integer(start) + 1] != [integer(start), integer(end)]:
        return 1
    (step,) = integers(steps)
    return step if step > 0 and COUNTED % step == 0 else 1


def _combined(
    code: Callable[[Any, Any], Any], operands: Sequence[_Either | None]
) -> _Either | None:
    total = operands[0]
    for other in operands[1:]:
        if total is None or other is None:
            return None
        corners = [code(a, b) for a, b in product(total, other)]
        total = min(corners), max(corners)
    return total


def _total(op: Operation, first: Interval, operands: Sequence[Interval | None]) -> Interval | None:
    """A sum of as many products, or elements, as a dimension has, if that is known."""
    shape = shape_of(op.operands[0])
    count = shape[-1] if op.name == "onnx.MatMul" else prod(shape)
    if op.name == "onnx.MatMul":
        found = _combined(_ARITHMETIC["Mul"], operands)
        if found is None:
            return None
        first = found
    return None if count < 0 else (min(0, first[0] * count), max(0, first[1] * count))


def _with_updates(op: Operation, x: Interval | None, updates: Interval | None) -> Interval | None:
    """What a scatter makes of elements: each may get all updates."""
    word, shape = op.properties["reduction"], shape_of(op.operands[2])
    if x is None or updates is None or not isinstance(word, StringAttr):
        return None
    if word.data in ("max", "min"):
        return _union([x, updates])
    if word.data != "add":
        return None
    count = COUNTED if DYNAMIC_INDEX in shape else prod(shape)
    return x[0] + min(0, updates[0] * count), x[1] + max(0, updates[1] * count)


def _union(operands: Sequence[_Either | None]) -> _Either | None:
    found = [operand for operand in operands if operand is not None]
    if not found:
        return None
    return min(low for low, _ in found), max(high for _, high in found)


def _cast(type: Attribute, operand: _Either | None) -> Interval | None:
    """Narrower integers and booleans; a float may be anything if nothing is known of it."""
    element = type.element_type if isinstance(type, TensorType) else None
    if operand is not None and isinstance(element, AnyFloat):
        return int(operand[0]), int(operand[1])
    if not isinstance(element, IntegerType):
        return None
    if operand is not None and is_integer(type):
        return operand
    if element.width.data == 64:
        return None
    if element.signedness.data == Signedness.UNSIGNED or element.width.data == 1:
        return 0, (1 << element.width.data) - 1
    return -(1 << (element.width.data - 1)) + (element.width.data == 32), (
        1 << (element.width.data - 1)
    ) - 1
