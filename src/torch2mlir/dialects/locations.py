"""Locations as people read them in messages."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, CallSiteLoc, FileLineColLoc, FusedLoc, NameLoc
from xdsl.ir import Attribute


def describe(location: Attribute | None) -> str | None:
    """``file.py:12`` for a location that has a file, else None."""
    match location:
        case FileLineColLoc():
            return f"{location.filename.data}:{location.line.data}"
        case NameLoc():
            return describe(location.location) or location.desc.data
        case CallSiteLoc():
            return describe(location.callee) or describe(location.caller)
        case FusedLoc() if isinstance(location.locations, ArrayAttr):
            return next((d for item in location.locations if (d := describe(item))), None)
    return None
