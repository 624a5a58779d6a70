"""What is different about two lists of results, beyond the rounding of sums in another order."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils import _pytree as pytree

_TOLERANCE = {
    torch.float64: 1e-9,
    torch.complex128: 1e-9,
    torch.float32: 1e-3,
    torch.complex64: 1e-3,
    torch.float16: 2e-2,
    torch.bfloat16: 5e-2,
}
"""The largest error, relative to the largest element, that other orders of summation may make over many ops."""


def difference(actual: Any, expected: Any) -> str | None:
    """What is different about results, beyond rounding; None if nothing is."""
    left, spec = pytree.tree_flatten(list(actual))
    right, other = pytree.tree_flatten(list(expected))
    if spec != other:
        return "another structure of results"
    for a, b in zip(left, right):
        problem = _tensor_difference(a, b) if isinstance(b, torch.Tensor) else None
        if not isinstance(b, torch.Tensor) and a != b:
            problem = f"{a!r} instead of {b!r}"
        if problem is not None:
            return problem
    return None


def _tensor_difference(a: torch.Tensor, b: torch.Tensor) -> str | None:
    if a.shape != b.shape or a.dtype != b.dtype:
        return f"{a.dtype} {list(a.shape)} instead of {b.dtype} {list(b.shape)}"
    if a.numel() == 0:
        return None
    tolerance = _TOLERANCE.get(b.dtype)
    if tolerance is None:
        return None if torch.equal(a, b) else "other whole numbers"
    wide = torch.complex128 if b.is_complex() else torch.float64
    a, b = a.to(wide), b.to(wide)
    finite = torch.isfinite(b)
    if not torch.equal(torch.isfinite(a), finite) or not torch.equal(
        torch.nan_to_num(a[~finite]), torch.nan_to_num(b[~finite])
    ):
        return "infinities or NaN in other places"
    error, largest = (a - b)[finite].abs(), b[finite].abs()
    if error.numel() and float(error.max()) > tolerance * max(float(largest.max()), 1e-30):
        return f"an error of {float(error.max()):.3g} where the largest element is {float(largest.max()):.3g}"
    return None
