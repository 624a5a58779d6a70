"""Tensors that a model holds and that are neither parameters nor buffers, asked for their elements as Python numbers.

PyTorch's capture answers ``self.scale.item()`` with the number that is there, which leaves no trace in the graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor
from torch.export.graph_signature import InputKind
from torch.overrides import TorchFunctionMode

from torch2mlir.errors import CaptureError

NUMBERS = "torch2mlir.numbers_of_constants"
"""Of a graph module: what its capture has noted."""
_READS = {
    *(Tensor.item, Tensor.tolist, Tensor.is_nonzero, torch.is_nonzero),
    *(Tensor.__bool__, Tensor.__int__, Tensor.__float__, Tensor.__complex__, Tensor.__index__),
}


class NumbersOfConstants(TorchFunctionMode):
    """Notes during a capture whether the model's code was answered with a number that is not computed.

    Attributes:
        asked: whether it was.
        tensors: those of the model that were asked.
        asked_results: whether something that PyTorch computed of such tensors was asked.
    """

    def __init__(self) -> None:
        super().__init__()
        self.asked = False
        self.tensors = list[Tensor]()
        self.asked_results = False

    def __torch_function__(
        self, function: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        result = function(*args, **(kwargs or {}))
        if function in _READS and isinstance(result, bool | int | float | complex | list):
            self.asked = True
            if isinstance(args[0], FakeTensor):
                self.asked_results = True
            else:
                self.tensors.append(args[0])
        return result

    def check(self, written: Iterable[Tensor]) -> None:
        """Refuses a program that writes to what its numbers are from, since it would go on with the first.

        Args:
            written: the tensors that are neither parameters nor buffers and that the program writes.
        """
        asked = {tensor.untyped_storage()._cdata for tensor in self.tensors}
        for tensor in written:
            if self.asked_results or tensor.untyped_storage()._cdata in asked:
                raise CaptureError(
                    f"the model writes to a tensor of {list(tensor.shape)} that is neither a parameter nor a buffer, "
                    "and asks for elements of it as Python numbers, which would stay what they are now",
                    hint="make it a buffer: self.register_buffer(name, tensor)",
                )


def numbers_asked(exported: torch.export.ExportedProgram) -> NumbersOfConstants:
    """What its capture has noted; nothing if nobody did."""
    found = exported.graph_module.meta.get(NUMBERS)
    return found if isinstance(found, NumbersOfConstants) else NumbersOfConstants()


def plain_tensors(exported: torch.export.ExportedProgram) -> set[str]:
    """The names of those that are neither parameters nor buffers."""
    specs = exported.graph_signature.input_specs
    return {str(spec.target) for spec in specs if spec.kind is InputKind.CONSTANT_TENSOR}
