"""``integers-to-bfloat16-by-bits``: integers and masks become bf16 by way of f32, whose upper bits are kept.

IREE 3.13 makes one conversion of a conversion to a float and one from there to bf16, and no library of its has that
one: the program does not link ("undefined symbol: __truncsfbf2"), but on processors that round to bf16 themselves.
PyTorch converts to f32 first, too.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float64Type,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    TensorType,
    bf16,
    f32,
    i16,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from torch2mlir.contract import element_types
from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.conversion.torch_to_linalg.scalars import default_properties
from torch2mlir.dialects import linalg, stablehlo, tosa
from torch2mlir.dialects.tensors import shape_of
from torch2mlir.engine_passes.beside import Beside
from torch2mlir.engine_passes.loop_nests import computed

_OF_INTEGERS = {arith.SIToFPOp.name, arith.UIToFPOp.name}
_OF_ELEMENTS = {*_OF_INTEGERS, arith.TruncFOp.name}
_OF_TENSORS = {tosa.CastOp.name, stablehlo.ConvertOp.name}


class IntegersToBfloat16ByBitsPass(PassForOps):
    """See the module's docstring."""

    name = "integers-to-bfloat16-by-bits"
    looks_for = frozenset(_OF_ELEMENTS | _OF_TENSORS)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in list(op.walk()):
            if each.name in self.looks_for and _is_of_integers(each):
                before = Beside(each)
                x = each.operands[0]
                if not isinstance(x.type, TensorType):
                    kind = None if each.name == arith.TruncFOp.name else type(each)
                    before.replace(_rounded(before, _single(before, x, kind)))
                    continue
                if isinstance(_element(x), IntegerType):
                    x = before.value(type(each), [x], TensorType(f32, shape_of(x)))
                before.replace(computed(before, [x], bf16, _from_float))


def _element(value: SSAValue) -> Attribute:
    return value.type.element_type if isinstance(value.type, TensorType) else value.type


def _is_of_integers(op: Operation) -> bool:
    """Whether an op makes bf16 of integers, or of floats that have been made of integers and moved at the most."""
    if not isinstance(_element(op.results[0]), BFloat16Type):
        return False
    value: SSAValue | None = op.operands[0]
    while value is not None:
        if isinstance(_element(value), IntegerType):
            return True
        value = _source(value)
    return False


def _source(value: SSAValue) -> SSAValue | None:
    """What a value is made of, if that is one value, or the number of a conversion."""
    owner = value.owner
    if isinstance(owner, Block):
        nest, place = owner.parent_op(), [argument is value for argument in owner.args].index(True)
        inputs = nest.inputs if isinstance(nest, linalg.GenericOp) else ()
        return inputs[place] if place < len(inputs) else None
    if isinstance(owner, linalg.GenericOp):
        end = owner.body.block.last_op
        return None if end is None else end.operands[owner.results.index(value)]
    if owner.name in _OF_INTEGERS:
        return owner.operands[0]
    sources = [x for x in owner.operands if _is_data(x)]
    return sources[0] if len(sources) == 1 and not owner.regions else None


def _is_data(value: SSAValue) -> bool:
    return isinstance(value.type, TensorType) or element_types.is_float(value.type)


def _from_float(before: Beside, x: SSAValue) -> SSAValue:
    return _rounded(before, _single(before, x, None))


def _single(before: Beside, x: SSAValue, kind: type[Operation] | None) -> SSAValue:
    """A number as f32."""
    if kind is None and isinstance(x.type, Float64Type):
        kind = arith.TruncFOp
    return x if kind is None else before.value(kind, [x], f32, default_properties(kind))


def _rounded(before: Beside, number: SSAValue) -> SSAValue:
    """An f32 as a bf16: the upper half of its bits, a half of their last place added before, ties to even."""

    def bits(op: type[Operation], *operands: SSAValue) -> SSAValue:
        return before.value(op, operands, i32, default_properties(op))

    def constant(value: int) -> SSAValue:
        return before.constant(IntegerAttr(value, i32))

    whole = before.value(arith.BitcastOp, [number], i32)
    is_odd = bits(arith.AndIOp, bits(arith.ShRUIOp, whole, constant(16)), constant(1))
    up = bits(arith.AddiOp, bits(arith.AddiOp, whole, constant(0x7FFF)), is_odd)
    upper = bits(arith.ShRUIOp, up, constant(16))
    half = before.value(arith.TruncIOp, [upper], i16, default_properties(arith.TruncIOp))
    return before.value(arith.BitcastOp, [half], bf16)
