"""Python's garbage collector while IR is made: it walks all objects there are, time and again."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_LOCK = Lock()
_TRUSTED_FOR = 10.0
"""Seconds for which it is taken for true that others have set objects aside."""
_set_aside = False
"""Whether older objects are left alone: to ask Python takes as long as there are many."""
_others_until = 0.0
"""When it is asked again whether others have set objects aside: Python counts them one by one."""


@contextmanager
def paused_garbage_collection() -> Iterator[None]:
    """While this lasts nothing is collected: building IR makes many objects and no garbage."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def older_objects_left_alone() -> Iterator[None]:
    """While this lasts only new objects are collected: rewriting IR makes garbage, and few of them are left.

    Where somebody has set objects aside for good (``gc.freeze``, in a server before it forks), it does nothing.
    """
    global _set_aside
    with _LOCK:
        is_first = gc.isenabled() and not _set_aside and not _set_aside_by_others()
        if is_first:
            gc.freeze()
            _set_aside = True
    try:
        yield
    finally:
        if is_first:
            with _LOCK:
                gc.unfreeze()
                _set_aside = False


def _set_aside_by_others() -> bool:
    """That there are none is known at once; that there are some holds for a while: to count millions takes 0.1 s."""
    global _others_until
    now = time.monotonic()
    if now >= _others_until and gc.get_freeze_count():
        _others_until = now + _TRUSTED_FOR
    return now < _others_until
