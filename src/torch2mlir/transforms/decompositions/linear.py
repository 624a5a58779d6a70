"""Products of tensors."""

from __future__ import annotations

from typing import Any

import torch

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten


@decomposes(aten._trilinear.default)
def _trilinear(
    a: Any,
    b: Any,
    c: Any,
    expand1: Any,
    expand2: Any,
    expand3: Any,
    sumdim: Any,
    unroll_dim: int = 1,
) -> Any:
    """The product of three tensors broadcast along the given new dimensions, summed."""
    factors = []
    for factor, new in ((a, expand1), (b, expand2), (c, expand3)):
        for dim in sorted(new):
            factor = factor.unsqueeze(dim)
        factors.append(factor)
    product = factors[0] * factors[1] * factors[2]
    return product.sum(list(sumdim)) if sumdim else product


@decomposes(aten.addbmm.default)
def _addbmm(x: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
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
