"""Tensors that a program computes into without having read them from memory, for an engine that computes them once.

IREE 3.13 computes what reads no memory for each of its readers: numbers everywhere, ``arange``, a mask of places, and
what it finds to be such (``x != x``). Each reader updates its own where it lies, and then IREE finds that they are
computed alike, and takes them for one: what one of them updates, the other one reads. Of int64, tokens and labels,
``F.pad(x, (1, 1), value=3)`` and ``F.pad(y, (1, 1), value=3)`` were the second, or nothing. So it is not of numbers
that it has a command for, which fills with 1 or 4 bytes at a time: numbers of as many bytes, and those that repeat
them (0, -1). Other half floats it fills too, and refuses the call if they do not lie at a multiple of 4 bytes.
StableHLO's number everywhere in a tensor of unknown size is computed, whatever it is: ``z = torch.zeros(n)`` that two
updates began with was what either of them left.

- What is computed into is copied, with a look at memory.
- What is padded with wide numbers is padded with 0, and differs by their bits before and after.

What ops of Linalg accumulate into, IREE fills inside of them.
"""

from __future__ import annotations

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    ComplexType,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    TensorType,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import Attribute, Operation, SSAValue

from torch2mlir.dialects import chlo, linalg, tosa
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.tensors import element_of, i64_array, integers, shape_of, tensor_type
from torch2mlir.dialects.weights import dense_elements
from torch2mlir.engine_passes.beside import Beside
from torch2mlir.engine_passes.copies import Copies
from torch2mlir.engine_passes.kept_apart import is_unsigned
from torch2mlir.engine_passes.loop_nests import computed
from torch2mlir.engine_passes.op_kinds import (
    BROADCASTS,
    JOINS,
    LITERALS,
    NUMBERS,
    PLACES,
    RESHAPES,
    REVERSALS,
    SLICES,
    TRANSPOSES,
    is_elementwise,
)
from torch2mlir.engine_passes.own_written_arguments import written_values

_COMMAND_BYTES = (1, 4)
"""What IREE fills with by a command has one of these many bytes, or repeats them."""
_MOVING = RESHAPES | SLICES | TRANSPOSES | REVERSALS | JOINS
"""Ops of whose result IREE knows what it knows of the operands."""
_OF_FIRST = RESHAPES | BROADCASTS | {"linalg.fill", "tensor.splat"}
"""Ops that have one number everywhere if their first operand is or has one."""
_COMPUTED = frozenset({"stablehlo.dynamic_broadcast_in_dim"})
"""Ops that IREE makes a loop nest of, whatever their operand is."""
_PADS = tensor.PadOp | tosa.PadOp | hlo.PadOp | hlo.DynamicPadOp


def own_unread_memory(function: FuncOp) -> None:
    """Makes what is computed into, or padded with, a tensor of its own, where it reads no memory."""
    _copy_written(function)
    for op in list(function.body.walk()):
        if isinstance(op, hlo.ReduceWindowOp) and "padding" in op.properties:
            _pad_beforehand(op)
    for op in list(function.body.walk()):
        if isinstance(op, _PADS) and _is_padded_by_calls(op.results[0], number := _padding(op)):
            _pad_with_zeros(op, number)


def _is_padded_by_calls(padded: SSAValue, number: SSAValue) -> bool:
    element = element_of(padded)
    # complex numbers IREE does not pad at all
    is_padded = _is_wide(element) and not isinstance(element, ComplexType)
    return is_padded and not _repeats(number)


def _pad_beforehand(op: Operation) -> None:
    """Writes the padding of windows as an op of its own, if it is of wide numbers."""
    count = len(op.results)
    tensors, numbers = op.operands[:count], op.operands[count:]
    if not any(map(_is_padded_by_calls, tensors, numbers)) or "base_dilations" in op.properties:
        return
    edges = integers(op.properties.pop("padding"))
    low, high = edges[::2], edges[1::2]
    properties = {
        "edge_padding_low": i64_array(low),
        "edge_padding_high": i64_array(high),
        "interior_padding": i64_array([0] * len(low)),
    }
    before = Beside(op)
    for place, (x, number) in enumerate(zip(tensors, numbers, strict=True)):
        sizes = [
            size if size == DYNAMIC_INDEX else size + below + above
            for size, below, above in zip(shape_of(x), low, high, strict=True)
        ]
        type = TensorType(element_of(x), sizes)
        op.operands[place] = before.value(hlo.PadOp, [x, number], type, properties)


def _copy_written(function: FuncOp) -> None:
    written, copies = written_values(function, of_linalg=False), Copies(function)
    known = dict[SSAValue, bool]()
    unread = [
        result
        for op in function.body.walk()
        for result in op.results
        if result in written and _may_read_nothing(result, known) and not _repeats(result)
    ]
    for value in unread:
        assert isinstance(value.owner, Operation)
        moves = value.owner.name in RESHAPES | SLICES
        if not moves and value.owner.name != "tensor.empty":
            copies.replace(value)


