"""Matrix products in StableHLO: one ``dot_general`` each, half floats accumulated in f32."""

from __future__ import annotations

from torch2mlir.contract.element_types import widened
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering
from torch2mlir.dialects import stablehlo as hlo


class Products(StablehloLowering):
    """The words for matrix products."""

    def matmul(self, x: Tensor, y: Tensor) -> Tensor:
        return self._dot(x, y, (x.rank - 1, y.rank - 2), batching=x.rank - 2)

    def project(self, x: Tensor, weight: Tensor) -> Tensor:
        return self._dot(x, weight, (x.rank - 1, weight.rank - 1))

    def _dot(self, a: Tensor, b: Tensor, contracting: tuple[int, int], batching: int = 0) -> Tensor:
        """``dot_general`` over one dimension of each; the first ``batching`` dimensions are paired.

        Half floats are added up in f32, and that is the type of the result.
        """
        left, right = contracting
        sizes = [
            *a.sizes[:batching],
            *(s for i, s in enumerate(a.sizes) if i >= batching and i != left),
            *(s for i, s in enumerate(b.sizes) if i >= batching and i != right),
        ]
        numbers = hlo.DotDimensionNumbersAttr(
            lhs_batching_dimensions=range(batching),
            rhs_batching_dimensions=range(batching),
            lhs_contracting_dimensions=[left],
            rhs_contracting_dimensions=[right],
        )
        properties = {"dot_dimension_numbers": numbers}
        return self.op(hlo.DotGeneralOp, [a, b], sizes, widened(a.dtype), properties)
