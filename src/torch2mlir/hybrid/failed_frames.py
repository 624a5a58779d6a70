"""Python that PyTorch's bytecode analysis fails at: it runs as it is, as between two regions."""

from __future__ import annotations

import logging
import os
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import torch._dynamo.config as dynamo_config

_lock = threading.Lock()
_open_calls = 0
_own_setting = False
_of_thread = threading.local()


@contextmanager
def failures_as_breaks(breaks: Counter[str]) -> Iterator[None]:
    """Meanwhile a frame that cannot be analysed runs in Python, and why is counted.

    PyTorch calls an op on fake tensors to analyse it. That may fail where the op itself does not, for one as a
    convolution without a place of output.
    """
    global _open_calls, _own_setting
    with _lock:
        if not _open_calls:
            _own_setting = dynamo_config.suppress_errors
            dynamo_config.suppress_errors = True
        _open_calls += 1
    outer = getattr(_of_thread, "breaks", None)
    _of_thread.breaks = breaks
    try:
        yield
    finally:
        _of_thread.breaks = outer
        with _lock:
            _open_calls -= 1
            if not _open_calls:
                dynamo_config.suppress_errors = _own_setting


def _counted(record: logging.LogRecord) -> bool:
    """Whether a failure goes to the terminal: not if it is counted, unless ``TORCH_LOGS`` asks for it."""
    breaks = getattr(_of_thread, "breaks", None)
    error = record.exc_info[1] if record.exc_info else None
    if breaks is None or error is None:
        return True
    breaks[str(error).partition("\n")[0]] += 1
    return bool(os.environ.get("TORCH_LOGS"))


logging.getLogger("torch._dynamo.convert_frame").addFilter(_counted)
