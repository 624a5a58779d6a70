"""What PyTorch writes to the terminal while it captures: graphs of failed attempts, warnings about its own insides."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import torch

_PYTORCH = str(Path(torch.__file__).parent) + os.sep


class _WithoutDumps:
    """Standard error without what PyTorch's own code prints to it; the model's prints pass."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Writes what does not come from PyTorch."""
        if sys._getframe(1).f_code.co_filename.startswith(_PYTORCH):
            return len(text)
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _is_not_of_pytorch(record: logging.LogRecord) -> bool:
    return not record.pathname.startswith(_PYTORCH)


_TRACES = "torch.__trace"
"""Of graphs, for a directory (``TORCH_TRACE``). Its handler goes at the first record that it is given, where there is
none; until then PyTorch prints the whole graph, several times a capture.
"""


def _handlers() -> set[logging.Handler]:
    """Where PyTorch's loggers write; it has them one by one."""
    found = set(logging.root.handlers)
    for name, logger in list(logging.root.manager.loggerDict.items()):
        is_of_torch = name.partition(".")[0] == "torch" and name != _TRACES
        if is_of_torch and isinstance(logger, logging.Logger):
            found.update(logger.handlers)
    return found


@contextmanager
def quiet() -> Iterator[None]:
    """Keeps PyTorch's graph dumps, warnings and log lines off the terminal; ``TORCH_LOGS`` brings them back.

    An exception tells what matters of them. Warnings and prints of the model itself are not touched.
    """
    if os.environ.get("TORCH_LOGS"):
        yield
        return
    handlers = _handlers()
    stream = sys.stderr
    for handler in handlers:
        handler.addFilter(_is_not_of_pytorch)
    sys.stderr = _WithoutDumps(stream)
    try:
        with warnings.catch_warnings():
            for category in (FutureWarning, UserWarning, DeprecationWarning):
                warnings.filterwarnings("ignore", category=category, module=r"torch\.|copyreg")
            # whether it matters is tried, see changing_models
            warnings.filterwarnings("ignore", message=r"The tensor attributes? self\.")
            yield
    finally:
        sys.stderr = stream
        for handler in handlers:
            handler.removeFilter(_is_not_of_pytorch)
