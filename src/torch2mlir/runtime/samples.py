"""A few elements of each of many tensors: they tell of most writes that nobody counts (``weight.data.mul_(0.5)``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy
import torch

_BITS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
"""Bytes of an element -> the integers it is read as: NumPy has not all dtypes."""
_STEPS = 3
"""The first element, the last, and what lies as far apart between them."""
_READ = numpy.ndarray.tobytes


class Samples:
    """Elements of tensors as they were, by their bits. Asked for at every call: 0.1 us for each tensor.

    A write is seen if it changes one of these elements, so what scales, replaces or averages all of a tensor is, and
    what sets a single row of it may not be.

    Args:
        tensors: in memory of the CPU; of others nothing is seen.
    """

    def __init__(self, tensors: Sequence[torch.Tensor]) -> None:
        self._some = [*_elements(tensors)]
        self._were = self._now()

    def _now(self) -> list[bytes]:
        return [*map(_READ, self._some)]

    def are_current(self) -> bool:
        """Whether these elements are what they were."""
        return self._now() == self._were


def _elements(tensors: Sequence[torch.Tensor]) -> Iterator[Any]:
    """Some elements of each, by their order in memory, as arrays of NumPy's over the same memory."""
    for tensor in tensors:
        has_memory = tensor.layout is torch.strided and tensor.is_cpu and tensor.numel()
        if not has_memory or tensor.is_conj() or tensor.is_neg():
            continue
        dims = zip(tensor.shape, tensor.stride(), strict=True)
        reach = sum((size - 1) * step for size, step in dims)
        line = tensor.detach().as_strided((reach + 1,), (1,), tensor.storage_offset())
        # between those of a tensor with gaps lies what is somebody else's
        line = line[:: max(1, reach // _STEPS if reach + 1 == tensor.numel() else reach)]
        numbers = torch.view_as_real(line)[:, 0] if line.is_complex() else line
        bits = numbers.view(_BITS[numbers.element_size()])
        # unlike Tensor.numpy, this leaves it to the user to resize the tensor's memory
        yield numpy.from_dlpack(bits)
