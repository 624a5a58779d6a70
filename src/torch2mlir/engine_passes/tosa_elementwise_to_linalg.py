"""``tosa-elementwise-to-linalg``: TOSA ops on several tensors of one unknown size as loops.

MLIR's TosaToLinalg, and IREE 3.13 with it, asks at run time of each unknown size of each operand whether it is 1, and
has a branch that broadcasts the operand there. Programs of many such branches IREE does not schedule ("cyclic
dependencies", "timepoint coverage"), or reads memory of before it is there. In a program from PyTorch broadcasting is
explicit: an unknown size of an operand is that of the result.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects import arith, math, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    AnyFloat,
    ArrayAttr,
    BoolAttr,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    Signedness,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineMap

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.conversion.torch_to_linalg.scalars import default_properties
from torch2mlir.dialects import linalg, tosa
from torch2mlir.dialects.linalg.structured import iterator_types
from torch2mlir.dialects.tensors import element_of, shape_of, tensor_type
from torch2mlir.dialects.tosa.attributes import NanMode, NanModeAttr
from torch2mlir.engine_passes.beside import INDEX, Beside

OpClass = type[Operation]

_OF_FLOATS: dict[OpClass, OpClass] = {
    tosa.AddOp: arith.AddfOp,
    tosa.MaximumOp: arith.MaximumfOp,
    tosa.MinimumOp: arith.MinimumfOp,
    tosa.MulOp: arith.MulfOp,
    tosa.PowOp: math.PowFOp,
    tosa.SubOp: arith.SubfOp,
}
_OF_INTEGERS: dict[OpClass, OpClass] = {
    tosa.AddOp: arith.AddiOp,
    tosa.ArithmeticRightShiftOp: arith.ShRSIOp,
    tosa.BitwiseAndOp: arith.AndIOp,
    tosa.BitwiseOrOp: arith.OrIOp,
    tosa.BitwiseXorOp: arith.XOrIOp,
    tosa.IntDivOp: arith.DivSIOp,
    tosa.LogicalAndOp: arith.AndIOp,
    tosa.LogicalLeftShiftOp: arith.ShLIOp,
    tosa.LogicalOrOp: arith.OrIOp,
    tosa.LogicalRightShiftOp: arith.ShRUIOp,
    tosa.LogicalXorOp: arith.XOrIOp,
    tosa.MaximumOp: arith.MaxSIOp,
    tosa.MinimumOp: arith.MinSIOp,
    tosa.MulOp: arith.MuliOp,
    tosa.SubOp: arith.SubiOp,
}
_COMPARISONS: dict[OpClass, tuple[int, int]] = {
    tosa.EqualOp: (1, 0),
    tosa.GreaterOp: (2, 4),
    tosa.GreaterEqualOp: (3, 5),
}
"""Comparison -> the predicate of ``arith.cmpf`` and of ``arith.cmpi``."""

_TAKEN = (*_OF_FLOATS, *_OF_INTEGERS, *_COMPARISONS, tosa.SelectOp)
_PROPAGATE = NanModeAttr(NanMode.PROPAGATE)


class TosaElementwiseToLinalgPass(PassForOps):
    """See the module's docstring."""

    name = "tosa-elementwise-to-linalg"
    looks_for = frozenset(op.name for op in _TAKEN)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in list(op.walk()):
            if type(each) in _TAKEN:
                operands = each.operands[:2] if isinstance(each, tosa.MulOp) else each.operands
                if _is_handed_on(each):
                    continue
                in_loops = isinstance(each, tosa.IntDivOp)  # which are guarded later
                if in_loops or _meet_in_unknown_size(operands) or any(map(_number, operands)):
                    _to_loops(each, operands)


def _is_handed_on(op: Operation) -> bool:
    """Whether it is what a loop hands on, which IREE takes as it is, and refuses as a loop of two.

    Of integers beside an i64 of an unknown size it is the other way round.
    """
    if not isinstance(op, tosa.SelectOp):
        return False
    is_float = isinstance(element_of(op.results[0]), AnyFloat)
    ends = [use.operation for use in op.results[0].uses if isinstance(use.operation, tosa.YieldOp)]
    return any(is_float or not any(map(_is_line_of_longs, end.operands)) for end in ends)


def _is_line_of_longs(value: SSAValue) -> bool:
    return element_of(value) == i64 and DYNAMIC_INDEX in shape_of(value)


