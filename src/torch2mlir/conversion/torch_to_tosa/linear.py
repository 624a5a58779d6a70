"""Matrix products in TOSA, whose one op is ``[N, H, C] @ [N, C, W]``."""

from __future__ import annotations

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import widened
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_tosa.casts import computed_dtype
from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering
from torch2mlir.dialects.torch import dims


class Products(TosaLowering):
    """The words for matrix products."""

    def matmul(self, x: Tensor, y: Tensor) -> Tensor:
        """Half precision accumulates in f32, which TOSA gives as the result; integers are widened."""
        wide = x.dtype if element_types.is_float(x.dtype) else computed_dtype(x.dtype)
        left, right = (self.ranked(self.cast(each, wide), 3) for each in (x, y))
        result = self.batch_matmul(left, right, widened(wide))
        return self.reshape(result, (*x.sizes[:-1], y.sizes[-1]))

    def project(self, x: Tensor, weight: Tensor) -> Tensor:
        """All rows of ``x`` as one batch."""
        matrix = self.ranked(weight, 2)
        rows = self.reshape(x, (dims.product(x.sizes[:-1]), x.sizes[-1]))
        product = self.matmul(rows, self.transpose(matrix, (1, 0)))
        return self.reshape(product, (*x.sizes[:-1], *weight.sizes[:-1]))
