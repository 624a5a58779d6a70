"""Values that IREE is to compute, whole, before whatever reads them."""

from __future__ import annotations

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from torch2mlir.dialects import arith_ext
from torch2mlir.dialects.iree_barriers import ComputeBarrierOp


def keep_apart(value: SSAValue) -> None:
    """Puts a barrier behind a value: reads of it are reads of memory."""
    op = value.owner
    if not isinstance(op, Operation):
        return
    new, sizes = list[Operation](), list[SSAValue]()
    for axis, size in enumerate(value.type.get_shape()):  # type: ignore[attr-defined]
        if size == DYNAMIC_INDEX:
            place = arith_ext.ConstantOp.of(IntegerAttr(axis, IndexType()))
            dim = tensor.DimOp(value, place.result)
            new += [place, dim]
            sizes.append(dim.result)
    barrier = ComputeBarrierOp.create(operands=[value, *sizes], result_types=[value.type])
    new.append(barrier)
    for each in new:
        each.location = op.location
    value.replace_uses_with_if(barrier.result, lambda use: use.operation not in new)
    Rewriter.insert_op(new, InsertPoint.after(op))
