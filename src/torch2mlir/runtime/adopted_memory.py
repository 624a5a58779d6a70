"""Tensors that a program updates where they lie: their memory is XLA's, and given to it at every call.

XLA writes into the memory of an argument only if it has allocated that memory itself; what it is lent, it copies first.
So a tensor's storage takes over the memory of the first result that replaces its elements, with all views of it
(``UntypedStorage._swap_data_ptr_``, which PyTorch has for CUDA graphs). From then on the array behind that memory is
donated to the program, and what the program returns is the same memory again.

A storage keeps its own memory, and gets the elements copied, if anybody may know its address: a NumPy array, a DLPack
tensor, another process, a tensor that is a part of it.
"""

from __future__ import annotations

import ctypes
import threading
import weakref
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(eq=False)
class _Cell:
    """A tensor's memory: the array it belongs to, and what the tensor is."""

    array: Any
    kind: tuple[torch.Size, torch.dtype]


class AdoptedMemory:
    """The storages that lie in XLA's memory, by their addresses.

    Attributes:
        lock: held by a call that updates tensors in place.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._cells: dict[int, _Cell] = {}

    def array(self, tensor: torch.Tensor) -> Any | None:
        """The array that owns a tensor's memory, to be donated; None if the memory is PyTorch's."""
        cell = self._cells.get(tensor.data_ptr())
        if cell is None or cell.kind != (tensor.shape, tensor.dtype):
            return None
        return cell.array

    def donated(self, tensor: torch.Tensor, array: Any) -> None:
        """Notes that a tensor's memory now belongs to what a program returns, which may not be computed yet."""
        self._cells[tensor.data_ptr()].array = array

    def replace(self, tensor: torch.Tensor, array: Any) -> bool:
        """Makes an array the elements of a tensor without a copy; False if that cannot be.

        Args:
            tensor: dense and contiguous.
            array: computed by XLA, of the tensor's shape and as many bytes; nobody else knows it.
        """
        cell = self._cells.get(tensor.data_ptr())
        if cell is not None and cell.array is array:  # the tensor's memory was donated
            if array.unsafe_buffer_pointer() == tensor.data_ptr():
                return True
        elif not _may_move(tensor):
            return False
        storage = self._storage(array, tensor)
        tensor.untyped_storage()._swap_data_ptr_(storage)  # type: ignore[attr-defined]
        return True

    def _storage(self, array: Any, tensor: torch.Tensor) -> torch.UntypedStorage:
        """A storage in the memory of an array, which lives as long as somebody looks at it."""
        address = array.unsafe_buffer_pointer()
        cell = _Cell(array, (tensor.shape, tensor.dtype))
        memory = (ctypes.c_uint8 * tensor.nbytes).from_address(address)
        weakref.finalize(memory, self._forget, address, cell).atexit = False
        self._cells[address] = cell
        return torch.frombuffer(memory, dtype=torch.uint8).untyped_storage()

    def _forget(self, address: int, cell: _Cell) -> None:
        if self._cells.get(address) is cell:
            del self._cells[address]


def is_alone(tensor: torch.Tensor) -> bool:
    """Whether no other tensor shares the memory of this one, which is all of its storage."""
    storage = tensor.untyped_storage()
    if storage.nbytes() != tensor.nbytes or not tensor.nbytes:
        return False
    # the tensor, and the object that was made of its storage here
    return bool(torch._C._storage_Use_Count(storage._cdata) <= 2)


def _may_move(tensor: torch.Tensor) -> bool:
    """Whether a tensor's elements may come to lie at another address without anybody's knowing."""
    storage = tensor.untyped_storage()
    return (
        hasattr(storage, "_swap_data_ptr_")
        and storage.resizable()
        and not storage.is_shared()
        and is_alone(tensor)
    )