def _meet_in_unknown_size(operands: Sequence[SSAValue]) -> bool:
    """Whether an unknown size of an operand would be compared with that of another."""
    return any(
        DYNAMIC_INDEX in sizes and sum(size != 1 for size in sizes) > 1
        for sizes in zip(*map(shape_of, operands), strict=True)
    )


def _body(op: Operation, operands: Sequence[SSAValue]) -> Block | None:
    """The op on elements, as the body of a loop nest; None for what is more than one op there."""
    if isinstance(op, tosa.MulOp) and not _is_zero(op.operands[2]):
        return None
    elements = [element_of(value) for value in (*operands, op.results[0])]
    block = Block(arg_types=elements)
    combined = _on_elements(op, block.args[:-1], elements[-1])
    if combined is None:
        return None
    combined.location = op.location
    block.add_ops([combined, linalg.YieldOp(combined.results[0])])
    return block


def _on_elements(op: Operation, args: Sequence[SSAValue], result: Attribute) -> Operation | None:
    element, kind = args[-1].type, type(op)
    is_float = isinstance(element, AnyFloat)
    exact = op.properties.get("round", BoolAttr.from_bool(False)) == BoolAttr.from_bool(False)
    if not is_float and not _is_signless(element):
        return None
    if op.properties.get("nan_mode", _PROPAGATE) != _PROPAGATE or not exact:
        return None
    predicate: dict[str, Attribute] = {}
    if kind is tosa.SelectOp:
        op_class: OpClass | None = arith.SelectOp
    elif kind in _COMPARISONS:
        op_class = arith.CmpfOp if is_float else arith.CmpiOp
        predicate["predicate"] = IntegerAttr(_COMPARISONS[kind][not is_float], i64)
    else:
        op_class = (_OF_FLOATS if is_float else _OF_INTEGERS).get(kind)
    if op_class is None:
        return None
    return op_class.create(
        operands=args,
        result_types=[result],
        properties={**default_properties(op_class), **predicate},
    )


def _is_signless(element: Attribute) -> bool:
    return isinstance(element, IntegerType) and element.signedness.data is Signedness.SIGNLESS


def _is_zero(shift: SSAValue) -> bool:
    if not isinstance(shift.owner, tosa.ConstOp):
        return False
    literal = shift.owner.properties["values"]
    return isinstance(literal, DenseIntOrFPElementsAttr) and not any(literal.get_values())


def _number(value: SSAValue) -> SSAValue | None:
    """The number that a tensor of one element is made of."""
    while isinstance(value.owner, tosa.ReshapeOp):
        value = value.owner.operands[0]
    if isinstance(value.owner, tensor.FromElementsOp) and len(value.owner.operands) == 1:
        return value.owner.operands[0]
    return None


def _to_loops(op: Operation, operands: Sequence[SSAValue]) -> None:
    body = _body(op, operands)
    if body is None:
        return
    result, before, sizes = tensor_type(op.results[0]), Beside(op), list[SSAValue]()
    for axis, size in enumerate(result.get_shape()):
        if size == DYNAMIC_INDEX:
            known = next(value for value in operands if shape_of(value)[axis] != 1)
            sizes.append(before.value(tensor.DimOp, [known, before.index(axis)], INDEX))
    numbers = [_number(value) for value in operands]
    for argument, number in reversed(list(zip(body.args[:-1], numbers, strict=True))):
        if number is not None:
            argument.replace_all_uses_with(number)
            body.erase_arg(argument)
    read = [value for value, number in zip(operands, numbers, strict=True) if number is None]
    empty = before.value(tensor.EmptyOp, sizes, result)
    maps = [_map(shape_of(value), result.get_shape()) for value in (*read, empty)]
    kinds = iterator_types(parallel=len(result.get_shape()))
    nest = linalg.GenericOp.of(read, [empty], body, ArrayAttr(maps), kinds)
    before.replace(*before.insert(nest).results)


def _map(shape: Sequence[int], result: Sequence[int]) -> AffineMapAttr:
    """From the places of a result to those of an operand, whose sizes of 1 have one."""
    places = [
        AffineConstantExpr(0) if size == 1 and size != whole else AffineDimExpr(axis)
        for axis, (size, whole) in enumerate(zip(shape, result, strict=True))
    ]
    return AffineMapAttr(AffineMap(len(result), 0, tuple(places)))
