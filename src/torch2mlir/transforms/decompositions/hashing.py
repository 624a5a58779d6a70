"""Hashes of tensors: bits reduced by exclusive or."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten


@decomposes(aten.hash_tensor.default)
def _hash_tensor(
    a: Tensor, dims: Sequence[int] = (), *, keepdim: bool = False, mode: int = 0
) -> Tensor:
    """The elements' 64 bits by exclusive or: a bit is set where an odd number of elements have it."""
    wide = a.to(torch.float64).view(torch.int64) if a.is_floating_point() else a.to(torch.int64)
    places = torch.arange(64, dtype=torch.int64, device=a.device)
    bits = (wide.unsqueeze(-1) >> places) & 1
    axes = [d % a.dim() for d in dims] if dims else list(range(a.dim()))
    odd = (bits.sum(axes, keepdim=keepdim) if axes else bits) & 1
    return (odd << places).sum(-1).view(torch.uint64)
