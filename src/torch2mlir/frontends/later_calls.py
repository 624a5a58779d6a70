"""Whether what calls of a model leave to Python makes a difference to later calls: tried, in PyTorch.

Two series of calls have the same arguments and random numbers. In one Python's objects are before each call what they
were at the capture, as for a compiled program; in the other they are what the calls before have left.

What a call computes of its arguments and keeps may be what was there before, for these arguments: a neuron that has
fired begins anew, and a largest value stays where none is larger. So calls with larger and smaller elements, beyond
what the model keeps and up to 1e5, come between others, and numbers that a trace has computed are given other values.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from typing import Any, NamedTuple

import torch
from torch._library.utils import is_builtin
from torch.fx import GraphModule
from torch.utils import _pytree as pytree

from torch2mlir.frontends.python_state import Change, PythonState, name_of
from torch2mlir.frontends.reached_objects import Reached
from torch2mlir.frontends.trials import have_same_elements, repeated

Call = tuple[Sequence[Any], Mapping[str, Any]]
_MOST_CALLS = 9
_SECONDS = 2.0
"""Three calls there are in any case, more of them within this time."""
_COUNTS = (18_017_999, 18_018_000, -18_018_000)
"""Of calls, far away: behind any threshold, and before and at what most numbers divide."""
_NUMBERS = (math.nan, 1e30, -1e30)
_ELEMENTS = (1.0, -1.0, math.nan)
"""Of arguments, times what is far from most: larger and smaller ones, and what is no number."""
_FAR = 100.0
_FARTHEST = 1e5
"""Not so large that a tensor of so many elements takes all memory."""


_ITERATOR = "an iterator"


def takes_any_elements(program: GraphModule) -> bool:
    """Whether all ops of a program are PyTorch's own: a kernel of somebody else's may end the process at some NaN."""
    graphs = [part.graph for part in program.modules() if isinstance(part, GraphModule)]
    ops = (node.target for graph in graphs for node in graph.nodes)
    return all(is_builtin(op) for op in ops if isinstance(op, torch._ops.OpOverload))


class Difference(NamedTuple):
    """What calls leave behind.

    Attributes:
        matters: the names of it, if a later call computes something else for it.
        lost: otherwise the names of what each call leaves anew, which nobody who reads it finds after a compiled one.
    """

    matters: Sequence[str] = ()
    lost: Sequence[str] = ()


def difference(
    model: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    computed: Sequence[Change] | None,
    smaller: Call | None = None,
    takes_anything: bool = True,
) -> Difference:
    """What calls of a model leave behind, found by calling it; all of that is undone.

    What a model keeps of the first call, as a cache that is filled once, may show in a call with other elements only;
    what it counts, in a much later one.

    Args:
        model: a module or a function.
        args, kwargs: the example.
        computed: what a trace of it has left of values that it computes; None if there was no trace.
        smaller: a call like the example, of smaller sizes.
        takes_anything: whether it can be called with elements that nobody has ever called it with.
    """
    given: Call = args, kwargs
    found = _kept_on(model, given)
    if not found.matters and (computed or computed is None):
        others = [smaller] if smaller is not None else []
        far = _farther_than(model)
        others += [
            pytree.tree_map(partial(_far_elements, place=place, far=far), given)
            for place in range(len(_ELEMENTS) if takes_anything else 0)
        ]
        matters = _of_numbers(model, given, computed or ()) or _of_others(model, given, others)
        if matters:
            return Difference(matters=matters)
    return found


def _kept_on(model: Callable[..., Any], given: Call) -> Difference:
    """What shows in calls with the example and its like."""
    calls = [given, given, pytree.tree_map(_other, given)] * 4
    going_on = _GoingOn(model, calls)
    if going_on.failed:  # it may take the example and nothing else
        calls = [given] * len(calls)
        going_on = _GoingOn(model, calls)
    if not going_on.names:
        return Difference()  # or PyTorch refuses the example as well: nothing to compare with
    calls = calls[: len(going_on.kept) + going_on.failed]
    agree = _are_repeated(model, calls, going_on.kept)
    if agree and going_on.names == [_ITERATOR]:
        # nobody winds it back, and it may turn once in as many calls: these begin one later
        with suppress(Exception):
            list(repeated(model, calls[:1]))
        agree = _are_repeated(model, calls, going_on.kept)
    return Difference(lost=going_on.moving) if agree else Difference(matters=going_on.names)


def _are_repeated(
    model: Callable[..., Any], calls: Sequence[Call], kept: Sequence[list[Any]]
) -> bool:
    """Whether calls give the same where Python's objects are before each what they were at the capture."""
    states, fixed = list[PythonState](), list[list[Any]]()
    with suppress(Exception):
        for results in repeated(model, calls, states, has_same_objects=True):
            fixed.append([*results, *_written(states[0])])
    return len(kept) == len(fixed) and all(map(have_same_elements, kept, fixed))


