"""``tosa-hold-zeros``: a constant zero that a TOSA product, sum or difference takes is made by ``linalg.fill``.

MLIR's folder of ``tosa.mul``, which IREE 3.13 runs, gives 0.0 for a product with a constant zero, where a NaN, an
infinity or a negative number gives something else; those of ``tosa.add`` and ``tosa.sub`` give -0.0 for -0.0 + 0.0 and
-0.0 - -0.0. The zero may be reshaped, cut out, cast or negated before, or a product of integers with one, which other
folders do first. A filled tensor is no constant to them, and no op of its own after fusion.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import tensor
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    TensorType,
)
from xdsl.ir import Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects import linalg, tosa
from torch2mlir.dialects.linalg.structured import SEGMENTS, segment_sizes
from torch2mlir.engine_passes.beside import Beside

_MOVEMENT = (
    tosa.AbsOp,
    tosa.CastOp,
    tosa.NegateOp,
    tosa.ReshapeOp,
    tosa.ReverseOp,
    tosa.SliceOp,
    tosa.TileOp,
    tosa.TransposeOp,
)
"""Ops that make zeros of zeros, of the first operand, and whose other operands are no elements."""
_USERS = (tosa.AddOp, tosa.MulOp, tosa.SubOp)


class TosaHoldZerosPass(PassForOps):
    """See the module's docstring."""

    name = "tosa-hold-zeros"
    looks_for = frozenset(op.name for op in _USERS)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in list(op.walk()):
            if isinstance(each, _USERS) and _is_of_floats(each):
                for position in (0, 1):
                    _hold(each, position)


def _is_of_floats(op: Operation) -> bool:
    type = op.results[0].type
    return isinstance(type, TensorType) and isinstance(type.element_type, AnyFloat)


def _hold(user: Operation, position: int) -> None:
    """Fills the zero that an operand is, or is made of by movement and products of integers."""
    value = user.operands[position]
    while (place := _place_of_zero(value.owner)) is not None:
        user, position = value.owner, place  # type: ignore[assignment]
        value = user.operands[position]
    if (literal := _zero(value)) is not None:
        user.operands[position] = _filled(user, value, literal)


def _place_of_zero(op: object) -> int | None:
    """Of which operand the result is a zero if that is one."""
    if isinstance(op, _MOVEMENT):
        return 0
    if not isinstance(op, tosa.MulOp) or _is_of_floats(op):
        return None
    zeros = (place for place, operand in enumerate(op.operands[:2]) if _zero(operand) is not None)
    return next(zeros, None)


def _zero(value: SSAValue) -> FloatAttr | IntegerAttr | None:
    """The number that all elements of a constant are, where that is a zero."""
    if not isinstance(value.owner, tosa.ConstOp):
        return None
    literal, type = value.owner.properties["values"], value.type
    if (
        not isinstance(literal, DenseIntOrFPElementsAttr)
        or not isinstance(type, TensorType)
        or not literal.is_splat()
        or (number := literal.get_values()[0]) != 0
    ):
        return None
    if isinstance(type.element_type, IntegerType):
        return IntegerAttr(0, type.element_type)
    return FloatAttr(float(number), type.element_type)


def _filled(near: Operation, value: SSAValue, number: FloatAttr | IntegerAttr) -> SSAValue:
    before = Beside(near)
    operands = [before.constant(number), before.value(tensor.EmptyOp, [], value.type)]
    return before.value(linalg.FillOp, operands, value.type, {SEGMENTS: segment_sizes(1, 1)})
