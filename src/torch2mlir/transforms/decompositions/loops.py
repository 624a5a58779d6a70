"""Loops in decompositions: steps that depend on each other, as one ``while_loop`` of tensor code.

A step sees its number as a tensor and reads and writes whole rows and columns by it, so a program has the same length
for every size of its matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch._higher_order_ops.while_loop import while_loop_op


def repeat(
    count: Callable[..., int | Tensor],
    step: Callable[..., Sequence[Tensor]],
    *carried: Tensor,
    outer: Sequence[Tensor] = (),
) -> list[Tensor]:
    """What ``step(k, *carried, *outer)`` makes of tensors for ``k = 0, 1, ..``, an int64 tensor of rank 0.

    Args:
        count: of the carried tensors, the number of steps; every time it is asked.
        step: the next carried tensors, of the same shapes and dtypes. It makes them in their order: IREE lays tensors
            of one dynamic size out as they are made, and takes one for another if a step does not keep to that.
        carried: the first ones; if one of them has no elements, nothing is done.
        outer: what every step reads and none changes.
    """

    def holds(k: Tensor, *values: Tensor) -> Tensor:
        return k < count(*values[: len(carried)])

    def body(k: Tensor, *values: Tensor) -> tuple[Tensor, ...]:
        return (k + 1, *map(_laid_out, step(k, *values)))

    if any(size == 0 for tensor in carried for size in tensor.shape if isinstance(size, int)):
        return list(carried)
    start = torch.zeros((), dtype=torch.int64, device=carried[0].device)
    first: Any = (start, *map(_laid_out, carried))
    _, *results = while_loop_op(holds, body, first, tuple(outer))
    return results


def as_long_as(condition: Tensor) -> Tensor:
    """A number of steps for :func:`repeat` that a condition of the carried tensors ends."""
    return torch.where(condition, _MOST_STEPS, 0)


_MOST_STEPS = 1 << 30


def _laid_out(x: Tensor) -> Tensor:
    """A tensor of its own with the strides of its shape: a loop carries no views."""
    return x.clone(memory_format=torch.contiguous_format)


def rows(x: Tensor) -> Tensor:
    """The numbers of a matrix's rows, ``[m, 1]``."""
    return torch.arange(x.shape[-2], device=x.device).unsqueeze(-1)


def columns(x: Tensor) -> Tensor:
    """The numbers of a matrix's columns, ``[n]``."""
    return torch.arange(x.shape[-1], device=x.device)


def column(x: Tensor, k: Tensor) -> Tensor:
    """Column ``k`` of matrices, ``[.., m, 1]``."""
    return x.index_select(-1, k.reshape(1))


def row(x: Tensor, k: Tensor) -> Tensor:
    """Row ``k`` of matrices, ``[.., 1, n]``."""
    return x.index_select(-2, k.reshape(1))


def identity_like(x: Tensor, m: int, n: int) -> Tensor:
    """Identity matrices ``[.., m, n]`` in the batch and dtype of ``x``."""
    eye: Any = torch.eye(m, n, dtype=x.dtype, device=x.device)
    return eye.expand(*x.shape[:-2], m, n).clone()
