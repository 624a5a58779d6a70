"""``extend-bfloat16-by-bits``: a number that has been rounded to bfloat16 stays rounded when it becomes a wider float.

Compiling a loop that rounds an f32 to bf16 and extends it again, as the two ops become after fusion, IREE 3.13 leaves
out both where a comparison, ``floor``, ``ceil`` or ``round`` reads the result. The bits of a bf16 are the upper ones of
the f32 of the same value: moved there as an integer, they cancel with nothing. What compares or computes with elements
of bf16 IREE extends by itself, with the same loss: such ops get f32 made of bits, and what they give is rounded.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float32Type,
    Float64Type,
    IntegerAttr,
    ModuleOp,
    TensorType,
    bf16,
    f32,
    i16,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.conversion.torch_to_linalg.scalars import default_properties
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects import tosa
from torch2mlir.dialects.set_type import set_type
from torch2mlir.dialects.tensors import shape_of
from torch2mlir.engine_passes.beside import Beside
from torch2mlir.engine_passes.loop_nests import over_elements

_HALF_A_WORD = 16
_READING: tuple[type[Operation], ...] = (arith.CmpfOp, arith.FPToSIOp, arith.FPToUIOp)
_OF_TENSORS: tuple[type[Operation], ...] = (hlo.ConvertOp, tosa.CastOp)
_CONVERSIONS: tuple[type[Operation], ...] = (arith.ExtFOp, arith.TruncFOp, *_OF_TENSORS)
_ON_ELEMENTS: dict[type[Operation], type[Operation]] = {
    **dict.fromkeys(
        (
            *(tosa.AddOp, tosa.CeilOp, tosa.CosOp, tosa.EqualOp, tosa.ErfOp, tosa.ExpOp),
            *(tosa.FloorOp, tosa.GreaterEqualOp, tosa.GreaterOp, tosa.LogOp, tosa.MulOp),
            *(tosa.PowOp, tosa.ReciprocalOp, tosa.RsqrtOp, tosa.SigmoidOp, tosa.SinOp, tosa.SubOp),
            tosa.TanhOp,
        ),
        tosa.CastOp,
    ),
    **dict.fromkeys(
        (
            *(hlo.AddOp, hlo.CbrtOp, hlo.CeilOp, hlo.CompareOp, hlo.CosineOp, hlo.DivOp, hlo.ExpOp),
            *(hlo.Expm1Op, hlo.FloorOp, hlo.Log1pOp, hlo.LogOp, hlo.LogisticOp, hlo.MulOp),
            *(hlo.PowOp, hlo.RoundNearestEvenOp, hlo.RsqrtOp, hlo.SineOp, hlo.SqrtOp),
            *(hlo.SubtractOp, hlo.TanhOp),
        ),
        hlo.ConvertOp,
    ),
}
"""Ops on elements -> the op that converts what they take and give."""
_WITH_COMBINATIONS = (
    *(hlo.ReduceOp, hlo.ReduceWindowOp, hlo.ScatterOp, hlo.SelectAndScatterOp, hlo.SortOp),
)

_LOOKED_FOR: tuple[type[Operation], ...] = (
    *_READING,
    arith.ExtFOp,
    *_OF_TENSORS,
    *_ON_ELEMENTS,
)


class ExtendBfloat16ByBitsPass(PassForOps):
    """See the module's docstring."""

    name = "extend-bfloat16-by-bits"
    looks_for = frozenset(each.name for each in _LOOKED_FOR)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [x for x in op.walk() if type(x) in _ON_ELEMENTS and not _is_combining(x)]:
            if _is(each.operands[0], BFloat16Type):
                _compute_in_f32(each)
        found = [each for each in op.walk() if isinstance(each, _CONVERSIONS)]
        if not any(_is(each.results[0], BFloat16Type) for each in found):
            return
        for each in found:
            if _is(each.operands[0], BFloat16Type):
                if isinstance(each, arith.ExtFOp) and not isinstance(each.result.type, TensorType):
                    before = Beside(each)
                    before.replace(_extended(before, each.operands[0], each.result.type))
                elif (
                    isinstance(each, _OF_TENSORS)
                    and not _is_combining(each)
                    and _is(each.results[0], Float32Type)
                ):
                    over_elements(each, lambda before, x: _extended(before, x, f32))
        for each in [each for each in op.walk() if isinstance(each, _READING)]:
            if each.operands[0].type == bf16:
                before = Beside(each)
                each.operands = [_extended(before, x, f32) for x in each.operands]


def _is_combining(op: Operation) -> bool:
    """Whether it says how two elements are combined, in the region of an op that knows such regions."""
    return isinstance(op.parent_op(), _WITH_COMBINATIONS)


def _compute_in_f32(op: Operation) -> None:
    """Conversions around an op on tensors."""
    before, conversion = Beside(op), _ON_ELEMENTS[type(op)]
    for place, operand in enumerate(op.operands):
        if _is(operand, BFloat16Type):
            wide = TensorType(f32, shape_of(operand))
            op.operands[place] = before.value(conversion, [operand], wide)
    result = op.results[0]
    if _is(result, BFloat16Type):
        narrow, behind = result.type, Beside(op, behind=True)
        readers = [(use.operation, use.index) for use in result.uses]
        set_type(result, TensorType(f32, shape_of(result)))
        rounded = behind.value(conversion, [result], narrow)
        for reader, index in readers:
            reader.operands[index] = rounded


def _is(value: SSAValue, element: type[Attribute]) -> bool:
    type = value.type
    return isinstance(type.element_type if isinstance(type, TensorType) else type, element)


def _extended(before: Beside, x: SSAValue, type: Attribute) -> SSAValue:
    """A bf16 as a wider float."""
    bits = before.value(arith.BitcastOp, [x], i16)
    wide = before.value(arith.ExtUIOp, [bits], i32, default_properties(arith.ExtUIOp))
    places = before.constant(IntegerAttr(_HALF_A_WORD, i32))
    upper = before.value(arith.ShLIOp, [wide, places], i32, default_properties(arith.ShLIOp))
    number = before.value(arith.BitcastOp, [upper], f32)
    if isinstance(type, Float64Type):
        return before.value(arith.ExtFOp, [number], type, default_properties(arith.ExtFOp))
    return number
