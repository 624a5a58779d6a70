"""Matrix products in StableHLO: one ``dot_general`` each, half floats accumulated in f32."""

from __future__ import annotations

from torch2mlir.conversion.lowering import Operand, Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering, lowers
from torch2mlir.dialects import stablehlo as hlo


@lowers("aten.mm")
def mm(lower: StablehloLowering, a: Tensor, b: Tensor) -> Tensor:
    """``a @ b`` of matrices."""
    return lower.cast(lower.dot(a, b, contracting=(1, 0)), lower.out.dtype)


@lowers("aten.bmm")
def bmm(lower: StablehloLowering, a: Tensor, b: Tensor) -> Tensor:
    """``a @ b`` of batches of matrices."""
    return lower.cast(lower.dot(a, b, contracting=(2, 1), batching=1), lower.out.dtype)


@lowers("aten.addmm")
def addmm(
    lower: StablehloLowering, bias: Tensor, a: Tensor, b: Tensor, beta: Operand, alpha: Operand
) -> Tensor:
    """``beta * bias + alpha * (a @ b)``; with ``beta`` 0 the bias is not read."""
    product = lower.dot(a, b, contracting=(1, 0))
    if beta == 0:
        return lower.cast(_scaled(lower, product, alpha), lower.out.dtype)

    addend = lower.cast(bias, product.dtype)
    parts = _scaled(lower, product, alpha), _scaled(lower, addend, beta)
    return lower.cast(lower.apply(hlo.AddOp, *parts), lower.out.dtype)


def _scaled(lower: StablehloLowering, x: Tensor, factor: Operand) -> Tensor:
    return x if factor == 1 else lower.apply(hlo.MulOp, x, lower.splat(factor, x.sizes, x.dtype))  # type: ignore[arg-type]


@lowers("aten.linear")
def linear(lower: StablehloLowering, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """``x @ weight.T + bias``: the last axes are contracted directly."""
    product = lower.dot(x, weight, contracting=(x.rank - 1, weight.rank - 1))
    if bias is None:
        return lower.cast(product, lower.out.dtype)
    added = lower.spread(bias, product.sizes)
    return lower.elementwise(hlo.AddOp, product, added, computed=product.dtype)
