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
        computed = widened(x.dtype)
        operands = [self.cast(each, computed) for each in (x, y)]
        return self.node("MatMul", *operands, sizes=self.out.sizes, dtype=computed)

    def project(self, x: Tensor, weight: Tensor) -> Tensor:
        """Engines turn a constant weight once."""
        turned = self.cast(weight, widened(x.dtype))
        return self.matmul(x, self.transpose(turned, range(weight.rank)[::-1]))
