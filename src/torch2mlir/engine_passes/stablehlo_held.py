"""Values that XLA is kept from knowing: what it does not see, it does not simplify."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    TensorType,
    i1,
)
from xdsl.ir import Operation, SSAValue

from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.tensors import element_of, shape_of
from torch2mlir.engine_passes.beside import Beside


def is_of_floats(value: SSAValue) -> bool:
    """Whether a value is a tensor of floats."""
    return isinstance(value.type, TensorType) and isinstance(value.type.element_type, AnyFloat)


def number_of(value: SSAValue) -> float | None:
    """What all elements of a constant are, if they are real; the places along a dimension of 1 are zeros."""
    op = value.owner
    if isinstance(op, hlo.BroadcastInDimOp | hlo.ReshapeOp):
        return number_of(op.operands[0])
    if isinstance(op, hlo.ConvertOp):
        source = element_of(op.operands[0])
        is_whole = isinstance(source, IntegerType) and source != i1
        return number_of(op.operands[0]) if is_whole else None
    if isinstance(op, hlo.IotaOp):
        dim = op.properties["iota_dimension"]
        is_single = isinstance(dim, IntegerAttr) and shape_of(value)[dim.value.data] == 1
        return 0.0 if is_single else None
    literal = op.properties.get("value") if isinstance(op, hlo.ConstantOp) else None
    if not isinstance(literal, DenseIntOrFPElementsAttr) or not literal.is_splat():
        return None
    number = literal.get_values()[0]
    return None if isinstance(number, tuple) else float(number)


def hold(op: Operation, place: int) -> None:
    """A barrier before an operand: XLA takes it away after it has simplified, before it fuses, as it has one reader."""
    value = op.operands[place]
    op.operands[place] = Beside(op).value(hlo.OptimizationBarrierOp, [value], value.type)
