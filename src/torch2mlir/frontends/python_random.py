"""Random numbers of Python's or NumPy's that a model draws, and the time: a program would repeat its capture's.

And what a model does to PyTorch's generator of them, which a program does not: it draws with a new seed at each call.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

import torch
from torch.utils import _pytree as pytree

from torch2mlir.errors import CaptureError
from torch2mlir.frontends.trials import have_same_elements, repeated
from torch2mlir.frontends.watched_calls import calls_watched
from torch2mlir.shared_generators import SharedGenerators

_CALLS = 8
"""Of the model, which draw as often: one that skips a layer every other time shows it."""


CLOCKS = frozenset(
    {
        *("time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns"),
        *("process_time", "thread_time", "now", "utcnow", "today"),
        *("urandom", "uuid1", "uuid4", "SystemRandom", "token_bytes", "token_hex", "randbelow"),
    }
)
"""Names by which code asks for the time, or for random numbers that nobody can draw again."""


DRAWN, SEEDED = "drawn", "seeded"
_SEEDING = ("manual_seed", "seed", "set_state")
_ON_THE_WAY = ("torch.random", "contextlib", "torch._compile", "torch._dynamo.eval_frame")
"""Modules of functions that stand between a model's code and the generator."""


class _SeedsNoted(torch.Generator):
    """In the place of PyTorch's default generator, which it hands everything on to.

    Args:
        generator: it.
        noted: gets an entry for each time that it is given a seed or a state.
    """

    _generator: torch.Generator
    _noted: list[str]

    def __new__(cls, generator: torch.Generator, noted: list[str]) -> _SeedsNoted:
        found: _SeedsNoted = super().__new__(cls)
        found._generator, found._noted = generator, noted
        return found

    def __getattribute__(self, name: str) -> Any:
        if name in _SeedsNoted.__annotations__:
            return object.__getattribute__(self, name)
        if name in _SEEDING and not _is_of_a_capture(sys._getframe(1)):
            self._noted.append(SEEDED)
        return getattr(self._generator, name)


def _is_of_a_capture(frame: FrameType | None) -> bool:
    """Whether code of PyTorch's asks for it of its own accord, as around the bodies of ``torch.cond``, or a trial's."""
    while frame is not None and frame.f_globals.get("__name__") in _ON_THE_WAY:
        frame = frame.f_back
    name = "" if frame is None else str(frame.f_globals.get("__name__"))
    return name.startswith(("torch.", "torch2mlir."))


@contextmanager
def draws_noted(traced: torch.nn.Module, noted: list[str]) -> Iterator[None]:
    """Around a trace: what the model's call does to generators of random numbers.

    Args:
        traced: the model.
        noted: gets ``DRAWN`` if Python's or NumPy's were drawn from, which draw the same again, and ``SEEDED`` if
            PyTorch's was given a seed or a state.
    """
    start = list[SharedGenerators]()
    default: torch.Generator = vars(torch)["default_generator"]

    def take(generator: torch.Generator) -> None:
        for holder in (torch, torch.random):
            vars(holder)["default_generator"] = generator

    def at_start(_model: Any, _args: Any, _kwargs: Any) -> None:
        start[:] = [SharedGenerators()]
        take(_SeedsNoted(default, noted))

    def at_end(_model: Any, _args: Any, _kwargs: Any, _result: Any) -> None:
        take(default)
        if start and start[0].have_moved():
            noted.append(DRAWN)
            start[0].restore()

    try:
        with calls_watched(traced, at_start, at_end):
            yield
    finally:
        take(default)


def check_generators(noted: Sequence[str], exported: torch.export.ExportedProgram) -> None:
    """Looks whether PyTorch's random numbers are those of a seed, or of a generator, that the program knows nothing of.

    Raises:
        CaptureError: they are.
    """
    if SEEDED in noted:
        what = "gives PyTorch's random numbers a seed or a state (torch.manual_seed, torch.random.fork_rng, ..)"
    elif any(isinstance(held, torch.Generator) for held in exported.constants.values()):
        what = "draws random numbers from a torch.Generator of its own"
    else:
        return
    raise CaptureError(
        f"the model {what}, and a compiled program draws others",
        hint="make the random numbers an argument, or keep them in a buffer; torch2mlir.optimize leaves such a model "
        "to PyTorch",
    )


def _of_calls(model: Callable[..., Any], given: tuple[Any, Any]) -> list[Any]:
    """What calls with the same arguments give, for whatever is drawn."""
    calls = [given] * _CALLS
    return list(repeated(model, calls, has_same_tensors=True, has_same_objects=True))


def _is_even(value: Any) -> bool:
    """Whether it is a tensor of floats that are all the same."""
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return False
    return value.dtype.is_floating_point and bool((value == value.flatten()[:1]).all())


def _uneven(value: Any) -> Any:
    """Floats that all differ: whether a model turns its argument round does not show on zeros."""
    if not _is_even(value) or not value.numel():
        return value
    places = torch.arange(1.0, value.numel() + 1).reshape(value.shape) / value.numel()
    return torch.where(value == 0, places.to(value.dtype), value * (1 + places).to(value.dtype))


def check_draws(model: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Looks whether it matters what a model draws: some compute a chance and use it in training only.

    Raises:
        CaptureError: calls with the same arguments give different results.
    """
    given = tuple(args), dict(kwargs)
    start, results = SharedGenerators(), [list[Any](), list[Any]()]
    try:
        results[0] = _of_calls(model, given)
        if any(map(_is_even, pytree.tree_leaves(given))):
            with suppress(Exception):  # it may take the example and nothing else
                results[1] = _of_calls(model, pytree.tree_map(_uneven, given))
    finally:
        start.restore()
    if any(not have_same_elements(some[0], other) for some in results for other in some[1:]):
        raise CaptureError(
            "the model draws random numbers of Python's or NumPy's, or asks for the time, and a compiled program would "
            "repeat the first",
            hint="make the time an argument; draw numbers with torch.rand(()), which a program does anew in every "
            "call, or call model.eval() if they are for training; torch2mlir.optimize leaves such a model to PyTorch",
        )
