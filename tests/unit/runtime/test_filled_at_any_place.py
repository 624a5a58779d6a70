"""Tensors of one number behind others of an odd number of bytes: IREE fills memory at aligned places only (docs/engines.md)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from repeated_calls import agrees_with_eager
from torch import Tensor
from torch.export import Dim


def _joined(x: Tensor) -> tuple[Tensor, ...]:
    twos = torch.full((x.shape[0],), 2.0)
    return x > 0, torch.cat([twos, x]), torch.cat([x, torch.ones(3)]), torch.cat([x, twos.flip(0)])


def _padded(x: Tensor) -> tuple[Tensor, ...]:
    whole = (x * 10).long()
    return (
        x > 0,
        F.pad(x, (1, 1), value=3.0),
        F.pad(x.half(), (2, 0), value=-1.5),
        F.pad(whole, (0, 1), value=-7),
        F.pad(whole.to(torch.int16), (1, 0), value=300),
        F.max_pool2d(x[None, None, None], (1, 3), 1, (0, 1)),
    )


def _added_at(x: Tensor) -> tuple[Tensor, ...]:
    sevens = torch.full((x.shape[0],), 7.0)
    positions = (x > 0).long()
    return (
        x > 0,
        torch.full((3,), 2.0).scatter_reduce(0, positions, x, "amax"),
        sevens.index_put((positions[:1],), x[:1]),
        torch.full((x.shape[0],), -torch.inf).scatter_reduce(0, positions[:1], x[:1], "amax"),
    )


PROGRAMS: dict[str, Callable[[Tensor], Any]] = {
    "full": lambda x: (x > 0, torch.full((x.shape[0],), 7.0), torch.full((x.shape[0],), 8.0)),
    "one": lambda x: (x > 0, x * 0 + 1, torch.ones_like(x).flip(0), torch.ones(4)),
    "wider": lambda x: (x * 2, torch.full((x.shape[0],), 7), torch.full_like(x, 0.1).double()),
    "negative_zeros": lambda x: (x > 0, torch.full((x.shape[0],), -0.0)),
    "joined": _joined,
    "padded": _padded,
    "added_at": _added_at,
}


@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_any_length_runs(name: str, output_type: str) -> None:
    lengths = iter([5, 5, 6, 7, 9])
    agrees_with_eager(
        PROGRAMS[name],
        lambda: (torch.randn(next(lengths)),),
        calls=4,
        output_type=output_type,
        engine="iree",
        dynamic_shapes=({0: Dim("length", min=3)},),
    )


def test_padding_keeps_every_bit() -> None:
    """What is exchanged with zeros on the way is as it was: zeros of either sign, NaN, the number itself."""
    x = torch.tensor([0.0, -0.0, 3.0, -3.0, torch.nan, torch.inf, 1.0])
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        agrees_with_eager(
            lambda x: (x > 0, F.pad(x, (1, 2), value=3.0), 1 / F.pad(x, (1, 0), value=-3.0)),
            lambda dtype=dtype: (x[torch.randperm(len(x))].to(dtype),),
            output_type="linalg-on-tensors",
            engine="iree",
            dynamic_shapes=({0: Dim("length", min=3)},),
        )
