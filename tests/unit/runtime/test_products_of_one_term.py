"""Products of a column and a row that reductions give: two reductions of such a product were of zeros on IREE."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from repeated_calls import Together, agrees_with_eager
from torch import Tensor

Tensors = tuple[Tensor, ...]


def extrema(x: Tensor) -> Tensors:
    v = x.amax(-1, keepdim=True)
    w = v @ v.mT
    return w.amin((0, 1)), w.amin(-1)


def sums(x: Tensor) -> Tensors:
    v = x.sum(-1, keepdim=True)
    w = v @ v.mT
    return w.sum(), w.sum(0), w


def columns(x: Tensor) -> Tensors:
    v = x.sum(0, keepdim=True)
    w = v.mT @ v
    return w.amax(0), w.amin()


def batched(x: Tensor) -> Tensors:
    v = torch.stack([x, x.flip(0)]).amax(-1, keepdim=True)
    w = v @ v.mT
    return w.amin((0, 1, 2)), w.amax(-1)


def linear(x: Tensor) -> Tensors:
    v = x.amin(-1, keepdim=True)
    w = torch.nn.functional.linear(v, v)
    return w.amin(), w.amax(1)


PROGRAMS: tuple[Callable[[Tensor], Tensors], ...] = (extrema, sums, columns, batched, linear)


@pytest.mark.parametrize(
    "output_type, engine",
    [
        ("stablehlo", "iree"),
        ("linalg-on-tensors", "iree"),
        ("tosa", "iree"),
        ("stablehlo", "xla"),
    ],
)
@pytest.mark.share(4)
def test_reductions_of_them(output_type: str, engine: str) -> None:
    def new() -> tuple[dict[str, tuple[Tensor]]]:
        return ({each.__name__: (torch.randint(1, 9, (3, 5)).float(),) for each in PROGRAMS},)

    together = Together({each.__name__: each for each in PROGRAMS})
    agrees_with_eager(together, new, output_type=output_type, engine=engine)


def test_of_complex_numbers() -> None:
    product = lambda x, y: (x @ y, (x @ y).sum(0))  # noqa: E731
    new = lambda: (torch.randn(3, 1, dtype=torch.cfloat), torch.randn(1, 4, dtype=torch.cfloat))  # noqa: E731
    agrees_with_eager(product, new, output_type="stablehlo", engine="iree")


@pytest.mark.parametrize("dtype", [torch.int64, torch.float32])
def test_alone_on_stablehlo(dtype: torch.dtype) -> None:
    new = lambda: (torch.randint(1, 9, (3, 5)).to(dtype),)  # noqa: E731
    agrees_with_eager(extrema, new, output_type="stablehlo", engine="iree")
