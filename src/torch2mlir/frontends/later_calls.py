"""Whether what calls of a model leave to Python makes a difference to later calls: tried, in PyTorch.

Two series of calls have the same arguments and random numbers. In one Python's objects are before each call what they
were at the capture, as for a compiled program; in the other they are what the calls before have left.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import torch
from torch.utils import _pytree as pytree

from torch2mlir.frontends.python_state import Change, PythonState, name_of
from torch2mlir.frontends.trials import have_same_elements, repeated

_Call = tuple[Sequence[Any], Mapping[str, Any]]
_MOST_CALLS = 9
_SECONDS = 2.0
"""Three calls there are in any case, more of them within this time."""
_COUNTS = (18_017_999, 18_018_000, -18_018_000)
"""Of calls, far away: behind any threshold, and before and at what most numbers divide."""
_NUMBERS = (math.nan, 1e30, -1e30)


class Difference(NamedTuple):
    """What calls leave behind.

    Attributes:
        matters: the names of it, if a later call computes something else for it.
        lost: otherwise the names of what each call leaves anew, which nobody who reads it finds after a compiled one.
    """

    matters: Sequence[str] = ()
    lost: Sequence[str] = ()


def difference(
    model: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Difference:
    """What calls of a model leave behind, found by calling it; all of that is undone.

    What a model keeps of the first call, as a cache that is filled once, may show in a call with other elements only;
    what it counts, in a much later one.
    """
    calls: list[_Call] = [(args, kwargs), (args, kwargs), pytree.tree_map(_other, (args, kwargs))]
    going_on, fixed = _GoingOn(), list[list[Any]]()
    with suppress(Exception):  # PyTorch refuses it as well: nothing to compare with
        going_on.run(model, calls * 4)
    if not going_on.names:
        return Difference()
    states = list[PythonState]()
    with suppress(Exception):
        series = repeated(model, (calls * 4)[: going_on.count], states, has_same_objects=True)
        for results in series:
            fixed.append([*results, *_written(states[0])])
    agree = all(map(have_same_elements, going_on.kept, fixed))
    if not agree or going_on.failed_far_away:
        return Difference(matters=going_on.names)
    return Difference(lost=going_on.moving)


class _GoingOn:
    """Calls that find what those before them have left.

    Attributes:
        kept: of each call the results, and the tensors that are written by then.
        count: how many calls there were, the one that failed with them.
        names: of what a call changes.
        moving: of what each call changes again.
        failed_far_away: whether it failed for another number, or other elements, in the place of what moves.
    """

    def __init__(self) -> None:
        self.kept = list[list[Any]]()
        self.count = 0
        self.names = list[str]()
        self.moving = list[str]()
        self.failed_far_away = False

    def run(self, model: Callable[..., Any], calls: Sequence[_Call]) -> None:
        """Calls the model as long as it changes anything."""
        states = list[PythonState]()
        series = repeated(model, calls, states)
        try:
            self._run(model, series, states)
        finally:
            series.close()

    def _run(
        self, model: Callable[..., Any], series: Iterator[list[Any]], states: list[PythonState]
    ) -> None:
        def call() -> None:
            self.count += 1
            self.kept.append([*next(series), *_written(states[0])])

        call()
        iterates = states[0].reached.iterates
        self.names = states[0].changed() or (["an iterator"] if iterates else [])
        if not self.names:
            return
        after_first = PythonState(model)
        call()
        call()
        moving = [each for each in after_first.changes() if not _are_equal(each)]
        self.names = states[0].changed() or self.names
        self.moving = [name_of(each) for each in moving]
        if not moving and not iterates:
            return
        start = time.perf_counter()
        while self.count < _MOST_CALLS and time.perf_counter() - start < _SECONDS:
            call()
        movable = [each for each in moving if _far_away(each.now, 0) is not None]
        for place in range(len(_COUNTS)) if movable else ():
            for each in movable:
                each.table.write(each.table.entries() | {each.key: _far_away(each.now, place)})
            try:
                call()
            except Exception:
                self.failed_far_away = True
                return


def _written(state: PythonState) -> list[torch.Tensor]:
    """Copies of the tensors that have been written to since then, and of buffers in the place of others."""
    return [tensor.detach().clone() for tensor in state.written()]


def _are_equal(change: Change) -> bool:
    then, now = change.then, change.now
    if not isinstance(then, torch.Tensor) or not isinstance(now, torch.Tensor):
        return False
    return have_same_elements([then], [now])


def _far_away(value: Any, place: int) -> Any:
    """Another value of the same kind, far from the values that the first calls see; None where there is none."""
    if isinstance(value, torch.Tensor):
        with suppress(RuntimeError, TypeError):
            if value.dtype == torch.bool:
                return ~value
            if value.dtype.is_floating_point or value.dtype.is_complex:
                return torch.full_like(value, _NUMBERS[place])
            limits = torch.iinfo(value.dtype)
            return torch.full_like(value, min(max(_COUNTS[place], limits.min), limits.max))
        return None
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return _COUNTS[place]
    return type(value)(_NUMBERS[place]) if isinstance(value, float | complex) else None


def _other(value: Any) -> Any:
    """A tensor of the same kind, with elements of the same sign and size; what is no tensor as it is."""
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return value
    with suppress(RuntimeError):  # quantized tensors have no such ops
        elements = value.detach().flip([*range(value.dim())])
        return elements * 0.75 if value.dtype.is_floating_point or value.is_complex() else elements
    return value
