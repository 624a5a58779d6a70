"""Products of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase

import torch
from torch import Tensor
from torch.types import Number

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten


@decomposes(aten._trilinear.default)
def _trilinear(
    a: Tensor,
    b: Tensor,
    c: Tensor,
    expand1: Sequence[int],
    expand2: Sequence[int],
    expand3: Sequence[int],
    sumdim: Sequence[int],
    unroll_dim: int = 1,
) -> Tensor:
    """The product of three tensors broadcast along the given new dimensions, summed.

    What the third has no part in is summed first, by a product of matrices.
    """
    names = ascii_lowercase[: a.dim() + len(expand1)]
    early = set(sumdim) & set(expand3)
    absent = set(expand1) & set(expand2)
    left, right, joint = (
        "".join(name for dim, name in enumerate(names) if dim not in without)
        for without in (expand1, expand2, early | absent)
    )
    product = torch.einsum(f"{left},{right}->{joint}", a, b)
    later = [dim for dim in range(len(names)) if dim not in early]
    for place, dim in enumerate(later):
        if dim in absent:
            product = product.unsqueeze(place)
        if dim in expand3:
            c = c.unsqueeze(place)
    late = [place for place, dim in enumerate(later) if dim in sumdim]
    result = product * c
    if late:
        result = result.sum(late, dtype=result.dtype)
    nowhere = absent & set(expand3)  # PyTorch takes dimensions that no tensor has for empty ones
    if unroll_dim in nowhere:
        result = torch.zeros_like(result)
    kept = [dim for dim in range(len(names)) if dim not in sumdim]
    for place, dim in enumerate(kept):
        if dim in nowhere:
            result = result.narrow(place, 0, 0)
    return result


@decomposes(aten.addbmm.default)
def _addbmm(x: Tensor, a: Tensor, b: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """``beta * x`` and the sum of a batch of products, which is one product over batch and inner dimension together."""
    if not x.is_floating_point() and not x.is_complex():
        beta, alpha = int(beta), int(alpha)
    left = a.permute(1, 0, 2).flatten(1)
    product = left @ b.flatten(0, 1)
    if alpha != 1:
        product = product * alpha
    if beta == 0:  # what is in x does not matter then
        return product
    return (x if beta == 1 else x * beta) + product
