"""When a compiled result agrees with PyTorch's: same structure, shapes, dtypes, and values within a tolerance."""

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


def assert_agrees(actual: Any, expected: Any, loose: float = 1.0) -> None:
    """Fails where a result differs from PyTorch's; ``loose`` multiplies the tolerances."""
    got, got_spec = pytree.tree_flatten(actual)
    want, want_spec = pytree.tree_flatten(expected)
    assert got_spec == want_spec, f"structure {got_spec}, PyTorch has {want_spec}"
    for index, (one, other) in enumerate(zip(got, want, strict=True)):
        place = f"output {index} of {len(want)}" if len(want) > 1 else "the output"
        if not isinstance(other, torch.Tensor):
            _assert_same_number(one, other, place)
            continue
        assert isinstance(one, torch.Tensor), f"{place}: {one!r} is no tensor"
        assert one.dtype == other.dtype, f"{place}: {one.dtype}, PyTorch has {other.dtype}"
        assert one.shape == other.shape, f"{place}: {one.shape}, PyTorch has {other.shape}"
        rtol, atol = TOLERANCES.get(other.dtype, (0.0, 0.0))
        torch.testing.assert_close(
            one,
            other,
            rtol=rtol * loose,
            atol=atol * loose,
            equal_nan=True,
            msg=lambda message, place=place: f"{place}: {message}",
        )


def _assert_same_number(one: Any, other: Any, place: str) -> None:
    assert type(one) is type(other), f"{place}: {one!r}, PyTorch has {other!r}"
    if isinstance(other, float):
        torch.testing.assert_close(one, other, equal_nan=True)
    else:
        assert one == other, f"{place}: {one!r}, PyTorch has {other!r}"
