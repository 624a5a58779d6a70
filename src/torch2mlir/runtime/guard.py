"""The guard: whether an engine writes into memory that it was only lent, looked at bit by bit around every call.

``torch2mlir.compile(.., guard=True)`` or ``TORCH2MLIR_GUARD=1`` turns it on. It copies all that a call reads, so it is
for finding out and for tests.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from math import prod

import torch

from torch2mlir.errors import EngineError
from torch2mlir.runtime.engine import Prepared

VARIABLE = "TORCH2MLIR_GUARD"


class Guard:
    """The memory that one call reads, as it was before.

    Args:
        engine: its name, for errors.
    """

    def __init__(self, engine: str) -> None:
        self._engine = engine
        self._before: list[tuple[str, Callable[[], torch.Tensor], torch.Tensor]] = []

    def watch(self, tensors: Iterable[tuple[str, torch.Tensor | Prepared]]) -> None:
        """Remembers tensors, and what engines hold, by names for errors."""
        for name, value in tensors:
            look = _held(value) if isinstance(value, Prepared) else _bytes_of(value)
            before = look()
            self._before.append(
                (name, look, before.clone() if isinstance(value, Prepared) else before)
            )

    def check(self) -> None:
        """Compares.

        Raises:
            EngineError: something was written to.
        """
        for name, look, before in self._before:
            now = look()
            if not torch.equal(now, before):
                changed = int((now != before).sum())
                raise EngineError(
                    f"engine '{self._engine}' has written into {name}: "
                    f"{changed} of {before.numel()} bytes have changed",
                    hint="the results of this and of later calls may be wrong: please report the program; "
                    "another engine or output type may take it",
                )


def _bytes_of(tensor: torch.Tensor) -> Callable[[], torch.Tensor]:
    def look() -> torch.Tensor:
        # one element of stride 0 counts as contiguous, and its bytes cannot be viewed
        dense = tensor.detach().clone(memory_format=torch.contiguous_format)
        return dense.resolve_conj().resolve_neg().view(-1).view(torch.uint8)

    return look


def _held(prepared: Prepared) -> Callable[[], torch.Tensor]:
    """The elements an engine reads, which may be a copy of its own."""
    size = prod(prepared.shape) * prepared.dtype.itemsize
    if not size or not prepared.pointer:
        return lambda: torch.empty(0, dtype=torch.uint8)
    memory = (ctypes.c_uint8 * size).from_address(prepared.pointer)
    return lambda: torch.frombuffer(memory, dtype=torch.uint8)
