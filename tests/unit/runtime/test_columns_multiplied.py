"""Columns of tensors that are multiplied or convolved as rows: IREE takes their elements to follow each other."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from repeated_calls import agrees_with_eager
from torch import Tensor, nn

USES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "last": lambda x, w: x[:, :, -1] @ w,
    "first, kept": lambda x, w: x[:, :, :1].mT @ w,
    "of one row": lambda x, w: x[0, :, 1] @ w,
    "from the left": lambda x, w: w.T @ x[0, :, 1],
    "the columns": lambda x, w: w.T @ x[:, :, 2:3],
    "in a batch": lambda x, w: x[:, :, 2:3].mT @ x,
    "both": lambda x, w: torch.cat([x[:, :, 0], x[:, :, -1]], 1) @ torch.cat([w, w]),
    "computed": lambda x, w: F.relu(x[:, :, -1]) @ w,
    "convolved": lambda x, w: F.conv1d(x[:, :, -1:], w.T[:, :, None]),
    "of one place": lambda x, w: F.conv1d(x, w.T[:, :, None], stride=5),
}


class Columns(nn.Module):
    """Beside a convolution, which has IREE bring what is multiplied into tiles."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution = nn.Conv1d(6, 2, 3, padding=1)
        self.weight = nn.Parameter(torch.randn(6, 4))

    def forward(self, xs: dict[str, Tensor], y: Tensor) -> tuple[dict[str, Tensor], Tensor]:
        results = {name: use(xs[name], self.weight) for name, use in USES.items()}
        return results, self.convolution(y)


@pytest.mark.share(3)
@pytest.mark.parametrize(
    "output_type, batch",
    [("linalg-on-tensors", 1), ("linalg-on-tensors", 2), ("stablehlo", 1)],
)
def test_of_convolutional_networks(output_type: str, batch: int) -> None:
    agrees_with_eager(
        Columns().eval(),
        lambda: ({name: torch.randn(batch, 6, 5) for name in USES}, torch.randn(1, 6, 9)),
        output_type=output_type,
        engine="iree",
    )


@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "stablehlo"])
@pytest.mark.share(2)
def test_a_convolution_of_one_place_beside_another(output_type: str) -> None:
    """Found by a random program: the first is a product of one row, a column of what it is given."""

    class Two(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Conv1d(5, 3, kernel_size=1, stride=2, bias=False)
            self.second = nn.Conv1d(5, 2, kernel_size=3, padding=1, bias=False)

        def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
            return self.first(x), self.second(y)

    agrees_with_eager(
        Two().eval(),
        lambda: (torch.randn(1, 5, 2), torch.randn(1, 5, 2)),
        output_type=output_type,
        engine="iree",
    )
