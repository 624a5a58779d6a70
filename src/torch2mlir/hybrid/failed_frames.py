"""Python that PyTorch's bytecode analysis fails at: it runs as it is, as between two regions."""

from __future__ import annotations

import logging
import os
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch._dynamo.config as dynamo_config
from torch._C._dynamo.eval_frame import _FrameAction, _FrameExecStrategy
from torch._dynamo.exc import TorchDynamoException

_lock = threading.Lock()
_open_calls = 0
_own_setting = False
_of_thread = threading.local()
_NOW_ONLY = _FrameExecStrategy(_FrameAction.DEFAULT, _FrameAction.DEFAULT)
"""A frame runs in Python this time, and is analysed again the next time. PyTorch's own way is never again."""


@dataclass
class FailedFrames:
    """What PyTorch's analysis fails at in one model.

    Attributes:
        reasons: why, and how often, in calls that came to an end.
    """

    reasons: Counter[str] = field(default_factory=Counter)
    _for_good: set[str] = field(default_factory=set)

    @contextmanager
    def as_breaks(self) -> Iterator[None]:
        """For the time of a call a frame that cannot be analysed runs in Python.

        PyTorch calls an op on fake tensors to analyse it. That may fail where the op itself does not, for one as a
        convolution without a place of output. And it fails where the model refuses its arguments: that says nothing of
        other calls, so a frame is given up only after a call that raises nothing.
        """
        outer, call = getattr(_of_thread, "call", None), _Call(self)
        _of_thread.call = call
        try:
            with _suppressed_errors():
                yield
        finally:
            _of_thread.call = outer
        self.reasons.update(call.reasons)
        self._for_good |= call.frames

    def is_given_up(self, frame: str) -> bool:
        """Whether a frame has failed in a call that raised nothing."""
        return frame in self._for_good


@dataclass
class _Call:
    """What fails in one call: frames, by what PyTorch calls them, and why."""

    failed: FailedFrames
    reasons: Counter[str] = field(default_factory=Counter)
    frames: set[str] = field(default_factory=set)


@contextmanager
def _suppressed_errors() -> Iterator[None]:
    global _open_calls, _own_setting
    with _lock:
        if not _open_calls:
            _own_setting = dynamo_config.suppress_errors
            dynamo_config.suppress_errors = True
        _open_calls += 1
    try:
        yield
    finally:
        with _lock:
            _open_calls -= 1
            if not _open_calls:
                dynamo_config.suppress_errors = _own_setting


def _noted(record: logging.LogRecord) -> bool:
    """Notes a failure; whether it goes to the terminal: not if it is noted, unless ``TORCH_LOGS`` asks for it.

    PyTorch asks the error what becomes of the frame, after it has been logged.
    """
    call: _Call | None = getattr(_of_thread, "call", None)
    error = record.exc_info[1] if record.exc_info else None
    if call is None or error is None:
        return True
    call.reasons[str(error).partition("\n")[0]] += 1
    frame = record.getMessage().partition("\n")[0]
    if isinstance(error, TorchDynamoException) and not call.failed.is_given_up(frame):
        call.frames.add(frame)
        error.frame_exec_strategy = _NOW_ONLY
    return bool(os.environ.get("TORCH_LOGS"))


def _is_of_no_call(_: logging.LogRecord) -> bool:
    """Whether what PyTorch logs goes to the terminal.

    Of an op on fake tensors the frame that it is of fails too; what a number of a tensor breaks the report tells.
    """
    return getattr(_of_thread, "call", None) is None or bool(os.environ.get("TORCH_LOGS"))


logging.getLogger("torch._dynamo.convert_frame").addFilter(_noted)
for _name in ("torch._subclasses.fake_tensor", "torch._dynamo.variables.tensor"):
    logging.getLogger(_name).addFilter(_is_of_no_call)
