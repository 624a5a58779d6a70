"""Functions of PyTorch that its capture stops at, or takes other sizes for, said by others that mean the same."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.nn.modules import transformer


def _masked_select(input: Tensor, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
    """PyTorch bounds how many are selected by the elements of ``input``, of which a mask may repeat each."""
    if out is not None:
        return torch.masked_select(input, mask, out=out)
    return torch.masked_select(*torch.broadcast_tensors(input, mask))


def _unique_consecutive(
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """PyTorch takes a dimension counted from the end for one that is not there."""
    return torch.unique_consecutive(
        input, return_inverse, return_counts, dim if dim is None else dim % max(input.dim(), 1)
    )


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


@contextmanager
def masks_unknown() -> Iterator[None]:
    """While it holds, ``nn.TransformerEncoder`` takes a mask that it cannot read for one as any other.

    It looks whether its mask is the causal one, for which there are faster kernels that give the same.
    """
    name = "_detect_is_causal_mask"
    detect = getattr(transformer, name)

    def detected(*args: Any, **kwargs: Any) -> bool:
        try:
            return bool(detect(*args, **kwargs))
        except GuardOnDataDependentSymNode:
            return False

    setattr(transformer, name, detected)
    try:
        yield
    finally:
        setattr(transformer, name, detect)
