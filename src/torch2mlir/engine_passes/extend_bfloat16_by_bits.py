"""``extend-bfloat16-by-bits``: a number that has been rounded to bfloat16 stays rounded when it becomes a wider float.

Compiling a loop that rounds an f32 to bf16 and extends it again, as the two ops become after fusion, IREE 3.13 leaves
out both where a comparison, ``floor``, ``ceil`` or ``round`` reads the result. The bits of a bf16 are the upper ones of
the f32 of the same value: moved there as an integer, they cancel with nothing.
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
    f32,
    i16,
    i32,
)
from xdsl.ir import Attribute, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.conversion.torch_to_linalg.scalars import default_properties
from torch2mlir.dialects import tosa
from torch2mlir.engine_passes.beside import Beside
from torch2mlir.engine_passes.loop_nests import over_elements

_HALF_A_WORD = 16
_CONVERSIONS = (arith.ExtFOp, arith.TruncFOp, tosa.CastOp)


class ExtendBfloat16ByBitsPass(PassForOps):
    """See the module's docstring."""

    name = "extend-bfloat16-by-bits"
    looks_for = frozenset({arith.ExtFOp.name, tosa.CastOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = [each for each in op.walk() if isinstance(each, _CONVERSIONS)]
        if not any(_is(each.results[0], BFloat16Type) for each in found):
            return
        for each in found:
            if _is(each.operands[0], BFloat16Type):
                if isinstance(each, arith.ExtFOp) and not isinstance(each.result.type, TensorType):
                    before = Beside(each)
                    before.replace(_extended(before, each.operands[0], each.result.type))
                elif isinstance(each, tosa.CastOp) and _is(each.results[0], Float32Type):
                    over_elements(each, lambda before, x: _extended(before, x, f32))


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
