"""Positions along a dimension, as Python counts them, turned into those that dialects take: from the front, inside."""

from __future__ import annotations

from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import KnownSize


def is_natural(size: KnownSize) -> bool:
    """Whether nothing is subtracted in an expression of sizes, which are not negative."""
    if isinstance(size, int):
        return size >= 0
    return size.op == "symbol" or all(is_natural(operand) for operand in size.operands())


def is_positive(size: KnownSize) -> bool:
    """Whether an expression of sizes is above 0 by itself: something is added to what is not negative."""
    if isinstance(size, int):
        return size > 0
    return size.op == "add" and is_natural(size) and any(map(is_positive, size.operands()))


def from_front(position: KnownSize, size: KnownSize) -> KnownSize:
    """A position of ``x[position]``; a negative one counts from the end."""
    if is_natural(position):
        return position
    if is_positive(dims.mul(-1, position)):
        return dims.add(size, position)
    # 1 where the position is negative, 0 where it is not
    negative = dims.minimum(dims.maximum(dims.mul(-1, position), 0), 1)
    return dims.add(position, dims.mul(size, negative))


def start_from_front(start: KnownSize, size: KnownSize, length: KnownSize, step: int) -> KnownSize:
    """The start of ``x[start:..:step]``, held inside ``[0, size]`` as Python holds it.

    Args:
        start: as written; a negative one counts from the end.
        size: of the dimension.
        length: how many elements the slice has, which often proves that the start is inside.
        step: from one element to the next.
    """
    rest = dims.add(size, dims.mul(-1, length))
    if step == 1 and dims.add(size, start) == rest:
        return rest  # ``x[-n:]`` of n elements; calls where they are others have another program
    counted = from_front(start, size)
    if counted == 0 or (step == 1 and counted == rest):
        return counted
    if not is_natural(start):
        counted = dims.maximum(counted, 0)
    return dims.minimum(counted, size)
