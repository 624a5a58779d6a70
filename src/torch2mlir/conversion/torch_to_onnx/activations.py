"""Activations in ONNX that are kept whole for it: engines know them as one op."""

from __future__ import annotations

from typing import Any

from torch2mlir.contract.element_types import widened
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_onnx.lowering import OnnxLowering, lowers


def _activation(lower: OnnxLowering, name: str, x: Tensor, **options: Any) -> Tensor:
    """An operator of real numbers; half floats in f32."""
    x = lower.cast(x, widened(lower.out.dtype))
    result = lower.node(name, x, sizes=x.sizes, dtype=x.dtype, **options)
    return lower.cast(result, lower.out.dtype)


@lowers("aten.gelu")
def gelu(lower: OnnxLowering, x: Tensor, approximate: str) -> Tensor:
    """``x`` times the probability that a normal variable is below it."""
    return _activation(lower, "Gelu", x, approximate=approximate)


@lowers("aten.leaky_relu")
def leaky_relu(lower: OnnxLowering, x: Tensor, slope: float) -> Tensor:
    """``x``, or its part where it is negative."""
    return _activation(lower, "LeakyRelu", x, alpha=slope)


@lowers("aten.hardsigmoid")
def hardsigmoid(lower: OnnxLowering, x: Tensor) -> Tensor:
    """``x / 6 + 1 / 2`` held between 0 and 1."""
    return _activation(lower, "HardSigmoid", x, alpha=1 / 6, beta=0.5)


@lowers("aten.softmax.int", "aten._softmax")
def softmax(lower: OnnxLowering, x: Tensor, dim: int, _: Any) -> Tensor:
    """``e**x`` over its sum along a dimension."""
    return _over_line(lower, "Softmax", x, dim)


@lowers("aten.log_softmax.int", "aten._log_softmax")
def log_softmax(lower: OnnxLowering, x: Tensor, dim: int, _: Any) -> Tensor:
    """The logarithm of the softmax along a dimension."""
    return _over_line(lower, "LogSoftmax", x, dim)


def _over_line(lower: OnnxLowering, name: str, x: Tensor, dim: int) -> Tensor:
    if x.rank == 0:
        line = lower.reshape(x, (1,))
        return lower.reshape(_activation(lower, name, line, axis=0), ())
    return _activation(lower, name, x, axis=dim)
