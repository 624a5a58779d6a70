"""Running sums of integers through TOSA on IREE wrap around as in eager mode, whatever the length."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import torch2mlir


class Sums(torch.nn.Module):
    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
        return x.cumsum(-1), x.cumsum(0), mask.long().cumsum(-1) - 1, x.cumsum(1).cumsum(1)


@pytest.mark.share(8)
@pytest.mark.parametrize("sizes", [(3, 33), (40, 64), (70, 100), (2, 1025)], ids=str)
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_running_sums_of_integers(sizes: tuple[int, ...], dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    info = torch.iinfo(dtype)

    def values() -> tuple[Tensor, Tensor]:
        return torch.randint(info.min, info.max, sizes).to(dtype), torch.rand(sizes) > 0.5

    run = torch2mlir.compile(Sums(), *values(), output_type="tosa")
    for _ in range(3):
        x, mask = values()
        kept = x.clone()
        for one, other in zip(run(x, mask), Sums()(x, mask), strict=True):
            assert torch.equal(one, other)
        assert torch.equal(x, kept)
