"""Ops of one fused kernel, copies of views, window functions, prims: what has no mathematics of its own."""

from __future__ import annotations

from typing import Any

import torch

from tests.e2e.registry import case, f32, i8, i64, program

prims = torch.ops.prims
X = f32("B", 4)

case("add_relu", lambda x, y: torch._VF._add_relu(x, y, alpha=2), X, f32(4))
case("aminmax_of_all", torch.aminmax, X)
case("aminmax_along", lambda x: torch.aminmax(x, dim=1, keepdim=True), X)
case("conv_tbc", lambda x, w, b: torch.conv_tbc(x, w, b, 1), f32(5, 2, 3), f32(3, 3, 4), f32(4))
case("int_mm", torch._int_mm, i8(17, 8), i8(8, 8))


@program(X)
def copies_of_views(x: torch.Tensor) -> Any:
    return (
        *torch.split_copy(x, 2, 1),
        torch.select_copy(x, 1, 2),
        torch.slice_copy(x, 1, 0, 4, 2),
        torch.permute_copy(x, (1, 0)),
        torch.diagonal_copy(x),
        torch.unsqueeze_copy(x, 0),
    )


@program(X)
def prims_of_movement(x: torch.Tensor) -> Any:
    return (
        prims.rev(x, [0]),
        prims.cat([x, x], 1),
        prims.split_dim(x, 1, 2),
        prims.collapse(x, 0, 1),
        prims.broadcast_in_dim(x, [2, *x.shape], [1, 2]),
        prims.cbrt(x),
    )


@program(f32(9))
def windows(x: torch.Tensor) -> list[torch.Tensor]:
    # not Any: torch.jit.script ends the process at a list literal that is returned as Any
    return [
        x * torch.hann_window(9),
        x * torch.hamming_window(9, periodic=False),
        x * torch.hamming_window(9, True, 0.6, 0.4),
        x * torch.blackman_window(9),
        x * torch.bartlett_window(9, periodic=False),
        x * torch.kaiser_window(9, True, 5.0),
        x[:1] * torch.bartlett_window(1),
    ]


@program(i64("B"))
def prims_iota(x: torch.Tensor) -> torch.Tensor:
    positions = prims.iota(
        x.shape[0], start=3, step=2, dtype=torch.int64, device="cpu", requires_grad=False
    )
    return x + positions
