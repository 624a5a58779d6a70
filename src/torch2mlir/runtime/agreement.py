"""Whether a compiled result is PyTorch's, beyond the rounding of sums in another order."""

from __future__ import annotations

from typing import Any

import torch

from torch2mlir.runtime.exact_results import Exact

TOLERANCES = {
    torch.float64: 1e-9,
    torch.complex128: 1e-9,
    torch.float32: 1e-3,
    torch.complex64: 1e-3,
    torch.float16: 2e-2,
    torch.complex32: 2e-2,
    torch.bfloat16: 5e-2,
}
"""The largest error, as a part of the largest element, that sums in other orders may make over many
ops; other dtypes must agree exactly."""

_TIMES = 10
"""How much further from what is exact another order of sums may end than PyTorch's."""


def difference(
    actual: Any,
    expected: torch.Tensor,
    computed_in: torch.dtype | None = None,
    exact: Exact | None = None,
) -> str | None:
    """How a tensor differs from the one it should be; None if it does not.

    Args:
        actual: the tensor.
        expected: what it should be.
        computed_in: the narrowest dtype of the floats on the way to it, where a graph tells; else that of its own, or
            32 bits if no element of it has more.
        exact: what it is without rounding, where that is known. By rounding, others may be as far from it as PyTorch's
            elements are, give or take.
    """
    if not isinstance(actual, torch.Tensor):
        return f"is no tensor: {actual!r}"
    for what in ("dtype", "shape"):
        mine, other = getattr(actual, what), getattr(expected, what)
        if mine != other:
            return f"has the {what} {mine} where it is {other} in PyTorch"
    tolerance = TOLERANCES.get(expected.dtype)
    if tolerance is None:
        wrong = actual != expected
    else:
        mine, other = actual.detach(), expected.detach()
        if computed_in is not None:
            tolerance = max(tolerance, TOLERANCES[computed_in])
        elif _are_floats_of_32_bits(mine) and _are_floats_of_32_bits(other):
            tolerance = max(tolerance, TOLERANCES[torch.float32])
        wrong = _too_far(mine, other, tolerance)
        if exact is not None and (error := exact.error) > 0:
            # a NaN is no rounding
            wrong &= ~((_wide(mine) - exact.value).abs() <= _TIMES * error)
    if not bool(wrong.any()):
        return None
    return _worst(actual, expected, wrong)


def _are_floats_of_32_bits(tensor: torch.Tensor) -> bool:
    """Whether a tensor of doubles holds what was computed in fewer bits, as ``logits.double()``.

    Integers, which doubles count exactly, are no such.
    """
    if tensor.dtype is not torch.float64:
        return False
    numbers = tensor[tensor.isfinite()]
    has_few_bits = bool((numbers.float() == numbers).all())
    return has_few_bits and not bool((numbers == numbers.round()).all())


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)


def _too_far(actual: torch.Tensor, expected: torch.Tensor, tolerance: float) -> torch.Tensor:
    mine, other = _wide(actual), _wide(expected)
    numbers = other.isfinite()
    largest = other[numbers].abs().max() if bool(numbers.any()) else torch.zeros(())
    far = (mine - other).abs() > tolerance * largest.clamp(min=1e-30)
    same = (mine == other) | (mine.isnan() & other.isnan())
    return torch.where(numbers & mine.isfinite(), far, ~same)


def _worst(actual: torch.Tensor, expected: torch.Tensor, wrong: torch.Tensor) -> str:
    error = (_wide(actual.detach()) - _wide(expected.detach())).abs()
    error = torch.where(wrong, error.nan_to_num(nan=torch.inf), -1.0)
    place = torch.unravel_index(error.argmax(), expected.shape) if expected.dim() else ()
    at = tuple(int(p) for p in place)
    return (
        f"is {actual[at].item()} at {list(at)} where it is {expected[at].item()} in PyTorch (error "
        f"{error[at].item():.3g}, in {int(wrong.sum())} of {expected.numel()} elements)"
    )
