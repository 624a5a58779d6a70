"""Convolutions without bias beside each other: what IREE adds each of them up in is its own."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from repeated_calls import agrees_with_eager
from torch import Tensor, nn


class Added(nn.Module):
    """Two convolutions, as in the shortcuts of residual networks, or one taken twice, as in twin networks."""

    def __init__(self, make: Callable[[], nn.Module], twins: bool = False) -> None:
        super().__init__()
        self.one = make()
        self.other = self.one if twins else make()

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return self.one(x) + self.other(y)


# A result of 401,408 elements: IREE keeps smaller tensors of constants, and does not compute them.
CONVOLUTIONS = {
    "of_one_place": (lambda: nn.Conv2d(16, 128, 1, bias=False), (1, 16, 56, 56)),
    "of_lines": (lambda: nn.Conv1d(16, 128, 3, padding=1, bias=False), (1, 16, 3136)),
    "transposed": (lambda: nn.ConvTranspose1d(16, 128, 2, stride=2, bias=False), (1, 16, 1568)),
    "transposed_in_squares": (
        lambda: nn.ConvTranspose2d(
            16, 128, (2, 3), stride=2, padding=(0, 1), output_padding=(1, 1)
        ),
        (1, 16, 32, 32),
    ),
}


@pytest.mark.share(4)
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_large_results_of_one_batch(name: str) -> None:
    _agree(name, twins=False)


def test_twins() -> None:
    _agree("of_one_place", twins=True)


def _agree(name: str, *, twins: bool) -> None:
    make, shape = CONVOLUTIONS[name]
    agrees_with_eager(
        Added(make, twins),
        lambda: (torch.randn(shape), torch.randn(shape)),
        output_type="tosa",
        engine="iree",
    )


class OfOnePlace(nn.Module):
    """Convolutions of a pooled image, as in gates of channels, beside one of the whole image."""

    def __init__(self) -> None:
        super().__init__()
        self.whole = nn.Conv2d(32, 32, 3, padding=1, bias=False)
        self.narrow, self.wide = (nn.Conv2d(32, 32, 1, bias=False) for _ in range(2))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        seen = self.whole(x)
        gate = self.wide(self.narrow(seen.mean((2, 3), keepdim=True)).relu())
        return seen * gate.sigmoid(), self.wide(x.mean((2, 3), keepdim=True))


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.share(2)
def test_beside_one_place(batch: int) -> None:
    """The bias of such a convolution is what it is added up in."""
    agrees_with_eager(
        OfOnePlace(), lambda: (torch.randn(batch, 32, 16, 16),), output_type="tosa", engine="iree"
    )
