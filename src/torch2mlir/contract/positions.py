"""Positions along a dimension, as Python counts them, turned into those that dialects take: from the front, inside."""

from __future__ import annotations

from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import INT64_MAX, Dim, KnownSize


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


def length_of_slice(
    start: KnownSize | None, end: KnownSize | None, size: KnownSize, step: int
) -> KnownSize:
    """How many elements ``x[start:end:step]`` has.

    Of numbers exactly. Where sizes decide, it is the length for calls in which both positions are inside and in order;
    a position counts from the end if it cannot be anything else.

    Args:
        start: None for 0.
        end: None for the size.
        size: of the dimension.
        step: above 0.
    """
    if isinstance(size, int) and not isinstance(start, Dim) and not isinstance(end, Dim):
        return len(range(size)[start:end:step])
    first = 0 if start is None else _inside(start, size)
    last = size if end is None else _inside(end, size)
    length = dims.floordiv(dims.add(last, dims.mul(-1, first), step - 1), step)
    return max(length, 0) if isinstance(length, int) else length


def _inside(position: KnownSize, size: KnownSize) -> KnownSize:
    if isinstance(position, int):
        if position >= INT64_MAX:
            return size
        position = dims.add(size, position) if position < 0 else position
    elif is_natural(dims.mul(-1, position)):
        position = dims.add(size, position)
    if isinstance(position, int) and isinstance(size, int):
        return min(max(position, 0), size)
    return position
