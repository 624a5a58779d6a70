"""Matrix products in TOSA, whose one op is ``[N, H, C] @ [N, C, W]``."""

from __future__ import annotations

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import widened
from torch2mlir.conversion.lowering import Operand, Tensor
from torch2mlir.conversion.torch_to_tosa.casts import computed_dtype
from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering, lowers
from torch2mlir.dialects import tosa
from torch2mlir.dialects.torch import dims


def _product(lower: TosaLowering, a: Tensor, b: Tensor) -> Tensor:
    """A batched product: half precision accumulates in f32, which TOSA gives as the result; integers are widened."""
    dtype = lower.out.dtype
    if element_types.is_float(dtype):
        return lower.matmul(lower.cast(a, dtype), lower.cast(b, dtype), widened(dtype))
    wide = computed_dtype(dtype)
    return lower.matmul(lower.cast(a, wide), lower.cast(b, wide), wide)


@lowers("aten.bmm")
def bmm(lower: TosaLowering, a: Tensor, b: Tensor) -> Tensor:
    """``[B, N, K] @ [B, K, M]``."""
    return lower.cast(_product(lower, a, b), lower.out.dtype)


@lowers("aten.mm")
def mm(lower: TosaLowering, a: Tensor, b: Tensor) -> Tensor:
    """``[N, K] @ [K, M]``."""
    product = _product(lower, lower.ranked(a, 3), lower.ranked(b, 3))
    return lower.reshape(lower.cast(product, lower.out.dtype), lower.out.sizes)


@lowers("aten.addmm")
def addmm(
    lower: TosaLowering, bias: Tensor, a: Tensor, b: Tensor, beta: Operand, alpha: Operand
) -> Tensor:
    """``beta * bias + alpha * (a @ b)``; a bias that counts nothing is not read."""
    product = _product(lower, lower.ranked(a, 3), lower.ranked(b, 3))
    product = _scaled(lower, product, alpha)
    if beta != 0:
        addend = _scaled(lower, lower.cast(bias, product.dtype), beta)
        product = lower.elementwise(tosa.AddOp, product, addend)
    return lower.reshape(lower.cast(product, lower.out.dtype), lower.out.sizes)


def _scaled(lower: TosaLowering, x: Tensor, factor: Operand) -> Tensor:
    if factor == 1:
        return x
    return lower.elementwise(tosa.MulOp, x, lower.operand(factor, x.dtype))


@lowers("aten.linear")
def linear(lower: TosaLowering, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """``x [..., K] @ weight [M, K].T + bias [M]``; all rows of ``x`` as one batch."""
    if weight.rank == 1:
        weight = lower.reshape(weight, (1, weight.sizes[0]))
    rows = dims.product(x.sizes[:-1])
    flat = lower.reshape(x, (1, rows, x.sizes[-1]))
    transposed = lower.transpose(weight, (1, 0))
    product = _product(lower, flat, lower.ranked(transposed, 3))
    if bias is not None:
        product = lower.elementwise(tosa.AddOp, product, lower.cast(bias, product.dtype))
    return lower.reshape(lower.cast(product, lower.out.dtype), lower.out.sizes)
