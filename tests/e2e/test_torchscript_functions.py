"""Scripted functions in everyday Python: lists that ops give, loops, writes; against eager PyTorch, three calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import torch2mlir

X = torch.tensor([1.0, -2, 3, 4])


def one_of_a_grid(x):
    return torch.meshgrid(x, x + 1, indexing="ij")[1] * 2


def positions(x):
    return torch.where(x > 0)[0]


def counts(x):
    return torch.bincount(x.abs().long(), minlength=5)


def parts(x):
    lists = torch.split(x, 2)
    return torch.cat(lists[1:], 0), torch.chunk(x, 2)[0], torch.tensor_split(x, 3)[-1]


def integers_that_become_floats(x):
    total = x.short()
    for k in range(3):
        total = total * 0.5 + k
    return total


def one_more_dimension_each_time(x):
    for _ in range(2):
        x = x.unsqueeze(0) * 2
    return x


def rows(x):
    filled = torch.zeros(3, 4)
    for i in range(3):
        filled[i] = x[i]
    return filled


@pytest.mark.share(8)
@pytest.mark.parametrize(
    "function",
    [
        one_of_a_grid,
        positions,
        counts,
        parts,
        integers_that_become_floats,
        one_more_dimension_each_time,
        rows,
    ],
    ids=lambda function: function.__name__,
)
def test_agrees_with_eager(function: Callable[..., Any]) -> None:
    compiled = torch2mlir.compile(torch.jit.script(function), X, engine="iree")
    for x in (X, X.flip(0) * 2, X + 0.5):
        torch.testing.assert_close(compiled(x), function(x))
