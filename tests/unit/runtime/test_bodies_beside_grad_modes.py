"""Branches and loops in one another, in models that change the grad mode: PyTorch's capture loses the inner ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from repeated_calls import Together, agrees_with_eager
from torch import Tensor, cond
from torch._higher_order_ops.while_loop import while_loop

import torch2mlir
from torch2mlir.errors import CaptureError
from torch2mlir.frontends.fx.exported import import_graph_module


def doubled(x: Tensor) -> Tensor:
    step = lambda i, p: (i + 1, p * 2)  # noqa: E731
    return while_loop(lambda i, p: i < 3, step, (torch.tensor(0), x.clone()))[1]


def nested(x: Tensor) -> Tensor:
    return cond(x.sum() > 0, doubled, lambda p: p - 1, (x,))


class Decorated(torch.nn.Module):
    @torch.no_grad()
    def forward(self, x: Tensor) -> Tensor:
        return nested(x)


def beside(x: Tensor) -> tuple[Tensor, Tensor]:
    with torch.no_grad():
        y = x.relu()
    return nested(x), y


def within(x: Tensor) -> Tensor:
    with torch.no_grad():
        y = nested(x.relu() - 0.4)
    with torch.enable_grad():
        return nested(-y)


def in_a_body(x: Tensor) -> Tensor:
    return cond(x.sum() > 0, torch.no_grad()(nested), lambda p: p * 3, (x,))


PROGRAMS: dict[str, Callable[..., Any]] = {
    "decorated": Decorated(),
    "beside": beside,
    "within": within,
    "in_a_body": in_a_body,
}


@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.share(2)
def test_compiled(grad: bool) -> None:
    with torch.set_grad_enabled(grad):
        agrees_with_eager(
            Together(PROGRAMS), lambda: ({name: (torch.randn(3, 4),) for name in PROGRAMS},)
        )
        assert torch.is_grad_enabled() == grad


class Updating(torch.nn.Module):
    """Writes to what a body has made itself are nobody else's."""

    def forward(self, x: Tensor) -> Tensor:
        def updated(p: Tensor) -> Tensor:
            q = p.clone()
            q.view(-1)[::2] *= torch.tensor(-2.0)
            return q.add_(p)

        return cond(x.sum() > 0, updated, lambda p: p - 1, (x * 2,))


@torch.no_grad()
def test_a_body_that_cannot_be_said_as_values_stays_in_pytorch() -> None:
    """A program that draws random numbers is not traced again, which would draw others."""

    class Drawing(Updating):
        def forward(self, x: Tensor) -> Tensor:
            return super().forward(x) + torch.rand(3, 4)

    model = Drawing()
    run = torch2mlir.optimize(model, model_inputs=(-torch.ones(3, 4),), engine="iree")
    for seed, sign in enumerate((1, -1, 1)):
        x = torch.rand(3, 4) * sign
        torch.manual_seed(seed)
        expected = model(x)
        torch.manual_seed(seed)
        torch.testing.assert_close(run(x), expected)


def test_such_a_body_is_refused_as_it_is() -> None:
    graph = torch.export.export(Updating(), (torch.randn(3, 4),)).graph_module
    with pytest.raises(CaptureError, match="through views"):
        import_graph_module(graph)


@pytest.mark.share(2)
@pytest.mark.parametrize("model", [Decorated(), Updating()], ids=["decorated", "updating"])
@torch.no_grad()
def test_optimized(model: torch.nn.Module) -> None:
    run = torch2mlir.optimize(model, model_inputs=(torch.randn(3, 4),))
    for _ in range(3):
        x = torch.randn(3, 4)
        torch.testing.assert_close(run(x), model(x))
    assert run.report().compiled_share == 1
