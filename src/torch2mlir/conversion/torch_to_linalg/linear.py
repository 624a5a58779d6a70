"""Matrix products in Linalg-on-Tensors: the named ops, halves accumulated in f32.

They accumulate into zeros, and what is added comes afterwards: an engine computes into the tensor that a product
accumulates into, in the caller's memory if it is an argument.
"""

from __future__ import annotations

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr
from xdsl.ir import Attribute, Operation

from torch2mlir.contract.element_types import widened
from torch2mlir.conversion.lowering import Operand, Scalar, Tensor
from torch2mlir.conversion.torch_to_linalg.lowering import LinalgLowering, lowers
from torch2mlir.conversion.torch_to_linalg.scalars import Scalars, addition, two
from torch2mlir.dialects import linalg
from torch2mlir.dialects.linalg.structured import SEGMENTS, dims_map, segment_sizes
from torch2mlir.dialects.torch import dims

TRANSPOSED_RHS: ArrayAttr[AffineMapAttr] = ArrayAttr(
    [dims_map(3, (0, 2)), dims_map(3, (1, 2)), dims_map(3, (0, 1))]
)
"""Loops m, n, k: the right operand is read as ``[n, k]``."""


def product(
    lower: LinalgLowering,
    op_class: type[Operation],
    x: Tensor,
    y: Tensor,
    init: Tensor,
    maps: Attribute | None = None,
) -> Tensor:
    """``init`` plus a matrix product, in the element type of ``init``; only ``init`` if there are no elements."""
    if 0 in x.sizes or 0 in y.sizes:
        return init
    properties: dict[str, Attribute] = {SEGMENTS: segment_sizes(2, 1)}
    if maps is not None:
        properties["indexing_maps"] = maps
    return lower.op(op_class, [x, y, init], init.sizes, init.dtype, properties)


def zeros(lower: LinalgLowering) -> Tensor:
    """What a product accumulates into, of the op's own sizes."""
    return lower.full(0, lower.out.sizes, widened(lower.out.dtype))


@lowers("aten.mm")
def mm(lower: LinalgLowering, x: Tensor, y: Tensor) -> Tensor:
    """``x @ y`` of matrices."""
    return lower.cast(product(lower, linalg.MatmulOp, x, y, zeros(lower)), lower.out.dtype)


@lowers("aten.bmm")
def bmm(lower: LinalgLowering, x: Tensor, y: Tensor) -> Tensor:
    """``x @ y`` of batches of matrices."""
    return lower.cast(product(lower, linalg.BatchMatmulOp, x, y, zeros(lower)), lower.out.dtype)


@lowers("aten.addmm")
def addmm(
    lower: LinalgLowering, bias: Tensor, x: Tensor, y: Tensor, beta: Operand, alpha: Operand
) -> Tensor:
    """``beta * bias + alpha * (x @ y)``; with ``beta`` 0 the bias is not read."""
    computed = widened(lower.out.dtype)
    result = product(lower, linalg.MatmulOp, x, y, zeros(lower))
    if beta == 0 and alpha == 1:
        return lower.cast(result, lower.out.dtype)
    if beta == 0:
        return lower.elementwise(two("mul"), result, alpha, computed=computed)
    if beta == 1 and alpha == 1:
        return lower.elementwise(addition, result, bias, computed=computed)

    def build(s: Scalars, b: Scalar, r: Scalar, beta: Scalar, alpha: Scalar) -> Scalar:
        return s("add", s("mul", b, beta), s("mul", r, alpha))

    return lower.elementwise(build, bias, result, beta, alpha, computed=computed)


@lowers("aten.linear")
def linear(lower: LinalgLowering, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """``x @ weight.T + bias``, leading dimensions of ``x`` taken together; the transposition is an indexing map."""
    out, computed = lower.out, widened(lower.out.dtype)
    features = weight.sizes[0] if weight.rank == 2 else 1
    rows = dims.product(x.sizes[:-1])
    matrix = lower.reshape(x, [rows, x.sizes[-1]])
    weights = lower.reshape(weight, [features, weight.sizes[-1]])
    init = lower.full(0, [rows, features], computed)
    result = product(lower, linalg.MatmulOp, matrix, weights, init, TRANSPOSED_RHS)
    if bias is not None:
        sizes = result.sizes
        added = lower.spread(bias, sizes)
        result = lower.elementwise(
            addition, result, added, computed=computed, dtype=computed, sizes=sizes
        )
    return lower.reshape(lower.cast(result, out.dtype), out.sizes)
