"""The generators of random numbers that everybody shares: Python's ``random`` and NumPy's."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager


class SharedGenerators:
    """The states of both, at some time."""

    def __init__(self) -> None:
        self._python = random.getstate()
        numpy = sys.modules.get("numpy")
        self._numpy = numpy.random.get_state() if numpy is not None else None

    def have_moved(self) -> bool:
        """Whether a number has been drawn since."""
        now = SharedGenerators()
        if now._python != self._python:
            return True
        if self._numpy is None or now._numpy is None:
            return False
        return bool(now._numpy[2:] != self._numpy[2:] or (now._numpy[1] != self._numpy[1]).any())

    def restore(self) -> None:
        """Makes them draw the same again."""
        random.setstate(self._python)
        if self._numpy is not None:
            sys.modules["numpy"].random.set_state(self._numpy)


@contextmanager
def generators_kept() -> Iterator[None]:
    """Around calls on trial, captures and what else draws that the user has not asked for."""
    before = SharedGenerators()
    try:
        yield
    finally:
        before.restore()
