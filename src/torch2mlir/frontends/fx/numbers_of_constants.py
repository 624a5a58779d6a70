"""Tensors that a model holds and that are neither parameters nor buffers, asked for their elements as Python numbers.

PyTorch's capture answers ``self.scale.item()`` with the number that is there, which leaves no trace in the graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor
from torch.export.graph_signature import InputKind
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from torch2mlir.errors import CaptureError
from torch2mlir.frontends.fx.small_constants import MOST_ELEMENTS
from torch2mlir.frontends.memory import storage_of

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
        tensors: those of the model that were asked or that what was asked is computed from, and tensors of PyTorch's
            that were asked and may be computed from any.
    """

    def __init__(self) -> None:
        super().__init__()
        self.asked = False
        self.tensors = list[Tensor]()
        self._computed = dict[int, tuple[FakeTensor, dict[int, Tensor]]]()

    def __exit__(self, *raised: Any) -> None:
        super().__exit__(*raised)
        self._computed.clear()

    def __torch_function__(
        self, function: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        result = function(*args, **(kwargs or {}))
        if function in _READS and isinstance(result, bool | int | float | complex | list):
            self.asked = True
            self.tensors += self._sources(args[0]).values()
        else:
            self._note(result, args, kwargs)
        return result

    def _note(self, result: Any, args: Sequence[Any], kwargs: Any) -> None:
        """Keeps the tensors of the model that a small result is computed from: PyTorch may know its elements."""
        results = pytree.tree_leaves(result) if isinstance(result, list | tuple) else [result]
        small = [r for r in results if isinstance(r, FakeTensor) and _is_small(r)]
        if small:
            sources = dict[int, Tensor]()
            for given in pytree.arg_tree_leaves(*args, **(kwargs or {})):
                if isinstance(given, Tensor):
                    sources |= self._sources(given)
            for tensor in small:
                _, before = self._computed.get(storage_of(tensor), (tensor, {}))
                self._computed[storage_of(tensor)] = tensor, before | sources

    def _sources(self, tensor: Tensor) -> dict[int, Tensor]:
        """The tensors of the model that it is computed from; itself if it is one, or if nothing is known of it.

        By their storages, so that of many ways to a tensor one is kept.
        """
        storage = storage_of(tensor)
        return self._computed.get(storage, (tensor, {storage: tensor}))[1]

    def check(self, written: Iterable[Tensor]) -> None:
        """Refuses a program that writes to what its numbers are from, since it would go on with the first.

        Args:
            written: the tensors that are neither parameters nor buffers and that the program writes.
        """
        asked = {storage_of(tensor) for tensor in self.tensors}
        asked_unknown = any(isinstance(tensor, FakeTensor) for tensor in self.tensors)
        for tensor in written:
            if asked_unknown or storage_of(tensor) in asked:
                raise CaptureError(
                    f"the model writes to a tensor of {list(tensor.shape)} that is neither a parameter nor a buffer, "
                    "and asks for elements of it as Python numbers, which would stay what they are now",
                    hint="make it a buffer: self.register_buffer(name, tensor)",
                )


def _is_small(tensor: Tensor) -> bool:
    sizes = tensor.shape
    return all(isinstance(size, int) for size in sizes) and prod(sizes) <= MOST_ELEMENTS


def numbers_asked(exported: torch.export.ExportedProgram) -> NumbersOfConstants:
    """What its capture has noted; nothing if nobody did."""
    found = exported.graph_module.meta.get(NUMBERS)
    return found if isinstance(found, NumbersOfConstants) else NumbersOfConstants()


def plain_tensors(exported: torch.export.ExportedProgram) -> set[str]:
    """The names of those that are neither parameters nor buffers."""
    specs = exported.graph_signature.input_specs
    return {str(spec.target) for spec in specs if spec.kind is InputKind.CONSTANT_TENSOR}
