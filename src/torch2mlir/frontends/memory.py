"""Where tensors lie in memory, and which of them have elements in common."""

from __future__ import annotations

from functools import lru_cache

import torch

_Place = tuple[tuple[int, ...], tuple[int, ...], int]
"""Sizes, strides and the bytes of an element."""


def span(tensor: torch.Tensor) -> tuple[int, int]:
    """The first byte of a tensor's memory, and the first behind it; none if it has no memory."""
    try:
        begin = tensor.data_ptr()
    except RuntimeError:  # the engine says what it is
        return 0, 0
    if not begin or not tensor.numel():
        return 0, 0
    if tensor.is_contiguous():
        return begin, begin + tensor.nbytes
    last = sum((n - 1) * stride for n, stride in zip(tensor.shape, tensor.stride()))
    return begin, begin + (last + 1) * tensor.itemsize


def storage_of(tensor: torch.Tensor) -> int:
    """What tensors that share memory have in common; a tensor without a storage (a sparse one) has it for itself."""
    try:
        return tensor.untyped_storage()._cdata
    except (NotImplementedError, RuntimeError):
        return id(tensor)


def share_elements(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors have elements in common."""
    (begin, end), (begin2, end2) = span(one), span(other)
    if not (begin < end2 and begin2 < end):
        return False
    distance = begin2 - begin
    if one.is_contiguous() and other.is_contiguous():
        return True
    places = [(tuple(t.shape), t.stride(), t.itemsize) for t in (one, other)]
    return (
        _overlap(places[0], places[1], distance)
        if distance >= 0
        else _overlap(*places[::-1], -distance)
    )


@lru_cache(maxsize=1024)
def _overlap(one: _Place, other: _Place, distance: int) -> bool:
    """Whether one tensor, and another that begins some bytes behind it, have bytes in common: by marking them."""
    marks = [_marked(one, 0), _marked(other, distance)]
    length = min(mark.numel() for mark in marks)
    return bool((marks[0][:length] & marks[1][:length]).any())


def _marked(place: _Place, begin: int) -> torch.Tensor:
    shape, strides, itemsize = place
    last = sum((n - 1) * stride for n, stride in zip(shape, strides))
    marks = torch.zeros(begin + (last + 1) * itemsize, dtype=torch.bool)
    marks.as_strided((*shape, itemsize), (*[s * itemsize for s in strides], 1), begin).fill_(True)
    return marks
