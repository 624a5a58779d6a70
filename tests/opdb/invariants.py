"""What is compared of factors that are only unique up to signs: values, the product, and that they are orthogonal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor


def _eigh(outputs: Any) -> Any:
    values, vectors = outputs
    return values, (vectors * values.unsqueeze(-2)) @ vectors.mT, vectors.mT @ vectors


def _svd(outputs: Any) -> Any:
    u, values, vh = outputs
    return values, *_of_factors(u, values, vh)


def _svd_with_v(outputs: Any) -> Any:
    u, values, v = outputs
    return values, *_of_factors(u, values, v.mT)


def _of_factors(u: Tensor, values: Tensor, vh: Tensor) -> tuple[Tensor, ...]:
    k = values.shape[-1]
    product = (u[..., :k] * values.unsqueeze(-2)) @ vh[..., :k, :]
    return product, u.mT @ u, vh @ vh.mT, u.new_tensor([*u.shape, *vh.shape])


_INVARIANTS: dict[str, Callable[[Any], Any]] = {
    "linalg.eigh": _eigh,
    "linalg.svd": _svd,
    "svd": _svd_with_v,
}


def invariants(operator: str, outputs: Any) -> Any:
    """The outputs of an operator of the database, or what of them is unique."""
    transform = _INVARIANTS.get(operator)
    return outputs if transform is None or not isinstance(outputs, tuple) else transform(outputs)
