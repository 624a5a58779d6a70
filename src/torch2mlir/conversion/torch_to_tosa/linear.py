"""Matrix products in TOSA: ``[N, H, C] @ [N, C, W]``, and ``[N, H, W, C]`` with a kernel of one element."""

from __future__ import annotations

from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute

from torch2mlir.conversion import promotion
from torch2mlir.conversion.lowering import Operand, Tensor
from torch2mlir.conversion.torch_to_tosa.casts import computed_dtype
from torch2mlir.conversion.torch_to_tosa.elementwise import float_dtype
from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering, lowers
from torch2mlir.conversion.torch_to_tosa.windows import i64_array
from torch2mlir.dialects import tosa
from torch2mlir.dialects.torch import dims


def _product(lower: TosaLowering, a: Tensor, b: Tensor) -> Tensor:
    """A batched product: half precision accumulates in f32, which TOSA gives as the result; integers are widened."""
    dtype = lower.out.dtype
    if promotion.is_float(dtype):
        return lower.matmul(lower.cast(a, dtype), lower.cast(b, dtype), float_dtype(dtype))
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
    """``x [..., K] @ weight [M, K].T + bias [M]``.

    A convolution with a kernel of one element, as TOSA 1.0 has it in place of a fully connected layer: it takes the
    weight as it is, where a matrix product needs it transposed (on IREE, which then transposes at every call, 17 ms
    against 14 for 128 rows, 768 columns and 3072 outputs). Integers are a matrix product.
    """
    if weight.rank == 1:
        weight = lower.reshape(weight, (1, weight.sizes[0]))
    if not promotion.is_float(x.dtype):
        return _integer_linear(lower, x, weight, bias)
    outputs, inputs = weight.sizes
    if bias is None:
        bias = lower.splat(0, (outputs,), x.dtype)
    images = _as_images(lower, x)
    kernel = lower.reshape(weight, (outputs, 1, 1, inputs))
    zero = lower.splat(0, (1,), x.dtype)
    sizes = (*images.sizes[:-1], outputs)
    product = lower.op(
        tosa.Conv2DOp, [images, kernel, bias, zero, zero], sizes, x.dtype, _POINTWISE
    )
    return lower.reshape(product, lower.out.sizes)


_POINTWISE: dict[str, Attribute] = {
    "pad": i64_array([0, 0, 0, 0]),
    "stride": i64_array([1, 1]),
    "dilation": i64_array([1, 1]),
    "acc_type": f32,
}


def _as_images(lower: TosaLowering, x: Tensor) -> Tensor:
    """``[..., K]`` as ``[N, H, W, K]``."""
    if x.rank <= 4:
        return lower.ranked(x, 4)
    return lower.reshape(x, (dims.product(x.sizes[:-3]), *x.sizes[-3:]))


def _integer_linear(lower: TosaLowering, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    rows = dims.product(x.sizes[:-1])
    flat = lower.reshape(x, (1, rows, x.sizes[-1]))
    product = _product(lower, flat, lower.ranked(lower.transpose(weight, (1, 0)), 3))
    if bias is not None:
        product = lower.elementwise(tosa.AddOp, product, lower.cast(bias, product.dtype))
    return lower.reshape(lower.cast(product, lower.out.dtype), lower.out.sizes)
