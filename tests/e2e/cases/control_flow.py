"""Branches, loops and what runs over slices."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch._higher_order_ops import associative_scan, scan, while_loop
from torch._higher_order_ops import map as map_slices

from tests.e2e.registry import b1, case, f32, i64, program


@program(b1(values=[True]), f32("B", 4))
def cond_of_a_tensor(p: Tensor, x: Tensor) -> Tensor:
    return torch.cond(p, lambda x: x.sin() @ x.t(), lambda x: (x + 1) @ x.t(), (x,))


@program(b1(values=[False]), f32("B", 4))
def cond_otherwise(p: Tensor, x: Tensor) -> Tensor:
    y = x.mul(2)
    return torch.cond(p, lambda x, y: x.sin() + y, lambda x, y: x - y, (x, y)) + y.t().sum()


@program(f32("B", 4))
def cond_of_a_size(x: Tensor) -> Tensor:
    return torch.cond(x.shape[0] > 4, lambda x: x.softmax(1), lambda x: x.cos(), (x,))


@program(f32("B", 4), f32(4))
def cond_in_cond(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    def inner(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        return torch.cond(
            y.sum() > 0, lambda x, y: (x + y, y * 2), lambda x, y: (x - y, y * 3), (x, y)
        )

    return torch.cond(x.sum() > 0, inner, lambda x, y: (x * y, y.sin()), (x, y))


class CondOfLayers(nn.Module):
    """Weights inside the branches."""

    def __init__(self) -> None:
        super().__init__()
        self.wide, self.narrow = nn.Linear(4, 3), nn.Linear(4, 3, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, self.wide, self.narrow, (x,))


case("cond_of_layers", CondOfLayers, f32("B", 4))


@program(i64(values=[0]), f32("B", 4))
def while_counting(i: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    return while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, x * 0.5 + 1), (i, x))


@program(f32("B", 4), f32(4, 4))
def while_until_large(x: Tensor, w: Tensor) -> tuple[Tensor]:
    y = x.abs() + 0.1
    return while_loop(lambda y: y.sum() < 50, lambda y: (y * 2 + (w * 0.1).sum().abs(),), (y,))


@program(f32("B", 4), f32(4))
def map_over_rows(xs: Tensor, y: Tensor) -> Tensor:
    return map_slices(lambda x, y: (x * y).softmax(0), xs, y)


@program(f32(2, 4), f32("B", 2, 4))
def scan_over_rows(x: Tensor, xs: Tensor) -> tuple[Tensor, Tensor]:
    return scan(lambda c, x: (c * 0.5 + x, c.sum(1)), x, xs, dim=0)


@program(f32(4), f32(5, 4))
def scan_in_reverse(x: Tensor, xs: Tensor) -> tuple[Tensor, Tensor]:
    return scan(lambda c, x: (c + x, c * x), x, xs, dim=0, reverse=True)


@program(f32(5, 4))
def associative_scan_of_products(xs: Tensor) -> Tensor:
    return associative_scan(lambda a, b: a * b, xs, 0, combine_mode="generic")
