"""Matrix products, once for all dialects: what is multiplied and added; targets say how a product is written."""

from __future__ import annotations

from collections.abc import Callable

from torch2mlir.contract.element_types import widened
from torch2mlir.conversion.expressions import Expr
from torch2mlir.conversion.lowering import Lowering, Operand, Tensor
from torch2mlir.conversion.registry import lowers_everywhere


@lowers_everywhere("aten.mm", "aten.bmm")
def product(lower: Lowering, x: Tensor, y: Tensor) -> Tensor:
    """``x @ y`` of matrices, or of batches of them."""
    return lower.cast(_product(lower, lower.matmul, x, y), lower.out.dtype)


def _product(
    lower: Lowering, multiply: Callable[[Tensor, Tensor], Tensor], x: Tensor, y: Tensor
) -> Tensor:
    """What a helper says; sums of nothing are zeros, where engines leave whatever is in memory."""
    if x.sizes[-1] == 0:
        return lower.splat(0, lower.out.sizes, widened(x.dtype))
    return multiply(x, y)


@lowers_everywhere("aten.addmm")
def addmm(
    lower: Lowering, bias: Tensor, x: Tensor, y: Tensor, beta: Operand, alpha: Operand
) -> Tensor:
    """``beta * bias + alpha * (x @ y)``; with ``beta`` 0 the bias is not read."""
    product = _product(lower, lower.matmul, x, y)
    terms = [(product, alpha)] if beta == 0 else [(product, alpha), (bias, beta)]
    factors = [factor for _, factor in terms if factor != 1]

    def code(*values: Expr) -> Expr:
        given = iter(values[len(terms) :])
        scaled = [
            x if factor == 1 else x * next(given)
            for x, (_, factor) in zip(values, terms, strict=False)
        ]
        return scaled[0] if len(scaled) == 1 else scaled[0] + scaled[1]

    if len(terms) == 1 and not factors:
        return lower.cast(product, lower.out.dtype)
    tensors = [x for x, _ in terms]
    return lower.formula(code, *tensors, *factors, computed=product.dtype)


@lowers_everywhere("aten.linear")
def linear(lower: Lowering, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """``x @ weight.T + bias``, along the last dimension of ``x``."""
    product = _product(lower, lower.project, x, weight)
    if bias is None:
        return lower.cast(product, lower.out.dtype)
    added = lower.spread(lower.cast(bias, product.dtype), product.sizes)
    return lower.formula(lambda x, y: x + y, product, added, computed=product.dtype)
