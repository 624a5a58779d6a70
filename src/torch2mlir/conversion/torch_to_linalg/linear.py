"""Matrix products in Linalg-on-Tensors: the named ops, halves accumulated in f32.

They accumulate into zeros, and what is added comes afterwards: an engine computes into the tensor that a product
accumulates into, in the caller's memory if it is an argument.
"""

from __future__ import annotations

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr
from xdsl.ir import Attribute, Operation

from torch2mlir.contract.element_types import widened
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_linalg.lowering import LinalgLowering, lowers
from torch2mlir.conversion.torch_to_linalg.scalars import addition
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


class Products(LinalgLowering):
    """The words for matrix products."""

    def matmul(self, x: Tensor, y: Tensor) -> Tensor:
        op_class = linalg.MatmulOp if x.rank == 2 else linalg.BatchMatmulOp
        init = self.full(0, (*x.sizes[:-1], y.sizes[-1]), widened(x.dtype))
        return product(self, op_class, x, y, init)

    def project(self, x: Tensor, weight: Tensor) -> Tensor:
        result = _rows(self, x, weight)
        return self.reshape(result, (*x.sizes[:-1], *weight.sizes[:-1]))


def _rows(lower: LinalgLowering, x: Tensor, weight: Tensor) -> Tensor:
    """Leading dimensions of ``x`` taken together; the transposition is an indexing map."""
    features = weight.sizes[0] if weight.rank == 2 else 1
    rows = dims.product(x.sizes[:-1])
    matrix = lower.reshape(x, [rows, x.sizes[-1]])
    weights = lower.reshape(weight, [features, weight.sizes[-1]])
    init = lower.full(0, [rows, features], widened(x.dtype))
    return product(lower, linalg.MatmulOp, matrix, weights, init, TRANSPOSED_RHS)


@lowers("aten.linear")
def linear(lower: LinalgLowering, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """``x @ weight.T + bias``, added while rows are still together: IREE does it where it multiplies."""
    result, computed = _rows(lower, x, weight), widened(lower.out.dtype)
    if bias is not None:
        sizes = result.sizes
        added = lower.spread(bias, sizes)
        result = lower.elementwise(
            addition, result, added, computed=computed, dtype=computed, sizes=sizes
        )
    return lower.reshape(lower.cast(result, lower.out.dtype), lower.out.sizes)
