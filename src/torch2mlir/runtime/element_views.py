"""PyTorch's tensors as the tensors that a program has for them, and back: the same memory seen with other elements.

A dialect without complex numbers has tensors of their parts, with one dimension more; integers of the dialects have
no signs.
"""

from __future__ import annotations

import torch


def for_program(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """A tensor as an argument whose elements are of ``dtype`` in the program.

    In memory of its own only where its conjugation has been put off, or where halves are held in wider numbers.
    """
    if tensor.dtype is dtype or not tensor.is_complex():
        return tensor
    if not dtype.is_complex:
        return torch.view_as_real(tensor.resolve_conj())
    # a dialect may hold complex numbers of halves as complex<f32>
    return tensor.to(dtype) if tensor.dtype is torch.complex32 else tensor


def from_program(value: torch.Tensor, dtype: torch.dtype | None) -> torch.Tensor:
    """A result of a program as the tensor of ``dtype`` that PyTorch has for it; None is what the program has.

    The bits are right: of integers the signs are PyTorch's, of complex numbers the program may have had the parts.
    """
    if dtype is None or value.dtype is dtype:
        return value
    if dtype.is_complex and not value.dtype.is_complex:
        return torch.view_as_complex(value)
    return value.to(dtype) if dtype is torch.complex32 else value.view(dtype)
