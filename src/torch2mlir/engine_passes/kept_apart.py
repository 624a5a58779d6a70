"""Values that IREE is to compute before whatever reads them."""

from __future__ import annotations

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue

from torch2mlir.dialects.iree_barriers import ComputeBarrierOp, OptimizationBarrierOp
from torch2mlir.dialects.tensors import shape_of
from torch2mlir.engine_passes.beside import INDEX, Beside


def keep_apart(value: SSAValue) -> None:
    """Puts a barrier behind a value: reads of it are reads of memory."""
    op = value.owner
    if not isinstance(op, Operation):
        return
    readers, behind = {use.operation for use in value.uses}, Beside(op, behind=True)
    sizes = [
        behind.value(tensor.DimOp, [value, behind.index(axis)], INDEX)
        for axis, size in enumerate(shape_of(value))
        if size == DYNAMIC_INDEX
    ]
    barrier = behind.value(ComputeBarrierOp, [value, *sizes], value.type)
    value.replace_uses_with_if(barrier, lambda use: use.operation in readers)


def hide(value: SSAValue) -> None:
    """Puts a value of known sizes behind one of which IREE knows nothing: no read of it is combined with its op."""
    if isinstance(value.owner, Operation):
        readers = {use.operation for use in value.uses}
        hidden = Beside(value.owner, behind=True).value(OptimizationBarrierOp, [value], value.type)
        value.replace_uses_with_if(hidden, lambda use: use.operation in readers)
