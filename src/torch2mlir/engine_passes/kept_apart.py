"""Values that IREE is to compute before whatever reads them.

Its barriers take no unsigned elements, of which only StableHLO has tensors: these go through as bits.
"""

from __future__ import annotations

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerType, Signedness, TensorType
from xdsl.ir import Operation, SSAValue

from torch2mlir.dialects import stablehlo
from torch2mlir.dialects.iree_barriers import ComputeBarrierOp, OptimizationBarrierOp
from torch2mlir.dialects.tensors import element_of, shape_of
from torch2mlir.engine_passes.beside import INDEX, Beside


def keep_apart(value: SSAValue) -> None:
    """Puts a barrier behind a value: reads of it are reads of memory."""
    op = value.owner
    if not isinstance(op, Operation):
        return
    readers, behind = {use.operation for use in value.uses}, Beside(op, behind=True)
    bits = signless(behind, value)
    sizes = [
        behind.value(tensor.DimOp, [bits, behind.index(axis)], INDEX)
        for axis, size in enumerate(shape_of(bits))
        if size == DYNAMIC_INDEX
    ]
    barrier = behind.value(ComputeBarrierOp, [bits, *sizes], bits.type)
    kept = typed_like(behind, barrier, value)
    value.replace_uses_with_if(kept, lambda use: use.operation in readers)


def hide(value: SSAValue) -> None:
    """Puts a value of known sizes behind one of which IREE knows nothing: no read of it is combined with its op."""
    if isinstance(value.owner, Operation):
        readers, behind = {use.operation for use in value.uses}, Beside(value.owner, behind=True)
        hidden = typed_like(behind, unknown_to_iree(behind, signless(behind, value)), value)
        value.replace_uses_with_if(hidden, lambda use: use.operation in readers)


def unknown_to_iree(beside: Beside, value: SSAValue) -> SSAValue:
    """A value of known sizes and signless elements, as one of which IREE knows nothing."""
    return beside.value(OptimizationBarrierOp, [value], value.type)


def is_unsigned(x: SSAValue) -> bool:
    """Whether a tensor has elements that StableHLO alone computes with."""
    element = element_of(x)
    return isinstance(element, IntegerType) and element.signedness.data == Signedness.UNSIGNED


def signless(beside: Beside, x: SSAValue) -> SSAValue:
    """A tensor, or the bits of one of unsigned integers."""
    element = element_of(x)
    if not isinstance(element, IntegerType) or not is_unsigned(x):
        return x
    type = TensorType(IntegerType(element.width.data), shape_of(x))
    return beside.value(stablehlo.BitcastConvertOp, [x], type)


def typed_like(beside: Beside, bits: SSAValue, x: SSAValue) -> SSAValue:
    """What :func:`signless` has made of a tensor of x's type, of that type again."""
    if bits.type == x.type:
        return bits
    return beside.value(stablehlo.BitcastConvertOp, [bits], x.type)
