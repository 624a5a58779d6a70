"""Calls that PyTorch's kernels refuse for their dtypes, and its kernels on fake tensors take: ``mask *= 0.5``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from torch2mlir.errors import CaptureError

_PROMOTING = frozenset({"mul_", "multiply_", "__imul__", "imul", "addcmul_", "addcdiv_"})
"""What writes a product to its first operand, whose dtype has to hold it."""
_OF_ONE_DTYPE = frozenset({"heaviside", "heaviside_"})
_VALUES = torch.Tensor | int | float | complex


def refused_dtypes(
    name: str, operands: Sequence[Any], location: str | None = None
) -> CaptureError | None:
    """What PyTorch says against a call, if it does.

    Args:
        name: of the function or method, without namespace and overload.
        operands: tensors and numbers.
        location: the line of the call.
    """
    first = next(iter(operands), None)
    if name not in _PROMOTING | _OF_ONE_DTYPE or not isinstance(first, torch.Tensor):
        return None
    for other in (each for each in operands[1:] if isinstance(each, _VALUES)):
        if name in _OF_ONE_DTYPE:
            refused = isinstance(other, torch.Tensor) and other.dtype != first.dtype
            what = "operands of two dtypes"
        else:
            promoted = torch.result_type(first, other)
            refused = not torch.can_cast(promoted, first.dtype)
            what = f"a result of {promoted}, which cannot be cast to {first.dtype}, the dtype it writes to"
        if refused:
            return CaptureError(
                f"PyTorch refuses {name} here: {what}",
                op=name,
                location=location,
                hint="convert an operand with .to(dtype), or compute a new tensor",
            )
    return None
