"""When a compiled result agrees with PyTorch's: same structure, shapes, dtypes, and values within a tolerance.

Values are more than closeness: zeros have PyTorch's sign, and NaN stands where PyTorch has it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils import _pytree as pytree

TOLERANCES: dict[torch.dtype, tuple[float, float]] = {
    torch.float64: (1e-10, 1e-10),
    torch.float32: (2e-5, 2e-6),
    torch.float16: (2e-3, 1e-3),
    torch.bfloat16: (1.6e-2, 8e-3),
    torch.complex64: (2e-5, 2e-6),
    torch.complex128: (1e-10, 1e-10),
}
"""Relative and absolute tolerance by dtype; integers and booleans are exact."""


def assert_agrees(
    actual: Any, expected: Any, loose: float = 1.0, signed_zeros: bool = True
) -> None:
    """Fails where a result differs from PyTorch's.

    Args:
        actual: a tree of tensors and numbers.
        expected: PyTorch's.
        loose: multiplies the tolerances.
        signed_zeros: whether the sign of an exact zero counts; not where PyTorch itself does not define it.
    """
    got, got_spec = pytree.tree_flatten(actual)
    want, want_spec = pytree.tree_flatten(expected)
    assert got_spec == want_spec, f"structure {got_spec}, PyTorch has {want_spec}"
    for index, (one, other) in enumerate(zip(got, want, strict=True)):
        place = f"output {index} of {len(want)}" if len(want) > 1 else "the output"
        if not isinstance(other, torch.Tensor):
            _assert_same_number(one, other, place)
            continue
        assert isinstance(one, torch.Tensor), f"{place}: {one!r} is no tensor"
        _assert_same_kind(one, other, place)
        rtol, atol = TOLERANCES.get(other.dtype, (0.0, 0.0))
        torch.testing.assert_close(
            one,
            other,
            rtol=rtol * loose,
            atol=atol * loose,
            equal_nan=True,
            msg=lambda message, place=place: f"{place}: {message}",
        )
        if signed_zeros:
            _assert_same_zeros(one, other, place)


def _assert_same_kind(one: torch.Tensor, other: torch.Tensor, place: str) -> None:
    for what in ("dtype", "shape", "requires_grad"):
        ours, theirs = getattr(one, what), getattr(other, what)
        assert ours == theirs, f"{place}: {what} {ours}, PyTorch has {theirs}"


def _assert_same_zeros(one: torch.Tensor, other: torch.Tensor, place: str) -> None:
    """Zeros have PyTorch's sign where both are exactly zero."""
    one, other = one.detach(), other.detach()
    if other.dtype.is_complex:
        one, other = (
            torch.view_as_real(one.resolve_conj()),
            torch.view_as_real(other.resolve_conj()),
        )
    if not other.dtype.is_floating_point:
        return
    differs = (one == 0) & (other == 0) & (torch.signbit(one) != torch.signbit(other))
    if differs.any():
        at = differs.nonzero()[0].tolist()
        ours, theirs = one[tuple(at)].item(), other[tuple(at)].item()
        raise AssertionError(f"{place}: the zero at {at} is {ours}, PyTorch has {theirs}")


def same_bits(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors are the same in every bit, NaNs and signs of zeros included."""
    if one.dtype is not other.dtype or one.shape != other.shape:
        return False
    return torch.equal(_bits(one), _bits(other))


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    dense = tensor.detach().clone(memory_format=torch.contiguous_format)
    return dense.resolve_conj().resolve_neg().view(-1).view(torch.uint8)


def _assert_same_number(one: Any, other: Any, place: str) -> None:
    assert type(one) is type(other), f"{place}: {one!r}, PyTorch has {other!r}"
    if isinstance(other, float):
        torch.testing.assert_close(one, other, equal_nan=True)
    else:
        assert one == other, f"{place}: {one!r}, PyTorch has {other!r}"
