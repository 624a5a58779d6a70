"""``tosa-products-of-one-row``: one row times a turned matrix is Linalg's product that reads the matrix as it is.

TOSA has a weight ``[N, K]`` turned before a product. IREE 3.13 goes through memory in columns then, or turns it at
every call: 4 to 5 times the time of eager mode for one token and a weight of 4096x1024, which is read once here.
"""

from __future__ import annotations

from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, AnyFloat, ModuleOp
from xdsl.ir import Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_linalg.lowering import LinalgLowering
from torch2mlir.dialects import tosa
from torch2mlir.dialects.tensors import element_of, integers, shape_of
from torch2mlir.engine_passes.in_place_of import as_tensor, replace


class TosaProductsOfOneRowPass(PassForOps):
    """See the module's docstring."""

    name = "tosa-products-of-one-row"
    looks_for = frozenset({tosa.MatMulOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if isinstance(each, tosa.MatMulOp)]:
            if (weight := _turned(each)) is not None:
                replace(each, partial(_product, op=each, weight=weight), "linalg-on-tensors")


def _turned(op: Operation) -> SSAValue | None:
    """``[N, K]`` that is turned for a product ``[1, 1, K] @ [1, K, N]`` of floats of one type."""
    row, matrix = op.operands[:2]
    shapes = [*shape_of(row), *shape_of(matrix)]
    if DYNAMIC_INDEX in shapes or 0 in shapes or len(shapes) != 6 or shapes[:2] != [1, 1]:
        return None
    if shapes[2] == 1:  # tosa-products-of-one-term
        return None
    if not isinstance(element_of(row), AnyFloat) or element_of(row) != element_of(op.results[0]):
        return None
    flat = matrix.owner
    turned = flat.operands[0].owner if isinstance(flat, tosa.ReshapeOp) else None
    if not isinstance(turned, tosa.TransposeOp) or len(shape_of(turned.operands[0])) != 2:
        return None
    return turned.operands[0] if list(integers(turned.properties["perms"])) == [1, 0] else None


def _product(lower: LinalgLowering, op: Operation, weight: SSAValue) -> list[Tensor]:
    row, matrix = as_tensor(op.operands[0]), as_tensor(weight)
    found = lower.project(lower.reshape(row, [1, row.sizes[2]]), matrix)
    return [lower.reshape(found, [1, 1, matrix.sizes[0]])]
