"""What a tensor's type says of it: rank, dtype, and what all tensors of a compiled program have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import (
    BFloat16Type,
    ComplexType,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    Signedness,
    i1,
)
from xdsl.ir import Attribute

from torch2mlir.dialects.torch.types import AnyTensorType

DTYPE_NUMBERS: dict[Attribute, int] = {
    IntegerType(8, Signedness.UNSIGNED): 0,
    IntegerType(8, Signedness.SIGNED): 1,
    IntegerType(16, Signedness.SIGNED): 2,
    IntegerType(32, Signedness.SIGNED): 3,
    IntegerType(64, Signedness.SIGNED): 4,
    Float16Type(): 5,
    Float32Type(): 6,
    Float64Type(): 7,
    ComplexType(Float16Type()): 8,
    ComplexType(Float32Type()): 9,
    ComplexType(Float64Type()): 10,
    i1: 11,
    BFloat16Type(): 15,
}
"""Element type -> PyTorch's number of the dtype (c10/core/ScalarType.h)."""

FLOATS = (BFloat16Type, Float16Type, Float32Type, Float64Type)
_BYTES = {0: 1, 1: 1, 2: 2, 3: 4, 4: 8, 5: 2, 6: 4, 7: 8, 8: 4, 9: 8, 10: 16, 11: 1, 15: 2}
_ELSEWHERE = "cuda ipu maia meta mkldnn mps mtia sparse sparse_csr vulkan xla xpu"

Fact = Callable[[AnyTensorType], Any]


def _of_rank(fact: Callable[[int], Any]) -> Fact:
    return lambda type: None if type.sizes is None else fact(len(type.sizes))


def _of_dtype(fact: Callable[[Attribute], Any]) -> Fact:
    return lambda type: None if type.dtype is None else fact(type.dtype)


def _length(type: AnyTensorType) -> Any:
    return type.sizes[0] if type.sizes else None


def _always(value: Any) -> Fact:
    return lambda type: value


TENSOR_FACTS: dict[str, Fact] = {
    "torch.aten.dim": _of_rank(lambda rank: rank),
    "torch.aten.len.Tensor": _length,
    "torch.prim.dtype": _of_dtype(DTYPE_NUMBERS.get),
    "torch.prim.itemsize": _of_dtype(lambda dtype: _BYTES.get(DTYPE_NUMBERS.get(dtype, -1))),
    "torch.aten.is_floating_point": _of_dtype(lambda dtype: isinstance(dtype, FLOATS)),
    "torch.aten.is_complex": _of_dtype(lambda dtype: isinstance(dtype, ComplexType)),
    "torch.prim.device": _always("cpu"),
    "torch.prim.layout": _always(0),
    "torch.prim.is_cpu": _always(True),
    "torch.prim.requires_grad": _always(False),
    "torch.aten.is_inference": _always(False),
    "torch.prim.is_nested": _always(False),
    "torch.prim.is_quantized": _always(False),
    **{f"torch.prim.is_{kind}": _always(False) for kind in _ELSEWHERE.split()},
}
"""Op on a tensor -> what its type says, None if it does not."""
