"""``onnx-kernels-apart``: a matrix or kernel that is read in two ways, as two, for OpenVINO.

Its plugin, of version 2026.4, packs a square matrix that is multiplied by, and whose transpose is, once for both:
``x @ m @ m.T`` is ``x @ m @ m``. So it does with a kernel that a convolution and a transposed one share. Each further
way reads the matrix times a power of two, and what is multiplied by it is divided by that.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects.tensors import element_of, shape_of
from torch2mlir.engine_passes.onnx_nodes import Nodes

_PRODUCTS = frozenset({"onnx.MatMul", "onnx.Conv", "onnx.ConvTranspose"})
"""Of something and a matrix or kernel."""
_MOVES = {
    *("onnx.Cast", "onnx.Identity", "onnx.Reshape"),
    *("onnx.Squeeze", "onnx.Transpose", "onnx.Unsqueeze"),
}
_Way = tuple[str | Attribute, ...]
"""The product, and how the elements were moved before."""


class OnnxKernelsApartPass(PassForOps):
    """See the module's docstring."""

    name = "onnx-kernels-apart"
    looks_for = _PRODUCTS

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        ways = dict[SSAValue, dict[_Way, list[Operation]]]()
        for each in op.walk():
            if each.name in _PRODUCTS:
                root, moves = _origin(each.operands[1])
                if _has_equal_sizes(shape_of(root)) and isinstance(element_of(root), AnyFloat):
                    ways.setdefault(root, {}).setdefault((each.name, *moves), []).append(each)
        for found in ways.values():
            for exponent, products in enumerate(found.values()):
                for product in products if exponent else ():
                    _scale(product, 2.0**exponent)


def _origin(value: SSAValue) -> tuple[SSAValue, _Way]:
    """What a matrix is made of by moving elements, and how."""
    moves: list[str | Attribute] = []
    while isinstance(op := value.owner, Operation) and op.name in _MOVES:
        moves += [op.name, *(properties for _, properties in sorted(op.properties.items()))]
        value = op.operands[0]
    return value, tuple(moves)


def _has_equal_sizes(sizes: Sequence[int]) -> bool:
    known = [size for size in sizes if size > 1]
    return len(set(known)) < len(known)


def _scale(product: Operation, factor: float) -> None:
    (other, kernel), before = product.operands[:2], Nodes(product)
    dtype = element_of(kernel)
    less = before.node("Mul", [other, before.number(1 / factor, dtype)], other, dtype)
    more = before.node("Mul", [kernel, before.number(factor, dtype)], kernel, dtype)
    product.operands[0], product.operands[1] = before.held(less), more
