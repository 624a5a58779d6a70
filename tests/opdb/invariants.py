"""What is compared of results that are not unique.

Of factors that are unique up to signs: values, the product, and that they are orthogonal. Of positions of elements that
are there several times: what is found at them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from tests.opdb.programs import Program


def _eigh(outputs: Any) -> Any:
    values, vectors = outputs
    return values, (vectors * values.unsqueeze(-2)) @ vectors.mH, vectors.mH @ vectors


def _svd(outputs: Any) -> Any:
    u, values, vh = outputs
    return values, *_of_factors(u, values, vh)


def _svd_with_v(outputs: Any) -> Any:
    u, values, v = outputs
    return values, *_of_factors(u, values, v.mH)


def _of_factors(u: Tensor, values: Tensor, vh: Tensor) -> tuple[Tensor, ...]:
    k = values.shape[-1]
    product = (u[..., :k] * values.unsqueeze(-2)) @ vh[..., :k, :]
    return product, u.mH @ u, vh @ vh.mH, u.new_tensor([*u.shape, *vh.shape])


_INVARIANTS: dict[str, Callable[[Any], Any]] = {
    "linalg.eigh": _eigh,
    "linalg.svd": _svd,
    "svd": _svd_with_v,
}


_DIM_ARGUMENT = {"kthvalue": 2, "mode": 1, "sort": 1, "topk": 2}
"""Operators that choose among equal elements -> the place of ``dim`` among their arguments."""


def _chosen(program: Program, place: int, outputs: Any) -> Any:
    """The values, what is found at the positions, and the type of the positions."""
    values, positions = outputs
    args, kwargs = program.arguments(*program.tensors)
    dim = kwargs.get("dim", args[place] if len(args) > place else -1)
    x = args[0]
    places = positions if positions.dim() == x.dim() else positions.unsqueeze(dim)
    return values, x.gather(dim, places), positions.new_zeros(positions.shape)


def _in_order(program: Program, positions: Any) -> Any:
    """What is found at the positions, and their type."""
    args, kwargs = program.arguments(*program.tensors)
    dim = kwargs.get("dim", args[1] if len(args) > 1 else -1)
    return args[0].gather(dim, positions), positions.new_zeros(positions.shape)


def invariants(operator: str, program: Program, outputs: Any) -> Any:
    """The outputs of an operator of the database, or what of them is unique."""
    if operator in _DIM_ARGUMENT:
        return _chosen(program, _DIM_ARGUMENT[operator], outputs)
    if operator == "argsort":
        return _in_order(program, outputs)
    return of_factors(operator, outputs)


def of_factors(operator: str, outputs: Any) -> Any:
    """The outputs of an operator, or if they are factors what of them is unique."""
    transform = _INVARIANTS.get(operator)
    return outputs if transform is None or not isinstance(outputs, tuple) else transform(outputs)
