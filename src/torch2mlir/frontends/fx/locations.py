"""Source lines of FX nodes as MLIR locations."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import Any

import torch
from xdsl.dialects.builtin import UNKNOWN_LOC, FileLineColLoc, IntAttr, LocationAttr, StringAttr

_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
_TORCH = os.path.dirname(torch.__file__) + os.sep


@lru_cache(maxsize=4096)
def from_stack_trace(stack_trace: str) -> LocationAttr:
    """The innermost frame outside PyTorch itself: the line of the user's model."""
    frames = [(file, int(line)) for file, line in _FRAME.findall(stack_trace)]
    own = [f for f in frames if not f[0].startswith((_TORCH, "torch/", "<"))]
    if not frames:
        return UNKNOWN_LOC
    file, line = (own or frames)[-1]
    return FileLineColLoc(StringAttr(file), IntAttr(line), IntAttr(1))


def of_node(meta: dict[str, Any]) -> LocationAttr:
    """The location of a node from its metadata."""
    trace = meta.get("stack_trace")
    return from_stack_trace(trace) if trace else UNKNOWN_LOC
