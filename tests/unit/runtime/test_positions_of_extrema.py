"""Where the extremum of long lines is, through TOSA on IREE: the first of equal ones, the first NaN before all."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import torch2mlir


class Positions(torch.nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        return (x.argmax(-1), x.argmin(0), x.argmax(), *x.max(-1), *x.min(0), x.topk(1, -1)[1])


@pytest.mark.share(4)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int32, torch.int64])
def test_the_first_extremum_is_found(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    run = torch2mlir.compile(Positions(), _values(dtype), output_type="tosa")
    for special in (None, torch.nan, torch.inf, -torch.inf, -0.0):
        x = _values(dtype)
        if dtype.is_floating_point and special is not None:
            x[3, 5:70] = special
            x[7] = special
        elif not dtype.is_floating_point:
            x[2, 9], x[3, 1] = torch.iinfo(dtype).min, torch.iinfo(dtype).max
        kept = x.clone()
        for one, other in zip(run(x), Positions()(x), strict=True):
            torch.testing.assert_close(one, other, rtol=0, atol=0, equal_nan=True)
        torch.testing.assert_close(x, kept, rtol=0, atol=0, equal_nan=True)


def _values(dtype: torch.dtype) -> Tensor:
    """Few different ones, so that each comes often."""
    return torch.randint(-40, 40, (80, 100)).to(dtype)
