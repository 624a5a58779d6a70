"""Writes in a program whose branches and loops have tensors in their bodies, which PyTorch cannot say as values itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from repeated_calls import Together, agrees_with_eager
from torch import Tensor, cond
from torch._higher_order_ops.while_loop import while_loop
from torch.export import Dim


def rows() -> Tensor:
    return torch.tensor([0, 1])


def in_a_branch(x: Tensor) -> Tensor:
    chosen = lambda p: p.index_add(0, rows(), p[:2])  # noqa: E731
    return cond(x.sum() > 0, chosen, lambda p: p * 2, (x,))


def in_both_branches(x: Tensor) -> Tensor:
    first = lambda p: p.index_copy(0, rows(), p[1:3]) + torch.tensor(2.5)  # noqa: E731
    return cond(x.sum() > 0, first, lambda p: p * torch.tensor([1.0, -2.0, 3.0, 4.0]), (x,))


def selected_in_a_branch(x: Tensor) -> Tensor:
    return cond(x.sum() > 0, lambda p: p.index_select(0, rows()), lambda p: p[1:3] * 2, (x,))


def written_in_a_branch(x: Tensor) -> Tensor:
    chosen = lambda p: p.index_put((rows(),), p[:2] * 3)  # noqa: E731
    return cond(x.sum() > 0, chosen, lambda p: p + 1, (x,))


def in_a_loop(x: Tensor) -> Tensor:
    step = lambda i, p: (i + 1, p.index_add(0, rows(), p[1:3]))  # noqa: E731
    return while_loop(lambda i, p: i < torch.tensor(3), step, (torch.tensor(0), x.clone()))[1]


def in_a_branch_in_a_loop(x: Tensor) -> Tensor:
    step = lambda i, p: (i + torch.tensor(1), in_both_branches(p))  # noqa: E731
    return while_loop(lambda i, p: i < 2, step, (torch.tensor(0), x.clone()))[1]


def in_a_loop_in_a_branch(x: Tensor) -> Tensor:
    return cond(x.sum() > 0, in_a_loop, lambda p: p + torch.tensor(1.0), (x,))


class Writing(torch.nn.Module):
    """A body, and writes through a view and to state."""

    def __init__(self, body: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.body = body
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y, z = self.body(x), x.clone()
        self.calls.add_(1)
        z.view(-1).abs_()
        return y, z + self.calls


BODIES = (
    in_a_branch,
    in_both_branches,
    in_a_loop,
    in_a_branch_in_a_loop,
    in_a_loop_in_a_branch,
)


@pytest.mark.parametrize("varies", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize(
    "output_type, engine",
    [("linalg-on-tensors", "iree"), ("stablehlo", "xla"), ("onnx", "onnxruntime")],
)
@pytest.mark.share(6)
def test_agrees_with_eager(output_type: str, engine: str, varies: bool) -> None:
    def new() -> Any:
        count = int(torch.randint(3, 7, ())) if varies else 3
        return ({body.__name__: (torch.randn(count, 4),) for body in BODIES},)

    shapes = ({body.__name__: ({0: Dim("rows", min=3, max=8)},) for body in BODIES},)
    agrees_with_eager(
        Together({body.__name__: Writing(body) for body in BODIES}),
        new,
        output_type=output_type,
        engine=engine,
        dynamic_shapes=shapes if varies else None,
    )


@pytest.mark.parametrize("body", [selected_in_a_branch, written_in_a_branch])
@pytest.mark.parametrize(
    "output_type, engine", [("linalg-on-tensors", "reference"), ("stablehlo", "xla")]
)
@pytest.mark.share(2)
def test_they_have_the_sizes_they_have(
    body: Callable[[Tensor], Tensor], output_type: str, engine: str
) -> None:
    """They were tensors of any size, so that branches had results of different types, and one could be refused."""
    new = lambda: (torch.randn(3, 4),)  # noqa: E731
    agrees_with_eager(Writing(body), new, output_type=output_type, engine=engine)
