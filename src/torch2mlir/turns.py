"""One capture or compilation at a time, whichever threads ask for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def in_turn() -> Iterator[None]:
    """Around what traces a program: other threads that want to wait until it is done.

    While PyTorch traces, functions, modes and flags of its own stand in the place of others for the whole process. Its
    compiler has a lock for that. It is this one, for with one of ours beside it two threads could wait for each other;
    so whoever has a lock of an object's takes his turn before that.
    """
    # which takes half a second to import
    from torch._dynamo.convert_frame import compile_lock

    with compile_lock:
        yield
