"""Matrix products in ONNX."""

from __future__ import annotations

from torch2mlir.contract.element_types import widened
from torch2mlir.conversion.linear import product
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_onnx.lowering import OnnxLowering, lowers

# kept whole for ONNX: its operator multiplies vectors, and batches that broadcast
lowers("aten.matmul")(product)


class Products(OnnxLowering):
    """The words for matrix products."""

    def matmul(self, x: Tensor, y: Tensor) -> Tensor:
        """Vectors as matrices: ONNX Runtime 1.31 multiplies a transposed matrix and a vector as if neither were so."""
        computed, sizes = widened(x.dtype), [*self.out.sizes]
        if y.rank == 1:
            y = self.reshape(y, [*y.sizes, 1])
            sizes.append(1)
        if x.rank == 1:
            x = self.reshape(x, [1, *x.sizes])
            sizes.insert(len(sizes) - 1, 1)
        operands = [self.cast(each, computed) for each in (x, y)]
        product = self.node("MatMul", *operands, sizes=sizes, dtype=computed)
        return (
            product if len(sizes) == len(self.out.sizes) else self.reshape(product, self.out.sizes)
        )

    def project(self, x: Tensor, weight: Tensor) -> Tensor:
        """Engines turn a constant weight once."""
        turned = self.cast(weight, widened(x.dtype))
        return self.matmul(x, self.transpose(turned, range(weight.rank)[::-1]))
