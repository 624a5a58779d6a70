"""PyTorch tensors as weights of the dialect: references to their own storage."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from itertools import count

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


_anonymous = count()


def tensor_literal(tensor: torch.Tensor, name: str) -> Operation:
    """``torch.vtensor.literal`` of a weight; the elements stay where they are."""
    return _literal_op(tensor, name)


def constant_literal(tensor: torch.Tensor) -> Operation:
    """``torch.vtensor.literal`` of a tensor that is no weight of the model: a constant of the code, without a name."""
    return _literal_op(tensor, None)


def _literal_op(tensor: torch.Tensor, name: str | None) -> Operation:
    element_type = dtypes.element_type(tensor.dtype)
    sizes = tuple(tensor.shape)
    source = TorchSource(name or f"constant_{next(_anonymous)}", tensor)
    weight = literal(source, sizes, element_type)
    value = weight.elements() if name is None and weight.is_readable else weight
    return core.ValueTensorLiteralOp.create(
        result_types=[t.vtensor(sizes, element_type)], properties={"value": value}
    )


def identity(tensor: torch.Tensor) -> Hashable:
    """Equal for tensors that are the same elements in the same memory (tied weights), whatever object they are."""
    if is_fake(tensor) or tensor.numel() == 0:
        return id(tensor)
    return (tensor.data_ptr(), tensor.dtype, tuple(tensor.shape), tensor.stride())


def refuse_sharing_in_part(written: torch.Tensor, held: Mapping[str, torch.Tensor]) -> None:
    """What a program writes is memory of its own: the other tensor would not see it.

    Args:
        written: a tensor that the program writes to.
        held: the tensors that the program holds, by name.

    Raises:
        CaptureError: another one has a part of its memory, or has it in another order.
    """
    memory = written.untyped_storage()._cdata
    together = {name: one for name, one in held.items() if one.untyped_storage()._cdata == memory}
    if any(identity(one) != identity(written) for one in together.values()):
        names = ", ".join(sorted(together))
        raise CaptureError(
            f"the model writes to one of several tensors that share memory in part: {names}",
            hint="let the model keep one tensor and take views of it in forward",
        )


def is_fake(tensor: torch.Tensor) -> bool:
    """Whether a tensor has a shape but no elements."""
    return isinstance(tensor, torch._subclasses.FakeTensor) or tensor.is_meta
