"""Calls whose arguments share memory with one that the graph writes to.

TorchDynamo tells apart calls in which two arguments are one tensor, and takes others for tensors of their own: in
``x.add_(1); return x + y`` nothing tells AOTAutograd that ``y`` is a part of ``x`` in a later call. Where it is one
when the graph is compiled AOTAutograd makes a program for such arguments, and nothing tells it of others later.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch.fx import GraphModule, Node

from torch2mlir.frontends.dynamo.refused_graphs import memory_of, written_by
from torch2mlir.frontends.memory import share_elements, span, storage_of


def in_pytorch_where_they_overlap(
    module: GraphModule, compiled: Callable[..., Any], on_overlap: Callable[[], None]
) -> Callable[..., Any]:
    """A compiled graph that leaves calls to PyTorch in which an argument overlaps one that is written.

    Args:
        module: the graph of TorchDynamo's.
        compiled: what has been made of it; takes its arguments one by one.
        on_overlap: called at each such call.
    """
    given = [*module.graph.find_nodes(op="placeholder")]
    memory = [*map(memory_of, given)]
    written = set(map(memory_of, written_by(list(module.graph.nodes)))) - {None}
    places = [place for place, each in enumerate(memory) if each in written]
    if not places:
        return compiled

    overlaps, parts = Overlaps(places, memory), _parts_of_one(given, memory, places)

    def run(*args: Any) -> Any:
        if overlaps.are_in(args) or not all(_is_part(args, *part) for part in parts):
            on_overlap()
            return module.forward(*args)
        return compiled(*args)

    return run


def _parts_of_one(
    given: Sequence[Node], memory: Sequence[int | None], written: Sequence[int]
) -> list[tuple[int, int, int | None]]:
    """Arguments that shared memory with one that is written when the graph was compiled.

    The place of that one, their own, and how far apart in elements they begin; None where that is not known.
    """
    found = list[tuple[int, int, int | None]]()
    for place in written:
        first = memory.index(memory[place])
        for other, each in enumerate(memory):
            if place == first and other != place and each == memory[place]:
                one, two = (
                    given[at].meta["example_value"].storage_offset() for at in (place, other)
                )
                known = isinstance(one, int) and isinstance(two, int)
                found.append((place, other, two - one if known else None))
    return found


def _is_part(args: Sequence[Any], place: int, other: int, distance: int | None) -> bool:
    """Whether two arguments share memory as they did when the graph was compiled."""
    one, two = args[place], args[other]
    if storage_of(one) != storage_of(two) or one.dtype != two.dtype:
        return False
    return bool(two.storage_offset() - one.storage_offset() == distance)


def _pointer(arg: Any) -> int:
    """The first byte of a tensor; 0 for what has no memory that anything could share."""
    try:
        return int(arg.data_ptr()) if isinstance(arg, torch.Tensor) else 0
    except RuntimeError:
        return 0


class _Place(NamedTuple):
    """Where a tensor lies in memory: the bytes of its elements, from ``begin`` up to ``end``."""

    shape: torch.Size
    strides: tuple[int, ...]
    begin: int
    end: int


class Overlaps:
    """Looks for arguments that share elements with one that is written, call by call.

    Most arguments of a graph are weights, and lie where they lay: what has not moved is not looked at again.

    Args:
        written: the places of those that are written.
        memory: what arguments that shared memory when the graph was compiled have in common, by their places.
    """

    def __init__(self, written: Sequence[int], memory: Sequence[int | None]) -> None:
        self._written = frozenset(written)
        self._memory = memory
        self._lock = threading.Lock()
        self._pointers = list[int]()
        self._lay = dict[int, _Place]()

    def are_in(self, args: Sequence[Any]) -> bool:
        """Whether an argument shares elements with another one as it did not before, and one of both is written."""
        with self._lock:
            pointers, before = [*map(_pointer, args)], self._pointers
            is_known = len(before) == len(pointers)
            moved = [
                place
                for place, pointer in enumerate(pointers)
                if pointer
                and not (is_known and pointer == before[place] and self._is_alike(args, place))
            ]
            for place in moved:
                arg = args[place]
                self._lay[place] = _Place(arg.shape, arg.stride(), *span(arg))
            for place in [place for place in self._lay if not pointers[place]]:
                del self._lay[place]
            is_found = any(self._is_shared(args, place) for place in moved)
            self._pointers = [] if is_found else pointers
            return is_found

    def _is_alike(self, args: Sequence[Any], place: int) -> bool:
        """Whether a tensor has the sizes and strides of the last one there, which of weights TorchDynamo guards."""
        arg = args[place]
        if type(arg) is torch.nn.Parameter:
            return True
        lay = self._lay[place]
        return arg.shape == lay.shape and arg.stride() == lay.strides

    def _is_shared(self, args: Sequence[Any], place: int) -> bool:
        lies = self._lay[place]
        others = self._lay if place in self._written else self._written & self._lay.keys()
        return any(
            lies.begin < self._lay[other].end
            and self._lay[other].begin < lies.end
            and self._memory[place] != self._memory[other]
            and args[place] is not args[other]
            and share_elements(args[place], args[other])
            for other in others
        )
