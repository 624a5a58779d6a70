"""Matrix products in StableHLO: one ``dot_general`` each."""

from __future__ import annotations

from torch2mlir.conversion.lowering import Operand, Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering, lowers
from torch2mlir.dialects import stablehlo as hlo


@lowers("aten.mm")
def mm(lower: StablehloLowering, a: Tensor, b: Tensor) -> Tensor:
    """``a @ b`` of matrices."""
    return lower.dot(a, b, contracting=(1, 0))


@lowers("aten.bmm")
def bmm(lower: StablehloLowering, a: Tensor, b: Tensor) -> Tensor:
    """``a @ b`` of batches of matrices."""
    return lower.dot(a, b, contracting=(2, 1), batching=1)


@lowers("aten.addmm")
def addmm(
    lower: StablehloLowering, bias: Tensor, a: Tensor, b: Tensor, beta: Operand, alpha: Operand
) -> Tensor:
    """``beta * bias + alpha * (a @ b)``."""
    product = _scaled(lower, lower.dot(a, b, contracting=(1, 0)), alpha)
    if beta == 0:
        return product
    return lower.elementwise(hlo.AddOp, product, _scaled(lower, bias, beta))


def _scaled(lower: StablehloLowering, x: Tensor, factor: Operand) -> Tensor:
    if factor == 1:
        return x
    scale = lower.broadcast_to(lower.operand(factor, x.dtype), x.sizes)
    return lower.op(hlo.MulOp, [x, scale], x.sizes, x.dtype)


@lowers("aten.linear")
def linear(lower: StablehloLowering, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """``x @ weight.T + bias``: the last axes are contracted directly."""
    product = lower.dot(x, weight, contracting=(x.rank - 1, weight.rank - 1))
    return product if bias is None else lower.elementwise(hlo.AddOp, product, bias)
