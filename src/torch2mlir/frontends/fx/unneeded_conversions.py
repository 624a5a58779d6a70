"""``module.to(x.device)`` and ``w.data = w.data.to(x.device)`` in ``forward``, where they change nothing.

PyTorch's capture works on other tensors in the place of a module's own and can neither swap them nor give them other
memory. Where every tensor is already what is asked for there is nothing to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain

import torch
from torch import Tensor, nn

from torch2mlir.frontends.memory import storage_of


def set_data(tensor: Tensor, value: Tensor) -> None:
    """``tensor.data = value``."""
    if not is_the_same(tensor, value):
        Tensor.data.__set__(tensor, value)  # type: ignore[attr-defined]


def is_the_same(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors are the same elements of the same memory."""
    if one is other:
        return True
    plain = all(tensor.layout is torch.strided for tensor in (one, other))
    return (
        plain
        and storage_of(one) == storage_of(other)
        and one.dtype == other.dtype
        and one.shape == other.shape
        and one.stride() == other.stride()
        and one.storage_offset() == other.storage_offset()
    )


@contextmanager
def unneeded_conversions_left_out() -> Iterator[None]:
    """While it holds, converting a module to what it is already does nothing."""
    original = nn.Module._apply

    def applied(
        module: nn.Module, convert: Callable[[Tensor], Tensor], recurse: bool = True
    ) -> nn.Module:
        held = chain(module.parameters(recurse), module.buffers(recurse))
        if all(is_the_same(tensor, convert(tensor)) for tensor in held):
            return module
        return original(module, convert, recurse)

    nn.Module._apply = applied  # type: ignore[method-assign]
    try:
        yield
    finally:
        nn.Module._apply = original  # type: ignore[method-assign]
