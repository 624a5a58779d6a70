"""Products of one row, as of one token: the weights are read as they are."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as f
from torch import Tensor, nn

import torch2mlir


class Token(nn.Module):
    """A layer of a language model for one token, and products of other forms."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(24, 40), nn.Linear(40, 24, bias=False)
        self.one, self.thin = nn.Linear(24, 1), nn.Linear(1, 7)
        self.table = nn.Parameter(torch.randn(50, 24))

    def forward(self, x: Tensor, keys: Tensor) -> tuple[Tensor, ...]:
        hidden = x + self.down(f.silu(self.up(x)))
        scores = torch.softmax(hidden.view(1, 3, 1, 8) @ keys.transpose(-1, -2), -1)
        row = hidden.view(1, 24)
        return (
            scores @ keys,
            f.linear(hidden, self.table[10:40]),
            self.thin(self.one(hidden)),
            row @ self.table.t(),
            self.table @ row.t(),
            row.half().float() @ torch.eye(24),
        )


@pytest.mark.share(2)
@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa"])
def test_one_token(output_type: str) -> None:
    torch.manual_seed(0)
    model = Token().eval()
    run = torch2mlir.compile(
        model, torch.randn(1, 1, 24), torch.randn(1, 3, 9, 8), output_type=output_type
    )
    for special in (None, None, torch.inf):
        x, keys = torch.randn(1, 1, 24), torch.randn(1, 3, 9, 8)
        if special is not None:
            x[..., 3] = special
        for one, other in zip(run(x, keys), model(x, keys), strict=True):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5, equal_nan=True)


def test_inverse_roots_of_many_on_xla() -> None:
    class Roots(nn.Module):
        def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
            return x.rsqrt(), 1 / x.sqrt()

    run = torch2mlir.compile(Roots(), torch.rand(5000), output_type="stablehlo")
    special = torch.tensor([0.0, -0.0, torch.inf, -torch.inf, torch.nan, -1.0, 3e38, 2.0**-126, 4])
    for scale in (1.0, 1e30, 1e-30):
        x = torch.cat([special, torch.rand(4991) * scale])
        for one, other in zip(run(x), Roots()(x), strict=True):
            torch.testing.assert_close(one, other, rtol=3e-7, atol=0, equal_nan=True)
