"""Matrix products in ONNX."""

from __future__ import annotations

from torch2mlir.contract.element_types import widened
from torch2mlir.conversion.lowering import Operand, Tensor
from torch2mlir.conversion.torch_to_onnx.lowering import OnnxLowering, lowers


@lowers("aten.mm", "aten.bmm", "aten.matmul")
def product(lower: OnnxLowering, a: Tensor, b: Tensor) -> Tensor:
    """``a @ b`` of vectors, matrices or batches of them; half floats are added up in f32."""
    return lower.cast(multiply(lower, a, b), lower.out.dtype)


def multiply(lower: OnnxLowering, a: Tensor, b: Tensor) -> Tensor:
    """``a @ b`` in the type that products are added up in."""
    computed = widened(lower.out.dtype)
    operands = [lower.cast(x, computed) for x in (a, b)]
    return lower.node("MatMul", *operands, sizes=lower.out.sizes, dtype=computed)


@lowers("aten.addmm")
def addmm(
    lower: OnnxLowering, bias: Tensor, a: Tensor, b: Tensor, beta: Operand, alpha: Operand
) -> Tensor:
    """``beta * bias + alpha * (a @ b)``; with ``beta`` 0 the bias is not read."""
    result = multiply(lower, a, b)
    if alpha != 1:
        result = lower.apply("Mul", result, alpha)
    if beta != 0:
        added = lower.operand(bias, result.dtype)
        scaled = added if beta == 1 else lower.apply("Mul", added, beta)
        result = lower.apply("Add", result, scaled)
    return lower.cast(result, lower.out.dtype)


@lowers("aten.linear")
def linear(lower: OnnxLowering, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """``x @ weight.T + bias``; engines turn a constant weight once."""
    computed = widened(lower.out.dtype)
    turned = lower.transpose(lower.cast(weight, computed), range(weight.rank)[::-1])
    result = multiply(lower, x, turned)
    if bias is not None:
        result = lower.apply("Add", result, lower.cast(bias, computed))
    return lower.cast(result, lower.out.dtype)
