"""Says to XLA which arguments of a function it may update where they lie, and keeps it from copying them all the same.

XLA fuses an update of a few elements (``scatter``, ``dynamic_update_slice``) into each op that reads the result, and
then needs the old elements after the first of them, for which it copies the whole argument. A barrier behind the update
makes all of them read the one result (``DISABLED_PASS`` takes barriers away again). And what one row is multiplied with
transposed, it transposes first: the keys of attention, at every token. Such a product contracts the last dimensions
instead.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, TensorType, i32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from torch2mlir.conversion.driver import drop_unused
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.tensors import shape_of
from torch2mlir.engine_passes.beside import Beside

DISABLED_PASS = "cse_barrier_expander"
"""The pass of XLA:CPU that drops barriers before ops are fused."""

_UPDATES = (hlo.ScatterOp, hlo.DynamicUpdateSliceOp)
_MARK = "tf.aliasing_output"


def update_in_place(function: FuncOp, pairs: Mapping[int, int]) -> None:
    """Marks arguments that are not needed after a call; changes the function in place.

    Args:
        function: in StableHLO.
        pairs: positions of arguments, and of the results of their type that take their place.
    """
    block = function.body.block
    given = function.arg_attrs
    attributes = list(given.data) if given else [DictionaryAttr({}) for _ in block.args]
    end = block.last_op
    assert end is not None
    for position, result in pairs.items():
        mark = IntegerAttr(result, i32)
        attributes[position] = DictionaryAttr({**attributes[position].data, _MARK: mark})
        _keep_apart(end.operands[result])
    function.properties["arg_attrs"] = ArrayAttr(attributes)
    for op in list(block.ops):
        if isinstance(op, hlo.DotGeneralOp):
            _contract_as_it_lies(op)
    drop_unused(block)


def _keep_apart(value: SSAValue) -> None:
    """Puts a barrier behind every update on the way to a value."""
    while isinstance(op := value.owner, _UPDATES):
        value = op.operands[0]
        if len(op.results) == 1:
            result, behind = op.results[0], Beside(op, behind=True)
            barrier = behind.create(hlo.OptimizationBarrierOp, [result], [result.type])
            result.replace_all_uses_with(barrier.results[0])
            barrier.operands[0] = result


def _contract_as_it_lies(op: Operation) -> None:
    """``[b, 1, k] x [b, k, n]`` whose second operand is transposed for it as ``[b, 1, k] x [b, n, k]``."""
    numbers = hlo.DotDimensionNumbersAttr(
        lhs_batching_dimensions=[0],
        rhs_batching_dimensions=[0],
        lhs_contracting_dimensions=[2],
        rhs_contracting_dimensions=[1],
    )
    lhs, rhs = (operand.type for operand in op.operands)
    assert isinstance(lhs, TensorType) and isinstance(rhs, TensorType)
    if op.properties["dot_dimension_numbers"] != numbers or lhs.get_shape()[1] != 1:
        return
    transposed = op.operands[1]
    if isinstance(transposed.owner, hlo.ReshapeOp):
        transposed = transposed.owner.operands[0]
    if not isinstance(transpose := transposed.owner, hlo.TransposeOp):
        return
    order = list(transpose.permutation.get_values())
    rank = len(order)
    *batch, rows, columns = rhs.get_shape()
    shape = shape_of(transposed)
    if order != [*range(rank - 2), rank - 1, rank - 2] or shape[-2:] != (rows, columns):
        return
    type = TensorType(rhs.element_type, [*batch, columns, rows])
    lies = transpose.operands[0]
    op.operands[1] = lies if lies.type == type else Beside(op).value(hlo.ReshapeOp, [lies], type)
    fields = {**numbers.fields(), "rhs_contracting_dimensions": [2]}
    op.properties["dot_dimension_numbers"] = hlo.DotDimensionNumbersAttr(**fields)
