"""Calls whose arguments share memory with one that the graph writes to.

TorchDynamo tells apart calls in which two arguments are one tensor, and takes others for tensors of their own: in
``x.add_(1); return x + y`` nothing tells AOTAutograd that ``y`` is a part of ``x`` in a later call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch.fx import GraphModule

from torch2mlir.frontends.dynamo.refused_graphs import memory_of, written_by
from torch2mlir.frontends.memory import share_elements, span


def in_pytorch_where_they_overlap(
    module: GraphModule, compiled: Callable[..., Any], on_overlap: Callable[[], None]
) -> Callable[..., Any]:
    """A compiled graph that leaves calls to PyTorch in which an argument overlaps one that is written.

    Args:
        module: the graph of TorchDynamo's.
        compiled: what has been made of it; takes its arguments one by one.
        on_overlap: called at each such call.
    """
    given = module.graph.find_nodes(op="placeholder")
    written = set(map(memory_of, written_by(list(module.graph.nodes)))) - {None}
    places = [place for place, node in enumerate(given) if memory_of(node) in written]
    if not places:
        return compiled

    overlaps = Overlaps(places)

    def run(*args: Any) -> Any:
        if overlaps.are_in(args):
            on_overlap()
            return module.forward(*args)
        return compiled(*args)

    return run


class _Place(NamedTuple):
    """Where a tensor lies in memory: its first byte, and those of its elements from ``begin`` up to ``end``."""

    pointer: int
    shape: torch.Size
    begin: int
    end: int


class Overlaps:
    """Looks for arguments that share elements with one that is written, call by call.

    Most arguments of a graph are weights, and lie where they lay: what has not moved is not looked at again.

    Args:
        written: the places of those that are written.
    """

    def __init__(self, written: Sequence[int]) -> None:
        self._written = frozenset(written)
        self._weights = dict[int, torch.nn.Parameter]()
        self._lay = dict[int, _Place]()

    def are_in(self, args: Sequence[Any]) -> bool:
        """Whether one of a call's arguments shares elements with another one, and one of both is written."""
        moved = list[int]()
        for place, arg in enumerate(args):
            if self._weights.get(place) is arg or not isinstance(arg, torch.Tensor):
                continue
            try:
                lay, pointer, shape = self._lay.get(place), arg.data_ptr(), arg.shape
            except RuntimeError:  # it has no memory that anything could share
                continue
            if lay is None or lay.pointer != pointer or lay.shape != shape:
                moved.append(place)
                self._lay[place] = _Place(pointer, shape, *span(arg))
            if isinstance(arg, torch.nn.Parameter):
                self._weights[place] = arg
        if any(self._is_shared(args, place) for place in moved):
            self._weights.clear()
            self._lay.clear()
            return True
        return False

    def _is_shared(self, args: Sequence[Any], place: int) -> bool:
        lies = self._lay[place]
        others = self._lay if place in self._written else self._written & self._lay.keys()
        return any(
            lies.begin < self._lay[other].end
            and self._lay[other].begin < lies.end
            and args[place] is not args[other]
            and share_elements(args[place], args[other])
            for other in others
        )
