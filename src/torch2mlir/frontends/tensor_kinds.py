"""Whether tensors are of the kinds of earlier ones, asked of all of them in one call of C++.

What a call has found out of its tensors (sizes that a program takes, memory that an engine can read) holds for others
of the same kinds.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import torch
from torch._C._dynamo.guards import TensorGuards

_PLAIN = (torch.Tensor, torch.nn.Parameter)


class TensorKinds:
    """The class, dtype, sizes, strides, device and layout of tensors, whether they require gradients, and what PyTorch
    does with them: conjugation that is put off, inference mode, autocast, and transforms of functions are other kinds.

    Where a tensor lies in its storage, and forward-mode tangents, do not count.

    Args:
        tensors: at least one.
    """

    def __init__(self, tensors: Sequence[torch.Tensor]) -> None:
        self._count = len(tensors)
        guards = TensorGuards(*tensors, dynamic_dims_sizes=None, dynamic_dims_strides=None)
        self._check = guards.check

    @staticmethod
    def of(values: Sequence[Any]) -> TensorKinds | None:
        """Those of values; None where they are not all plain tensors that lie in memory by strides."""
        if not values or not all(type(value) in _PLAIN for value in values):
            return None
        if not all(
            value.layout is torch.strided for value in values
        ):  # PyTorch would ask for strides
            return None
        return TensorKinds(values)

    def are_of(self, values: Collection[Any]) -> bool:
        """Whether values are tensors of these kinds, as many and in this order."""
        return len(values) == self._count and bool(self._check(*values))
