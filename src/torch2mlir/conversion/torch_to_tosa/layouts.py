"""Orders and sizes of dimensions, as TOSA's ops want them; plain computation."""

from __future__ import annotations

from collections.abc import Sequence

from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import KnownSize, Sizes


def channels_last_permutation(rank: int) -> tuple[int, ...]:
    """``[N, C, ...]`` to ``[N, ..., C]``."""
    return (0, *range(2, rank), 1)


def only_ones_move(sizes: Sizes, permutation: Sequence[int]) -> bool:
    """Whether a transpose keeps the order of all dimensions that are not 1, so that it is a reshape."""
    kept = [p for p in permutation if sizes[p] != 1]
    return kept == sorted(kept)


def slice_is_constant(size: KnownSize, start: KnownSize, length: KnownSize, step: int) -> bool:
    """Whether a slice of one dimension has constant bounds, or reaches to the end."""
    if not isinstance(start, int):
        return False
    if step != 1:
        return isinstance(size, int) and isinstance(length, int)
    return isinstance(length, int) or length == dims.sub(size, start)
