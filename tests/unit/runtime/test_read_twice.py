"""Reductions that one loop reads at two places: IREE had one tile for both (see docs/engines.md)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from repeated_calls import Together, agrees_with_eager
from torch.export import Dim

Program = Callable[[torch.Tensor], torch.Tensor]


def _with_transpose(v: torch.Tensor) -> torch.Tensor:
    return v + v.mT


def _pairs(v: torch.Tensor) -> torch.Tensor:
    return v[..., :, None] - v[..., None, :]


def _distances(x: torch.Tensor) -> torch.Tensor:
    squares = (x * x).sum(1)
    return squares[:, None] + squares[None] - 2 * x @ x.T


def _squared(x: torch.Tensor, mean: torch.Tensor) -> torch.Tensor:
    return (x - mean).square()


APART: dict[str, Program] = {
    "sums": lambda x: x.sum(1, keepdim=True) + x.sum(1),
    "sums_of_columns": lambda x: x.sum(0, keepdim=True) + x.sum(0).unsqueeze(1),
    "maxima": lambda x: x.exp().amax(1, keepdim=True) * x.exp().amax(1),
    "means": lambda x: x.mean(1, keepdim=True) - x.mean(1),
    "of_a_view": lambda x: x.unsqueeze(0).sum(2) + x.sum(1)[:, None],
    "of_sums": lambda x: x.softmax(1).sum(0, keepdim=True) - x.softmax(1).sum(0)[:, None],
    "of_variances": lambda x: (
        _squared(x, x.mean(1, keepdim=True)).sum(1, keepdim=True)
        * _squared(x, x.mean(1)[:, None]).sum(1)
    ),
    "distances": lambda x: (x * x).sum(1, keepdim=True) + (x * x).sum(1) - 2 * x @ x.T,
    "norms": lambda x: x.norm(dim=1, keepdim=True) * x.norm(dim=1),
}
"""Reductions that are equal but for dimensions of size 1: IREE, which drops these, had the diagonal right only."""


@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo"])
@pytest.mark.parametrize("is_dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.share(6)
def test_equal_reductions_with_and_without_dimensions_of_1(
    output_type: str, is_dynamic: bool
) -> None:
    names = list(APART)
    if (
        is_dynamic and output_type == "stablehlo"
    ):  # the others have stablehlo.dynamic_reshape, which IREE has not
        names = ["means", "norms"]
    together = Together({name: APART[name] for name in names})
    shapes = ({name: ({0: Dim.DYNAMIC},) for name in names},) if is_dynamic else None
    sizes = iter((4, 9, 3, 16))

    def arguments() -> tuple[dict[str, tuple[torch.Tensor, ...]]]:
        size = next(sizes) if is_dynamic else 6
        return ({name: (torch.randn(size, 8),) for name in names},)

    agrees_with_eager(
        together, arguments, output_type=output_type, engine="iree", dynamic_shapes=shapes
    )


@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo"])
@pytest.mark.share(3)
def test_equal_reductions_of_one_tensor_reshaped_in_two_ways(output_type: str) -> None:
    """The program reshapes in the second; TOSA reshapes what a gather gives, at once, in the first."""

    def taken(x: torch.Tensor, i: torch.Tensor, j: torch.Tensor) -> torch.Tensor:
        v = x[(i % 2)[:, None], j]
        return v.sum(-1, keepdim=True) + v.unsqueeze(-2).sum(-1).mT

    def reshaped(x: torch.Tensor) -> torch.Tensor:
        v = x.flip(0)
        return v.reshape(2, 5).sum(1, keepdim=True) + v.reshape(2, 1, 5).sum(-1).mT

    agrees_with_eager(
        lambda x, i, j: (taken(x, i, j), reshaped(x.view(10))),
        lambda: (torch.randn(2, 5), torch.randint(0, 9, (2,)), torch.randint(0, 5, (2,))),
        output_type=output_type,
        engine="iree",
    )


PROGRAMS: dict[str, Program] = {
    "outer": lambda x: torch.outer(x.sum(0), x.sum(0)),
    "sum_and_mean": lambda x: x.sum(0)[:, None] * x.mean(0)[None],
    "softmax_and_its_transpose": lambda x: _with_transpose(x.softmax(-1)),
    "layer_norm_and_its_transpose": lambda x: _with_transpose(F.layer_norm(x, (6,))),
    "pairs_of_maxima": lambda x: _pairs(x.amax(1)),
    "distances": _distances,
    "spread_over_rows_and_columns": lambda x: _with_transpose(x.sum(0).expand(6, 6)),
    "sum_of_pairs": lambda x: _pairs(x.amax(1)).abs().sum(0),
    "counts": lambda x: _pairs((x.long().unsqueeze(-1) == torch.arange(4)).sum((0, 1))),
}


@pytest.mark.share(12)
@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_both_are_read(name: str, output_type: str) -> None:
    agrees_with_eager(
        PROGRAMS[name], lambda: (torch.randn(6, 6) * 3,), output_type=output_type, engine="iree"
    )


def test_both_are_read_of_batches() -> None:
    agrees_with_eager(
        lambda x: (_with_transpose(x.softmax(-1)), _pairs(x.amax(1))),
        lambda: (torch.randn(3, 6, 6),),
        output_type="linalg-on-tensors",
        engine="iree",
        dynamic_shapes=({0: Dim("batch")},),
    )


@pytest.mark.share(3)
@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo"])
def test_equal_reductions_of_booleans_and_a_view_of_them(output_type: str) -> None:
    """StableHLO adds the dimension by a broadcast where a size varies."""

    def both(x: torch.Tensor) -> torch.Tensor:
        return x.amax(-1, keepdim=True) & x.unsqueeze(-2).amax(-1).mT

    sizes = iter((3, 5, 4, 2, 7, 6))
    agrees_with_eager(
        both,
        lambda: (torch.rand(2, 4, next(sizes)) > 0.7,),
        calls=5,
        output_type=output_type,
        engine="iree",
        dynamic_shapes=({2: Dim.DYNAMIC},),
    )
