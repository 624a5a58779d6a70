"""All elements of a tensor combined: in rows and columns where there are many, on IREE."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import torch2mlir

SIZES = [(32, 96), (4099,), (6, 5, 64), (1, 4096), (128,), (2, 37), (0, 64), ()]


class OfAll(torch.nn.Module):
    def forward(self, x: Tensor, i: Tensor) -> tuple[Tensor, ...]:
        every = tuple(range(x.dim()))
        found = [x.sum(), x.sum(every, keepdim=True), x.mean(), i.sum(), (x > 0).any(), i.prod()]
        return (*found, x.amax(), i.amin(every, keepdim=True)) if x.numel() else tuple(found)


@pytest.mark.share(12)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_of_all_elements(sizes: tuple[int, ...]) -> None:
    run = torch2mlir.compile(OfAll(), *_values(sizes), output_type="linalg-on-tensors")
    for special in (None, torch.nan, torch.inf, -torch.inf, -0.0):
        x, i = _values(sizes)
        if special == 0.0:
            x = torch.full(sizes, -0.0)
        elif special is not None and x.numel():
            x.view(-1)[x.numel() // 2] = special
        for one, other in zip(run(x, i), OfAll()(x, i), strict=True):
            torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-4, equal_nan=True)
            assert (
                not one.is_floating_point()
                or one.isnan().any()
                or torch.equal(one.signbit(), other.signbit())
            )


def _values(sizes: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    lowest, highest = torch.iinfo(torch.int64).min, torch.iinfo(torch.int64).max
    return torch.randn(sizes), torch.randint(lowest, highest, sizes)
