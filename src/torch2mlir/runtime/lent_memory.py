"""Arguments of XLA calls: views of PyTorch's memory that own nothing, made once per address.

``jax.dlpack.from_dlpack`` takes 60 us for a tensor, and what it makes owns the tensor: a thread of XLA's gives it back
some time after the results are there, which takes Python's lock, and aborts a process that is just ending. A call that
waits for its results needs neither: its caller keeps the tensors, so a view without an owner is enough, and as it says
nothing but where elements lie and of which type, the next call with a tensor at that place takes the same one.

The view is a DLPack tensor (``DLManagedTensor`` of DLPack 0.8) whose deleter frees its description and nothing else,
imported by the function behind ``jax.dlpack.from_dlpack``. Where jaxlib has that function no more, or a dtype has no
code in DLPack, the public way is taken.
"""

from __future__ import annotations

import ctypes
import importlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.dlpack
import jax.extend.backend
import jax.numpy
import torch
from torch.utils.dlpack import from_dlpack, to_dlpack  # type: ignore[attr-defined]

ALIGNMENT = 64
"""Bytes; XLA copies what lies elsewhere."""

_REMEMBERED = 1024
"""Views that are kept."""

_CPU = (1, 0)
_CODES = {
    torch.int8: (0, 8),
    torch.int16: (0, 16),
    torch.int32: (0, 32),
    torch.int64: (0, 64),
    torch.uint8: (1, 8),
    torch.uint16: (1, 16),
    torch.uint32: (1, 32),
    torch.uint64: (1, 64),
    torch.float16: (2, 16),
    torch.float32: (2, 32),
    torch.float64: (2, 64),
    torch.bfloat16: (4, 16),
    torch.complex64: (5, 64),
    torch.complex128: (5, 128),
    torch.bool: (6, 8),
}
"""Type code and bits of a dtype in DLPack."""


class _DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    )


class _DLManagedTensor(ctypes.Structure):
    _fields_ = (
        ("dl_tensor", _DLTensor),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    )


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

_Key = tuple[int, torch.Size, torch.dtype]


class LentMemory:
    """Makes arrays of XLA's that read dense, contiguous CPU tensors in place. Safe to use from several threads."""

    def __init__(self) -> None:
        self._import = _capsule_importer()
        self._views = OrderedDict[_Key, Any]()
        self._lock = threading.Lock()

    def view(self, tensor: torch.Tensor, is_kept: bool = True) -> Any:
        """An array of the tensor's elements.

        The tensor must live, and stay as it is, until the results of the call that gets the array are there.

        Args:
            tensor: dense and contiguous; the array is a copy unless its address is a multiple of ``ALIGNMENT``.
            is_kept: whether the same array may be handed out again.
        """
        address = tensor.data_ptr()
        key = (address, tensor.shape, tensor.dtype)
        known = self._views.get(key) if is_kept else None
        if known is not None:
            return known
        code = _CODES.get(tensor.dtype)
        if self._import is None or code is None or not tensor.numel() or address % ALIGNMENT:
            return owning_array(tensor)
        array = self._import(_new_capsule(_described(tensor, *code), b"dltensor", None))
        if array.unsafe_buffer_pointer() != address:
            return owning_array(tensor)
        if not is_kept:
            return array
        with self._lock:
            self._views[key] = array
            while len(self._views) > _REMEMBERED:
                self._views.popitem(last=False)
        return array


def owning_array(tensor: torch.Tensor) -> Any:
    """``jax.dlpack.from_dlpack`` of a dense CPU tensor: shares its memory if that is aligned, and keeps it."""
    with jax.enable_x64(True):
        return jax.dlpack.from_dlpack(_Lender(tensor))


class _Lender:
    """A tensor as ``jax.dlpack`` wants it, past the checks ``host_tensor`` has done already."""

    __slots__ = ("_tensor",)

    def __init__(self, tensor: torch.Tensor) -> None:
        self._tensor = tensor

    def __dlpack__(self, *, stream: object = None) -> object:
        return to_dlpack(self._tensor)

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CPU


def _described(tensor: torch.Tensor, code: int, bits: int) -> int:
    """The address of what DLPack says of a contiguous tensor: the record and the sizes it points to, in one block."""
    libc = _c_library()
    block = libc.malloc(ctypes.sizeof(_DLManagedTensor) + 8 * tensor.dim())
    if not block:
        raise MemoryError
    behind = block + ctypes.sizeof(_DLManagedTensor)
    sizes = (ctypes.c_int64 * tensor.dim()).from_address(behind)
    sizes[:] = list(tensor.shape)
    record = _DLManagedTensor.from_address(block)
    record.dl_tensor = _DLTensor(
        tensor.data_ptr(), *_CPU, tensor.dim(), code, bits, 1, behind, None, 0
    )
    record.manager_ctx = None
    record.deleter = ctypes.cast(libc.free, ctypes.c_void_p)
    return int(block)


@cache
def _c_library() -> Any:
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    libc.malloc.argtypes = [ctypes.c_size_t]
    return libc


@cache
def capsule_exporter() -> Callable[[Any], Any]:
    """What makes a DLPack capsule of an array on one device, once it is computed.

    ``__dlpack__`` asks first where the array lies, which takes as long as a small program.
    """
    one = jax.numpy.zeros(1, "float32")
    try:
        exported = importlib.import_module("jaxlib._jax").buffer_to_dlpack_managed_tensor
        if float(from_dlpack(exported(one))) != 0.0:
            return _by_method
    except (ImportError, AttributeError, TypeError, RuntimeError):
        return _by_method
    return exported


def _by_method(array: Any) -> Any:
    return array.__dlpack__()


def _capsule_importer() -> Callable[[Any], Any] | None:
    try:
        imported = importlib.import_module("jaxlib._jax").dlpack_managed_tensor_to_buffer
        device = jax.extend.backend.get_backend("cpu").devices()[0]
        imported(to_dlpack(torch.zeros(1)), device, None)
        _c_library()
    except (ImportError, AttributeError, TypeError, OSError):
        return None
    return lambda capsule: imported(capsule, device, None)
