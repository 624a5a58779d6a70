"""Source lines of TorchScript nodes as MLIR locations."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from xdsl.dialects.builtin import UNKNOWN_LOC, FileLineColLoc, IntAttr, LocationAttr, StringAttr

_LINE = re.compile(r'File "([^"]+)", line (\d+)')


@lru_cache(maxsize=4096)
def of_source_range(text: str) -> LocationAttr:
    """The location in what a node prints as its source range: the line, and the column of the mark under it."""
    match = _LINE.search(text)
    if match is None:
        return UNKNOWN_LOC
    column = 1
    for line in text.splitlines():
        if line.endswith("<--- HERE") and (mark := line.find("~")) >= 0:
            column = mark + 1
            break
    return FileLineColLoc(StringAttr(match[1]), IntAttr(int(match[2])), IntAttr(column))


def of_node(node: Any) -> LocationAttr:
    """The location of a node, or of what it reads where it has none, as what unpacks a list."""
    ranges = (each.sourceRange() for each in (node, *(value.node() for value in node.inputs())))
    return next((at for at in map(of_source_range, ranges) if at != UNKNOWN_LOC), UNKNOWN_LOC)