def _is_wide(element: Attribute) -> bool:
    return isinstance(element, ComplexType) or _bytes(element) > max(_COMMAND_BYTES)


def _bytes(element: Attribute) -> int:
    """How many bytes a real number takes in memory; 0 of what is none."""
    if isinstance(element, IntegerType):
        return -(-element.width.data // 8)
    return element.bitwidth // 8 if isinstance(element, AnyFloat) else 0


def _may_read_nothing(value: SSAValue, known: dict[SSAValue, bool]) -> bool:
    """Whether IREE may compute a tensor without reading one.

    What is computed place by place may come to that, whatever it reads: ``x != x`` does.
    """
    if value not in known:
        known[value] = _find_may_read_nothing(value, known)
    return known[value]


def _find_may_read_nothing(value: SSAValue, known: dict[SSAValue, bool]) -> bool:
    op = value.owner
    if not isinstance(op, Operation) or not isinstance(value.type, TensorType):
        return False
    if (literal := _literal(op)) is not None:
        return isinstance(literal, DenseIntOrFPElementsAttr) and literal.is_splat()
    if op.name in _MOVING:
        moved = [each for each in op.operands if isinstance(each.type, TensorType)]
        return all(_may_read_nothing(each, known) for each in moved)
    if isinstance(op, linalg.GenericOp):
        kinds = op.get_iterator_types().data
        return all(kind.data == IteratorType.PARALLEL for kind in kinds)
    return op.name in NUMBERS | PLACES | BROADCASTS or is_elementwise(op.name)


def _literal(op: Operation) -> Attribute | None:
    if op.name not in LITERALS:
        return None
    return op.properties["values" if op.name == "tosa.const" else "value"]


def _repeats(number: SSAValue) -> bool:
    """Whether IREE fills with a number, or what a tensor has everywhere, by a command."""
    op = number.owner
    if not isinstance(op, Operation):
        return False
    if op.name in _COMPUTED and DYNAMIC_INDEX in shape_of(number):
        return False
    if op.name in _OF_FIRST:
        is_tensor = isinstance(number.type, TensorType)
        return (
            is_tensor and _bytes(element_of(number)) in _COMMAND_BYTES or _repeats(op.operands[0])
        )
    literal = _literal(op)
    if isinstance(literal, IntegerAttr | FloatAttr):
        scalar = TensorType(literal.type, [])
        literal = DenseIntOrFPElementsAttr.from_list(scalar, [literal.value.data])
    if not isinstance(literal, DenseIntOrFPElementsAttr):
        return False
    found = literal.data.data
    return any(found == found[:size] * (len(found) // size) for size in _COMMAND_BYTES)


def _padding(op: Operation) -> SSAValue:
    """What an op pads with."""
    if isinstance(op, tensor.PadOp):
        end = op.regions[0].block.last_op
        assert end is not None
        return end.operands[0]
    return op.operands[2 if isinstance(op, tosa.PadOp) else 1]


def _pad_with_zeros(op: Operation, number: SSAValue) -> None:
    before, behind = Beside(op), Beside(op, behind=True)
    if isinstance(op, tensor.PadOp):
        end = op.regions[0].block.last_op
        assert end is not None
        if isinstance(number.owner, Operation) and number.owner.parent is end.parent:
            number.owner.detach()
            before.insert(number.owner)
        end.operands[0] = before.constant(_zero(element_of(op.results[0])))
    else:
        kind, name = (
            (tosa.ConstOp, "values") if isinstance(op, tosa.PadOp) else (hlo.ConstantOp, "value")
        )
        zero = dense_elements(tensor_type(number), [0])
        place = 2 if isinstance(op, tosa.PadOp) else 1
        op.operands[place] = before.value(kind, [], number.type, {name: zero})
    op.operands[0] = _differing(before, op.operands[0], number)
    result = op.results[0]
    uses = [*result.uses]
    padded = _differing(behind, result, number)
    for use in uses:
        use.operation.operands[use.index] = padded


def _zero(element: Attribute) -> Attribute:
    if isinstance(element, AnyFloat):
        return FloatAttr(0.0, element)
    assert isinstance(element, IntegerType)
    return IntegerAttr(0, element)


def _differing(beside: Beside, x: SSAValue, number: SSAValue) -> SSAValue:
    """The bits in which the elements of a tensor differ from a number, as elements of the same type."""
    element = element_of(x)
    if is_unsigned(x):
        return beside.value(chlo.BroadcastXorOp, [x, number], x.type)

    def body(inside: Beside, each: SSAValue) -> SSAValue:
        other = number
        if isinstance(number.type, TensorType):
            first = [inside.index(0)] * len(shape_of(number))
            other = inside.value(tensor.ExtractOp, [number, *first], element)
        if not isinstance(element, AnyFloat):
            return inside.value(arith.XOrIOp, [each, other], element)
        bits = [inside.value(arith.BitcastOp, [value], i64) for value in (each, other)]
        return inside.value(arith.BitcastOp, [inside.value(arith.XOrIOp, bits, i64)], element)

    return computed(beside, [x], element, body)
