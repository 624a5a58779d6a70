"""Functions of PyTorch that its capture stops at, or takes other sizes for, said by others that mean the same."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.distributions import constraints
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.nn.modules import transformer


def _masked_select(input: Tensor, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
    """PyTorch bounds how many are selected by the elements of ``input``, of which a mask may repeat each."""
    sizes = zip(reversed(input.shape), reversed(mask.shape))
    is_repeated = mask.dim() > input.dim() or any(
        isinstance(size, int) and size == 1 and not (isinstance(wanted, int) and wanted == 1)
        for size, wanted in sizes
    )
    if out is not None or not is_repeated:
        return torch.masked_select(input, mask, out=out)
    return torch.masked_select(*torch.broadcast_tensors(input, mask))


def _unique_consecutive(
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """PyTorch takes a dimension counted from the end for one that is not there."""
    if dim is not None and -input.dim() <= dim < 0:
        dim += input.dim()
    return torch.unique_consecutive(input, return_inverse, return_counts, dim)


def _combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """PyTorch selects them by a mask, and so takes their number for one that elements decide."""
    size = input.shape[0] if input.dim() == 1 else None
    if not isinstance(size, int) or r < 1:
        return torch.combinations(input, r, with_replacement)
    chosen: Any = itertools.combinations
    if with_replacement:
        chosen = itertools.combinations_with_replacement
    places = torch.tensor(list(chosen(range(size), r)), dtype=torch.int64).reshape(-1, r)
    return input[places]


OTHERWISE: Mapping[Any, Callable[..., Any]] = {
    torch.masked_select: _masked_select,
    Tensor.masked_select: _masked_select,
    torch.unique_consecutive: _unique_consecutive,
    Tensor.unique_consecutive: _unique_consecutive,
    torch.combinations: _combinations,
}
"""Function -> what it is said by."""


_detect_is_causal_mask = transformer._detect_is_causal_mask


def _is_causal(*args: Any, **kwargs: Any) -> bool:
    """Whether a mask is the causal one, for which there are faster kernels; one that cannot be read is any other."""
    try:
        return bool(_detect_is_causal_mask(*args, **kwargs))
    except GuardOnDataDependentSymNode:
        return False


def _is_symmetric(_: Any, value: Tensor) -> Tensor:
    """Of each matrix; PyTorch's looks whether to go on."""
    if value.shape[-2] != value.shape[-1]:
        return value.new_zeros(value.shape[:-2], dtype=torch.bool)
    return torch.isclose(value, value.mT, atol=1e-6).all(-2).all(-1)


def _is_semidefinite(constraint: Any, value: Tensor) -> Tensor:
    return _is_symmetric(constraint, value) & (torch.linalg.eigvalsh(value) >= 0).all(-1)


def _is_definite(constraint: Any, value: Tensor) -> Tensor:
    return _is_symmetric(constraint, value) & (torch.linalg.cholesky_ex(value).info == 0)


_LOOKING: Mapping[tuple[Any, str], Callable[..., Any]] = {
    (transformer, "_detect_is_causal_mask"): _is_causal,
    (constraints._Symmetric, "check"): _is_symmetric,
    (constraints._PositiveSemidefinite, "check"): _is_semidefinite,
    (constraints._PositiveDefinite, "check"): _is_definite,
}
"""Functions of Python that look at elements on their way, by where they are."""


@contextmanager
def without_looking() -> Iterator[None]:
    """While it holds, masks of ``nn.TransformerEncoder`` and matrices of distributions are checked without a branch."""
    before = {place: getattr(*place) for place in _LOOKING}
    for place, function in _LOOKING.items():
        setattr(*place, function)
    try:
        yield
    finally:
        for place, function in before.items():
            setattr(*place, function)
