"""``tosa-products-of-one-term``: a ``tosa.matmul`` over a dimension of size 1 is a ``tosa.mul``, to which 0.0 is added.

IREE 3.13's compiler dies on, or refuses, ``[1, 1, 1] @ [1, 1, n]`` where an operand is a slice. A sum of one term
begins with 0.0, as any does.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp, TensorType, f32, i8
from xdsl.ir import Operation

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects import tosa
from torch2mlir.engine_passes.beside import Beside


class TosaProductsOfOneTermPass(PassForOps):
    """See the module's docstring."""

    name = "tosa-products-of-one-term"
    looks_for = frozenset({tosa.MatMulOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in list(op.walk()):
            if isinstance(each, tosa.MatMulOp) and _has_one_term(each):
                _replace(each)


def _has_one_term(op: Operation) -> bool:
    """Whether it is of f32, and the dimension that it sums over of size 1."""
    left, result = op.operands[0].type, op.results[0].type
    return (
        isinstance(left, TensorType)
        and isinstance(result, TensorType)
        and left.element_type == result.element_type == f32
        and left.get_shape()[2] == 1
    )


def _replace(op: Operation) -> None:
    before, type = Beside(op), op.results[0].type
    shift, zero = (
        before.value(tosa.ConstOp, [], literal.type, {"values": literal})
        for literal in (
            DenseIntOrFPElementsAttr.from_list(TensorType(i8, [1]), [0]),
            DenseIntOrFPElementsAttr.from_list(TensorType(f32, [1, 1, 1]), [0.0]),
        )
    )
    product = before.value(tosa.MulOp, [*op.operands[:2], shift], type)
    before.replace(before.value(tosa.AddOp, [product, zero], type))