def _of_numbers(
    model: Callable[..., Any], given: Call, computed: Sequence[Change]
) -> Sequence[str]:
    """The names of numbers that a trace has computed, if a call gives something else where they are others."""
    numbers = [each for each in computed if isinstance(each.then, int | float)]
    states, kept = list[PythonState](), list[list[Any]]()
    if not numbers:
        return ()
    with closing(repeated(model, [given, given], states)) as series, suppress(Exception):
        kept.append([*next(series), *_written(states[0])])
        for each in numbers:
            entries = each.table.entries()
            if (near := _near(entries.get(each.key))) is not None:
                each.table.write(entries | {each.key: near})
        kept.append([*next(series), *_written(states[0])])
    agree = len(kept) < 2 or _are_repeated(model, [given, given], kept)
    return () if agree else [*map(name_of, numbers)]


def _near(value: Any) -> bool | int | float | None:
    """Another number, not far away: there may be a tensor of so many elements."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    return 2 * value + 1 if isinstance(value, float) else None


def _of_others(model: Callable[..., Any], given: Call, others: Sequence[Call]) -> Sequence[str]:
    """The names of what other calls leave, if the example or the next of them gives something else then."""
    calls, end = list[Call](), time.perf_counter() + _SECONDS
    for other in others:
        with suppress(Exception):  # the model may ask whether elements are in a range
            if list(repeated(model, [other])):
                calls += [given, other]
        if time.perf_counter() > end:
            break
    calls.append(given)
    states, kept, names = list[PythonState](), list[list[Any]](), dict[str, None]()
    with suppress(Exception):
        for results in repeated(model, calls, states):
            kept.append([*results, *_written(states[0])])
            names |= dict.fromkeys(states[0].changed())
    agree = not names or len(kept) < len(calls) or _are_repeated(model, calls, kept)
    return () if agree else [*names]


def _farther_than(model: Callable[..., Any]) -> float:
    """A number beyond those that code sets, as they are now: a largest value so far may be 1000."""
    reached = Reached(model)
    entries = [entry for table in reached.tables for entry in table.saved.items()]
    set_by_code = [value for name, value in entries if name in reached.stored]
    values = pytree.tree_leaves(set_by_code)
    sizes = [size for value in values if math.isfinite(size := _largest_in(value))]
    return min(max([_FAR, *(2 * size for size in sizes)]), _FARTHEST)


def _largest_in(value: Any) -> float:
    """The largest of the absolute values of a tensor or of a number; 0 of anything else."""
    if isinstance(value, int | float):
        return float(abs(value))
    if isinstance(value, torch.Tensor) and value.numel():
        with suppress(RuntimeError, TypeError):  # quantized tensors have none
            return float(value.abs().max())
    return 0.0


def _far_elements(value: Any, place: int, far: float) -> Any:
    """A tensor of the same kind and far larger or smaller elements; of integers, which may be places, its own."""
    if not isinstance(value, torch.Tensor) or not value.numel():
        return value
    with suppress(RuntimeError, TypeError):
        if value.dtype.is_floating_point or value.dtype.is_complex:
            most = torch.finfo(value.dtype).max
            return torch.full_like(value, _ELEMENTS[place] * min(far, most))
        if place < 2:
            return torch.full_like(value, (value.max(), value.min())[place].item())
        return value.detach().flip([*range(value.dim())])
    return value


class _GoingOn:
    """Calls that find what those before them have left, as long as they change anything.

    Args:
        model: what is called.
        calls: the arguments of each.

    Attributes:
        kept: of each call the results, and the tensors that are written by then.
        failed: whether another call raised an error.
        names: of what a call changes.
        moving: of what each call changes again.
    """

    def __init__(self, model: Callable[..., Any], calls: Sequence[Call]) -> None:
        self.kept = list[list[Any]]()
        self.failed = False
        self.names = list[str]()
        self.moving = list[str]()
        self._states = list[PythonState]()
        self._series = repeated(model, calls, self._states)
        try:
            self._run(model)
        except Exception:
            self.failed = True
        finally:
            self._series.close()

    def _call(self) -> None:
        self.kept.append([*next(self._series), *_written(self._states[0])])

    def _run(self, model: Callable[..., Any]) -> None:
        self._call()
        start = self._states[0]
        self.names = start.changed() or ([_ITERATOR] if start.reached.iterates else [])
        if not self.names:
            return
        after_first = PythonState(model)
        self._call()
        self._call()
        moving = [each for each in after_first.changes() if not _are_equal(each)]
        self.names = start.changed() or self.names
        self.moving = [name_of(each) for each in moving]
        end = time.perf_counter() + _SECONDS
        while moving and len(self.kept) < _MOST_CALLS and time.perf_counter() < end:
            self._call()
        movable = [each for each in moving if _far_away(each.now, 0) is not None]
        for place in range(len(_COUNTS)) if movable else ():
            for each in movable:
                each.table.write(each.table.entries() | {each.key: _far_away(each.now, place)})
            self._call()


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
    """A tensor of the same kind, its elements others of the same sign and size, or small ones in the place of zeros."""
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return value
    with suppress(RuntimeError):  # quantized tensors have no such ops
        elements = value.detach().flip([*range(value.dim())])
        is_zero = not bool(elements.any())
        if value.dtype == torch.bool:
            return ~elements if is_zero else elements
        if value.dtype.is_floating_point or value.is_complex():
            places = torch.arange(1.0, value.numel() + 1).reshape(value.shape)
            return (places / value.numel()).to(value.dtype) if is_zero else elements * 0.75
        return elements + 1 if is_zero else elements
    return value
