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
