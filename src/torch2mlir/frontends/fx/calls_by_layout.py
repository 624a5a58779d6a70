"""What a model calls that depends on how tensors lie in memory, as functions and as ops of a graph.

``x.contiguous()`` is ``x`` itself where ``x`` is contiguous, which leaves nothing in a graph, and a copy elsewhere:
where one of the two is written, other strides are another program. A call of the model is watched for that.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from torch2mlir.frontends.fx.questions import is_called_by_model

_NAMES = ("contiguous", "flatten", "ravel", "reshape", "reshape_as")
_FUNCTIONS = frozenset(
    getattr(owner, name)
    for owner in (torch, Tensor)
    for name in (*_NAMES, "to")
    if hasattr(owner, name)
)
"""Functions whose result shares memory with their operand where it lies so and so, and is a copy elsewhere."""
SHARING_OR_COPYING_OPS = frozenset(
    overload
    for name in _NAMES
    for packet in [getattr(torch.ops.aten, name)]
    for overload in (getattr(packet, each) for each in packet.overloads())
)
"""The same as ops."""
_QUESTIONS = frozenset({Tensor.is_contiguous, Tensor.stride})
_SEEN = "torch2mlir.calls_by_layout"
"""Of a graph module: what :class:`CallsByLayout` has seen while the program was captured."""


@dataclass
class Seen:
    """What a model has called.

    Attributes:
        may_share: a function whose result shares memory with its operand, or does not, by its strides.
        leaves_as_it_is: one that has given its operand itself, which leaves nothing in a graph.
        asks_for_layouts: one that tells the strides of a tensor whose sizes vary.
    """

    may_share: bool = False
    leaves_as_it_is: bool = False
    asks_for_layouts: bool = False


class CallsByLayout(TorchFunctionMode):
    """Watches a call of a model.

    Args:
        is_trial: on the example itself, where no size says whether it varies.

    Attributes:
        seen: what has been called.
    """

    def __init__(self, is_trial: bool) -> None:
        super().__init__()
        self._is_trial = is_trial
        self.seen = Seen()

    def __torch_function__(
        self, function: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if function in _QUESTIONS and (self._is_trial or _varies(args[0])):
            self.seen.asks_for_layouts |= is_called_by_model(sys._getframe(1))
        result = function(*args, **kwargs)
        if function in _FUNCTIONS and (function is not Tensor.to or "memory_format" in kwargs):
            self.seen.may_share = True
            self.seen.leaves_as_it_is |= bool(args) and result is args[0]
        return result


def _varies(tensor: Tensor) -> bool:
    """Whether a size does."""
    return any(isinstance(size, torch.SymInt) for size in tensor.shape)


def note_seen(exported: torch.export.ExportedProgram, seen: Seen) -> None:
    """Keeps what was seen beside the program that was captured."""
    exported.graph_module.meta[_SEEN] = seen


def seen_in(exported: torch.export.ExportedProgram) -> Seen:
    """What was seen while a program was captured; of one that others have captured, nothing."""
    seen: Seen = exported.graph_module.meta.get(_SEEN) or Seen()
    return seen
