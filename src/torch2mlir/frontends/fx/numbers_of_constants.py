"""Tensors that a model holds and that are neither parameters nor buffers, asked for their elements as Python numbers.

PyTorch's capture answers ``self.scale.item()`` with the number that is there, which leaves no trace in the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

READS_ELEMENTS = "torch2mlir.reads_elements"
"""Of a graph module: elements of tensors that are constants to PyTorch were numbers for the model's code."""
_READS = {
    *(Tensor.item, Tensor.tolist, Tensor.is_nonzero, torch.is_nonzero),
    *(Tensor.__bool__, Tensor.__int__, Tensor.__float__, Tensor.__complex__, Tensor.__index__),
}


class NumbersOfConstants(TorchFunctionMode):
    """Notes during a capture whether the model's code was answered with a number that is not computed.

    Attributes:
        asked: whether it was.
    """

    def __init__(self) -> None:
        super().__init__()
        self.asked = False

    def __torch_function__(
        self, function: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        result = function(*args, **(kwargs or {}))
        if function in _READS and isinstance(result, bool | int | float | complex | list):
            self.asked = True
        return result
