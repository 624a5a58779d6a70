"""One capture of a model that ``optimize`` runs, in parts, and the calls it is for."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import torch

from torch2mlir.frontends.asked_of_tensors import holds
from torch2mlir.frontends.module_state import Modes
from torch2mlir.frontends.python_state import PythonState
from torch2mlir.frontends.pytrees import unflattener
from torch2mlir.frontends.tensor_kinds import TensorKinds
from torch2mlir.frontends.updated_caches import update_caches
from torch2mlir.hybrid.calls import direct_call, kind_of_call
from torch2mlir.hybrid.capture import Captured
from torch2mlir.hybrid.partition import Partition
from torch2mlir.hybrid.selection import Selection
from torch2mlir.hybrid.tune import Examination, Segment
from torch2mlir.program import Flag

_REMEMBERED = 1024
"""Of how many kinds of calls it is remembered that a capture is right for them."""


@dataclasses.dataclass
class Variant:
    """One capture of the model, in parts, and what it assumes."""

    captured: Captured
    parts: Partition
    state: PythonState
    modes: Modes
    flags: list[Flag] = dataclasses.field(default_factory=list)
    segments: list[Segment] = dataclasses.field(default_factory=list)
    selection: Selection | None = None
    calls: dict[Hashable, Sequence[str]] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        self.run = direct_call(self.parts.module)
        self._last: TensorKinds | None = None
        spec = self.captured.out_spec
        self._result = (lambda results: results[0]) if spec.is_leaf() else unflattener(spec)

    def take(self, parts: Partition, examination: Examination) -> None:
        """The parts as an examination has left them."""
        self.parts, self.run = parts, direct_call(parts.module)
        self.segments, self.selection = examination.segments, examination.selection

    def is_current(self) -> bool:
        """Whether PyTorch and Python are as they were for the capture."""
        return self.modes.are_current() and self.state.is_current()

    def leaves_of(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[Any] | None:
        """The flat arguments of a kind of call that the capture has been found to be right for.

        None if it has not, or is not any more.
        """
        is_as_last = not kwargs and self._last is not None and self._last.are_of(args)
        names = () if is_as_last else self.calls.get(kind_of_call(args, kwargs))
        if names is None or not self.is_current():
            return None
        leaves = [*args, *map(kwargs.__getitem__, names)] if names else args
        if not holds(self.flags, leaves) or not self.captured.is_apart(leaves):
            return None
        if not kwargs and not is_as_last and not any(leaf.requires_grad for leaf in leaves):
            self._last = TensorKinds.of(leaves)
        return leaves

    def remember(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Notes a call that the capture is right for, and in which order it takes the named arguments."""
        if (call := kind_of_call(args, kwargs)) is None:
            return
        if len(self.calls) >= _REMEMBERED:
            self.calls.clear()
        self.calls[call] = tuple(self.captured.ordered(kwargs))

    def called(self, leaves: Sequence[Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The result of a call, with the caller's own caches in it."""
        result, caches = self(leaves), self.captured.caches
        return update_caches(result, args, kwargs, caches) if caches else result

    def __call__(self, leaves: Sequence[Any]) -> Any:
        if torch.is_grad_enabled():
            with torch.no_grad():
                return self._result(self.run(leaves))
        return self._result(self.run(leaves))
