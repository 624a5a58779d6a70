"""Where resampling to the nearest place repeats each element a whole number of times.

PyTorch's kernels take place ``floor(new * f32(1 / factor))``, which rounding may put one too low: of which factors it
does not is found by looking at all places.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from torch2mlir.dialects.torch.dims import Size, mul

_LONGEST = 1 << 16
"""The longest line of which all places are looked at, and of unknown lines."""
_MOST_TIMES = 64


def times_repeated(
    old: Sequence[Size], new: Sequence[Size], factors: Any, by_factors: bool
) -> list[int] | None:
    """How often each element is repeated along each dimension; None if some are not, or it is not known.

    Args:
        old, new: sizes ``[N, C, *spatial]`` before and after.
        factors: of the spatial dimensions, None where sizes alone decide.
        by_factors: whether the new sizes are those times the old ones, rounded down.
    """
    spatial = list(zip(old[2:], new[2:], strict=True))
    given = factors if isinstance(factors, list) else [None] * len(spatial)
    if len(given) != len(spatial):
        return None
    found = list[int]()
    for (before, after), factor in zip(spatial, given, strict=True):
        times = _times(before, after) if factor is None else _whole(factor)
        if times is None or before is None:
            return None
        if not by_factors and factor is not None and after != mul(times, before):
            return None
        length = min(before, _LONGEST) if isinstance(before, int) else _LONGEST
        if not _is_exact(length, times):
            return None
        found.append(times)
    return found


def _times(before: Size, after: Size) -> int | None:
    if isinstance(before, int) and isinstance(after, int):
        return after // before if before > 0 and after > 0 and after % before == 0 else None
    return 1 if before is not None and before == after else None


def _whole(factor: object) -> int | None:
    is_whole = isinstance(factor, float) and factor.is_integer() and factor >= 1
    return int(factor) if is_whole else None  # type: ignore[call-overload]


@cache
def _is_exact(length: int, times: int) -> bool:
    """Whether PyTorch's places are those of a line that is repeated element by element."""
    if times > _MOST_TIMES:
        return False
    places = np.arange(length * times, dtype=np.float32)
    repeated = np.arange(length).repeat(times)
    chosen = (
        ((places + np.float32(shift)) * np.float32(1.0 / times)).astype(np.int64)
        for shift in (0.0, 0.5)
    )
    return all(np.array_equal(np.minimum(each, length - 1), repeated) for each in chosen)
