"""``tosa-hold-zeros``: a constant 0.0 that a TOSA product or sum takes is made by ``linalg.fill``.

MLIR's folder of ``tosa.mul``, which IREE 3.13 runs, gives 0.0 for a product with a constant zero, where a NaN, an
infinity or a negative number gives something else; that of ``tosa.add`` gives -0.0 for the sum of -0.0 and 0.0. A
filled tensor is no constant to them, and no op of its own after fusion.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import tensor
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    ModuleOp,
    TensorType,
)
from xdsl.ir import Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.conversion.beside import Beside
from torch2mlir.dialects import linalg, tosa
from torch2mlir.dialects.linalg.structured import SEGMENTS, segment_sizes


class TosaHoldZerosPass(PassForOps):
    """See the module's docstring."""

    name = "tosa-hold-zeros"
    looks_for = frozenset({tosa.AddOp.name, tosa.MulOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in list(op.walk()):
            if isinstance(each, (tosa.AddOp, tosa.MulOp)):
                for position, value in enumerate(each.operands):
                    if (literal := _zero(value)) is not None:
                        each.operands[position] = _filled(each, value, literal)


def _zero(value: SSAValue) -> FloatAttr | None:
    """The number that all elements of a constant of floats are, where that is a zero."""
    if not isinstance(value.owner, tosa.ConstOp):
        return None
    literal, type = value.owner.properties["values"], value.type
    if (
        not isinstance(literal, DenseIntOrFPElementsAttr)
        or not isinstance(type, TensorType)
        or not isinstance(type.element_type, AnyFloat)
        or not literal.is_splat()
        or literal.get_values()[0] != 0
    ):
        return None
    return FloatAttr(float(literal.get_values()[0]), type.element_type)


def _filled(near: Operation, value: SSAValue, number: FloatAttr) -> SSAValue:
    before = Beside(near)
    operands = [before.constant(number), before.value(tensor.EmptyOp, [], value.type)]
    return before.value(linalg.FillOp, operands, value.type, {SEGMENTS: segment_sizes(1, 1)})
