"""Options of windows, as convolutions and pools have them."""

from __future__ import annotations

from collections.abc import Sequence


def for_each(values: Sequence[int] | int, count: int) -> list[int]:
    """An option of a window, given for each dimension or once for all."""
    listed = [values] if isinstance(values, int) else list(values)
    return listed * count if len(listed) == 1 else listed
