"""The weights of a compiled program as an engine holds them: handed over once, and again when they change.

A change is seen by a tensor's version counter, its address and its layout, so by everything that PyTorch counts as a
write (optimizers, ``load_state_dict``, ``copy_`` and its kin) and by ``weight.data = ..``. What fused optimizers write,
which PyTorch 2.13 does not count, is counted here, after each of their steps. Another write that is not counted
(into ``weight.data``, or a NumPy array over its memory) is seen by some of the elements, where copies are held; what
changes none of these is seen only after ``CompiledFunction.refresh``.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from torch2mlir.frontends.tensor_kinds import TensorKinds
from torch2mlir.program import StateInput
from torch2mlir.runtime.element_views import for_program
from torch2mlir.runtime.engine import Executable, Run, close_at_exit
from torch2mlir.runtime.model_state import check_state
from torch2mlir.runtime.samples import Samples

Stamp = tuple[int, int, tuple[int, ...], int]

_VERSION = attrgetter("_version")
_POINTER = torch.Tensor.data_ptr
_STRIDES = torch.Tensor.stride
_COUNT = torch.Tensor.numel


def counts_writes(tensor: torch.Tensor) -> bool:
    """Whether a write to the tensor can be seen: tensors made in inference mode count no versions."""
    return not tensor.is_inference()


def _stamps(tensors: Sequence[torch.Tensor]) -> list[Stamp]:
    """What tells whether tensors have changed; taken at every call, so without a question that is seldom needed."""
    try:
        # Python's own loops: there are hundreds of weights
        return [
            *zip(
                map(_VERSION, tensors),
                map(_POINTER, tensors),
                map(_STRIDES, tensors),
                map(_COUNT, tensors),
            )
        ]
    except RuntimeError:  # one was made in inference mode and counts no versions
        return [
            (0 if t.is_inference() else t._version, t.data_ptr(), t.stride(), t.numel())
            for t in tensors
        ]


def _count_fused_writes(optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
    for group in optimizer.param_groups:
        if group.get("fused"):
            written = [weight for weight in group["params"] if counts_writes(weight)]
            torch.autograd.graph.increment_version(written)


@cache
def _watch_optimizers() -> None:
    """Counts what fused optimizers write, once in a process where something is made of weights."""
    register_optimizer_step_post_hook(_count_fused_writes)


class Watched(ABC):
    """Something made of tensors, made again when these change. Safe to use from several threads."""

    def __init__(self) -> None:
        _watch_optimizers()
        self._seen: list[Stamp] | None = None
        self._kinds: TensorKinds | None = None
        self._versions: list[int] = []
        self._pointers: list[int] = []
        # What was seen stays in memory until the next look, or another tensor might come to lie at its address.
        self._alive: list[torch.Tensor] = []
        self._made: list[Any] = []
        self._samples = Samples(())
        self._lock = threading.Lock()

    def of(self, tensors: Sequence[torch.Tensor]) -> list[Any]:
        """What is made of the tensors as they are now; always the same number of them.

        It is the same list until they change.
        """
        if not (
            self._are_as_seen(tensors)
            and not self._has_uncounted(tensors)
            and self._samples.are_current()
        ):
            with self._lock:
                stamps = _stamps(tensors)
                alive = [tensor.detach() for tensor in tensors]
                if stamps == self._seen:  # nobody tells which
                    self.forget()
                self._made = self._make(alive, stamps)
                self._samples = Samples(alive if self._are_copies() else ())
                self._alive, self._seen = alive, stamps
                self._note(tensors, stamps)
        return self._made

    def _are_as_seen(self, tensors: Sequence[torch.Tensor]) -> bool:
        """Whether the tensors have the stamps that were seen; asked at every call, of hundreds of weights."""
        if self._kinds is not None and self._kinds.are_of(tensors):
            # strides and sizes are
            return [*map(_VERSION, tensors)] == self._versions and (
                [*map(_POINTER, tensors)] == self._pointers
            )
        stamps = _stamps(tensors)
        if stamps != self._seen:
            return False
        self._note(tensors, stamps)
        return True

    def _note(self, tensors: Sequence[torch.Tensor], stamps: Sequence[Stamp]) -> None:
        """Remembers stamps that have been seen, for the next look."""
        are_counted = all(map(counts_writes, tensors))
        self._kinds = None
        self._versions = [version for version, *_ in stamps]
        self._pointers = [pointer for _, pointer, *_ in stamps]
        self._kinds = TensorKinds.of(tensors) if are_counted else None

    def forget(self) -> None:
        """Takes all tensors for changed."""
        self._seen = self._kinds = None

    def close(self) -> None:
        """Lets go what was made."""
        self._seen, self._kinds, self._made = None, None, []

    def _has_uncounted(self, tensors: Sequence[torch.Tensor]) -> bool:
        """Whether writes may be overlooked that matter to what is made."""
        return False

    def _are_copies(self) -> bool:
        """Whether what is made does not change with the memory of the tensors."""
        return True

    @abstractmethod
    def _make(self, tensors: list[torch.Tensor], stamps: list[Stamp]) -> list[Any]: ...


class Handles(Watched):
    """The handles of an executable for tensors; those of tensors that have not changed are kept.

    Args:
        executable: the program.
        places: of its arguments that the tensors are.
        states: the tensors.
        are_built_in: whether the program has them as constants, which it computes with and packs.
    """

    def __init__(
        self,
        executable: Executable,
        places: Sequence[int],
        states: Sequence[StateInput],
        are_built_in: bool,
    ) -> None:
        super().__init__()
        self._executable = executable
        self._states = states
        self._dtypes = [executable.function.arguments[place].dtype for place in places]
        self._are_built_in = are_built_in

    def _are_copies(self) -> bool:
        # an engine of the user's own may hold anything
        shared = (getattr(handle, "shares_memory", False) for handle in self._made)
        return self._are_built_in or not all(shared)

    def _make(self, tensors: list[torch.Tensor], stamps: list[Stamp]) -> list[Any]:
        for state, tensor in zip(self._states, tensors, strict=True):
            check_state(state, tensor)
        old: Sequence[Stamp | None] = self._seen or [None] * len(stamps)
        kept = self._made or [None] * len(stamps)
        return [
            handle if before == now else self._executable.prepare(for_program(tensor, dtype))
            for tensor, dtype, now, before, handle in zip(
                tensors, self._dtypes, stamps, old, kept, strict=True
            )
        ]


class PreparedWeights(Watched):
    """What ``prepare-weights`` has moved out of a program, computed once for each state of the weights."""

    def __init__(self, executable: Executable, states: Sequence[StateInput]) -> None:
        super().__init__()
        self._executable = executable
        self._states = states
        self._dtypes = [spec.dtype for spec in executable.function.arguments]
        self._are_counted = True

    def _make(self, tensors: list[torch.Tensor], stamps: list[Stamp]) -> list[Any]:
        for state, tensor in zip(self._states, tensors, strict=True):
            check_state(state, tensor)
        self._are_counted = all(map(counts_writes, tensors))
        return self._executable([*map(for_program, tensors, self._dtypes)])

    def _has_uncounted(self, tensors: Sequence[torch.Tensor]) -> bool:
        return not self._are_counted


class _Bound(NamedTuple):
    """A program with what was held at some time: handles of weights, what was prepared, both as held, the function."""

    handles: list[Any]
    prepared: list[Any]
    held: list[Any]
    run: Run


_NOTHING = list[Any]()


class Held:
    """What an engine holds for one program, and the program as a function of its other arguments.

    Args:
        executable: the program.
        places: of its arguments that are held, the weights first.
        states: the weights.
        prepare: makes the others of weights, if there are any.
        are_built_in: whether the engine builds what is held into the program.
    """

    def __init__(
        self,
        executable: Executable,
        places: Sequence[int],
        states: Sequence[StateInput],
        prepare: PreparedWeights | None,
        are_built_in: bool,
    ) -> None:
        self._executable = executable
        self._places = places
        self._prepare = prepare
        held = places[: len(states)]
        self._handles = Handles(executable, held, states, are_built_in) if places else None
        self._bound: _Bound | None = None
        if executable.reports_handles:
            close_at_exit(self)

    def prepared_values(self, sources: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """What is prepared from weights, as they are now."""
        return _NOTHING if self._prepare is None else self._prepare.of(sources)

    def bound(self, weights: Sequence[torch.Tensor], sources: Sequence[torch.Tensor]) -> _Bound:
        """The program with these weights and what is prepared from others, as they are now.

        Asked for at every call: what takes as long as there are weights is done when they have changed.
        """
        bound = self._bound
        if self._handles is None:
            if bound is None:
                run = self._executable.holding({})
                self._bound = bound = _Bound(_NOTHING, _NOTHING, _NOTHING, run)
            return bound
        handles, prepared = self._handles.of(weights), self.prepared_values(sources)
        if bound is None or bound.handles is not handles or bound.prepared is not prepared:
            held = [*handles, *map(self._executable.prepare, prepared)]
            run = self._executable.holding(dict(zip(self._places, held, strict=True)))
            self._bound = bound = _Bound(handles, prepared, held, run)
        return bound

    def forget(self) -> None:
        """Takes all weights for changed."""
        if self._handles is not None:
            self._handles.forget()

    def close(self) -> None:
        """Lets the engine's handles go; a later call makes them again."""
        self._bound = None
        if self._handles is not None:
            self._handles.close()
