"""Tensors that a program updates where they lie: their memory is XLA's, and given to it at every call.

XLA writes into the memory of an argument only if it has allocated that memory itself; what it is lent, it copies first.
So a tensor's storage takes over the memory of the first result that replaces its elements, with all views of it
(``UntypedStorage._swap_data_ptr_``, which PyTorch has for CUDA graphs). From then on the array behind that memory is
donated to the program, and what the program returns is the same memory again.

A storage keeps its own memory, and gets the elements copied, if anybody may know its address: a NumPy array, a DLPack
tensor, another process, a tensor that is a part of it. Results are in XLA's memory from the start. A large one is known
by its address, like what has moved, and another program may update it: a cache that is made inside of a compiled
prompt. A small one is exported by DLPack, which is four times as fast and hides from everybody whose memory it is.
"""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

import torch
from torch.utils.dlpack import from_dlpack

from torch2mlir.runtime.lent_memory import capsule_exporter
from torch2mlir.runtime.lowered import TensorSpec

LARGE = 8192
"""Bytes: a result of as many is worth 5 us for not being copied when it is updated."""


_Kind = tuple[torch.Size, torch.dtype]


@dataclass(eq=False, slots=True, weakref_slot=True)
class _Cell:
    """A tensor's memory: the array it belongs to, and what the tensor is."""

    array: Any
    kind: _Kind


class AdoptedMemory:
    """The storages that lie in XLA's memory, by their addresses.

    Attributes:
        lock: held by a call that updates tensors in place.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._cells = WeakValueDictionary[int, _Cell]()

    def exporter(self, spec: TensorSpec) -> Callable[[Any], torch.Tensor]:
        """What makes a tensor of a result, once it is computed: an array of XLA's that nobody else knows.

        Args:
            spec: of the result.
        """
        shape, dtype = torch.Size(spec.shape), spec.dtype  # type: ignore[arg-type]
        export, count = capsule_exporter(), shape.numel() * dtype.itemsize
        if not count:  # which its reader may make a result of another size: ``out=``
            return lambda array: torch.empty(shape, dtype=dtype)
        if count < LARGE:
            return lambda array: from_dlpack(export(array))
        strides = tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))

        def exported(array: Any) -> torch.Tensor:
            array.block_until_ready()
            flat = torch.frombuffer(self._memory(array, count, (shape, dtype)), dtype=dtype)
            # no ``view``: the tensor that it is a view of would share the memory
            return flat.as_strided_(shape, strides)

        return exported

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
        memory = self._memory(array, tensor.nbytes, (tensor.shape, tensor.dtype))
        storage = torch.frombuffer(memory, dtype=torch.uint8).untyped_storage()
        tensor.untyped_storage()._swap_data_ptr_(storage)  # type: ignore[attr-defined]
        return True

    def given_back(self, tensor: torch.Tensor) -> None:
        """Memory of PyTorch's for a tensor whose memory was donated to a call that failed.

        Its elements are those that are there, updated or not; NaN, or 0, where XLA has let go of them. The array that
        the call has left cannot be donated again.
        """
        cell = self._cells.pop(tensor.data_ptr(), None)
        if cell is None:
            return
        if cell.array.is_deleted():
            lost = math.nan if tensor.is_floating_point() or tensor.is_complex() else 0
            elements = torch.full_like(tensor, lost)
        else:
            elements = tensor.clone()
        tensor.untyped_storage()._swap_data_ptr_(elements.untyped_storage())  # type: ignore[attr-defined]

    def _memory(self, array: Any, count: int, kind: _Kind) -> Any:
        """The bytes of an array, which live as long as somebody looks at them."""
        address = array.unsafe_buffer_pointer()
        memory: Any = (ctypes.c_uint8 * count).from_address(address)
        memory.cell = self._cells[address] = _Cell(array, kind)
        return memory


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
