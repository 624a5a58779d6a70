"""``onnx-products-of-two-lines``: a row times a column as a sum of products on OpenVINO.

Its compiler, of version 2026.4, ends the process on a product of matrices of one element that becomes a number
(``x @ y`` of two vectors, ``(row @ column).squeeze()``).
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects import onnx
from torch2mlir.dialects.onnx import op_class
from torch2mlir.dialects.tensors import element_of, shape_of
from torch2mlir.engine_passes.onnx_nodes import Nodes

_PRODUCT = "onnx.MatMul"


class OnnxProductsOfTwoLinesPass(PassForOps):
    """See the module's docstring."""

    name = "onnx-products-of-two-lines"
    looks_for = frozenset({_PRODUCT})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if each.name == _PRODUCT]:
            x, y = map(shape_of, each.operands)
            if len(x) == len(y) > 1 and x[-2] == y[-1] == 1:
                _replace(each)


def _replace(op: Operation) -> None:
    (x, y), (result,), before = op.operands, op.results, Nodes(op)
    *batch, length, one = shape_of(y)
    dtype, rank = element_of(y), len(shape_of(y))
    turned = [*range(rank - 2), rank - 1, rank - 2]
    row = before.value(
        op_class("Transpose"),
        [y],
        TensorType(dtype, [*batch, one, length]),
        onnx.attributes("Transpose", {"perm": turned}),
    )
    sizes = [*shape_of(result)[:-1], length]
    products = before.value(op_class("Mul"), [x, row], TensorType(dtype, sizes))
    axes = before.integers([rank - 1])
    keeps = onnx.attributes("ReduceSum", {"keepdims": 1})
    before.replace(before.value(op_class("ReduceSum"), [products, axes], result.type, keeps))
