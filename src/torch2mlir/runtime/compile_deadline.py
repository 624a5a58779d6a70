"""When a compiler that has not ended is ended, for those who can go on without what it compiles."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_DEADLINE: ContextVar[float | None] = ContextVar("deadline", default=None)


@contextmanager
def compiling_until(deadline: float) -> Iterator[None]:
    """While this lasts, an engine that compiles in another process ends that then, which is an ``EngineError``.

    Args:
        deadline: a time of ``time.perf_counter``, in seconds.
    """
    token = _DEADLINE.set(deadline)
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def compile_deadline() -> float | None:
    """The time that was said; None if a compiler may take what it takes."""
    return _DEADLINE.get()
