"""Where the user's code called this package, for warnings to point there."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

_OURS = str(Path(__file__).parent) + os.sep
_BETWEEN = contextlib.__file__


def frames_of_ours() -> int:
    """How many callers up to the user's code are functions of this package, or context managers around them."""
    count, frame = 0, sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame.f_code.co_filename):
        count, frame = count + 1, frame.f_back
    return count


def _is_ours(file: str) -> bool:
    return file.startswith(_OURS) or file == _BETWEEN
