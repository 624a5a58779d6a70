"""PyTorch tensors as weights of the dialect: references to their own storage."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import torch
from xdsl.ir import Operation

from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.weights import TensorSource, literal
from torch2mlir.errors import CaptureError
from torch2mlir.frontends import dtypes


@dataclass(eq=False)
class TorchSource(TensorSource):
    """A weight in a PyTorch tensor's storage. Strided tensors are made contiguous when their bytes are asked for."""

    name: str
    tensor: torch.Tensor

    @property
    def nbytes(self) -> int:
        return self.tensor.numel() * self.tensor.element_size()

    def view(self) -> memoryview:
        tensor = self.tensor.detach()
        if is_fake(tensor):
            raise CaptureError(
                f"the weight '{self.name}' is fake: it has a shape but no elements",
                hint='write it with weights="external" or weights="arguments", or load real weights',
            )
        flat = tensor.cpu().resolve_conj().resolve_neg().contiguous().reshape(-1)
        if flat.is_complex():
            flat = torch.view_as_real(flat).reshape(-1)
        if flat.numel() == 0:
            return memoryview(b"")
        return memoryview(flat.view(torch.uint8).numpy())  # type: ignore[arg-type]


def tensor_literal(tensor: torch.Tensor, name: str) -> Operation:
    """``torch.vtensor.literal`` of a tensor; the elements stay where they are."""
    element_type = dtypes.element_type(tensor.dtype)
    sizes = tuple(tensor.shape)
    source = TorchSource(name, tensor)
    value = literal(source, sizes, element_type, has_elements=not is_fake(tensor))
    return core.ValueTensorLiteralOp.create(
        result_types=[t.vtensor(sizes, element_type)], properties={"value": value}
    )


def identity(tensor: torch.Tensor) -> Hashable:
    """Equal for tensors that are the same elements in the same memory (tied weights), whatever object they are."""
    if is_fake(tensor) or tensor.numel() == 0:
        return id(tensor)
    return (tensor.data_ptr(), tensor.dtype, tuple(tensor.shape), tensor.stride())


def is_fake(tensor: torch.Tensor) -> bool:
    """Whether a tensor has a shape but no elements."""
    return isinstance(tensor, torch._subclasses.FakeTensor) or tensor.is_meta
