"""What ``with torch.no_grad():`` and its kin write to: an exported program has them as bodies of their own.

A running mean, a codebook or the momentum of a teacher's weights, updated in such a region, stayed what it was, in silence.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.export import Dim

import torch2mlir
from torch2mlir.frontends.fx.regions import without_regions


class Model(nn.Module):
    """State to write to."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.register_buffer("codes", torch.randn(3, 4))
        self.register_buffer("count", torch.zeros((), dtype=torch.long))
        self.weight = nn.Parameter(torch.ones(4))
        self.student, self.teacher = nn.Linear(4, 4), nn.Linear(4, 4)


class Counted(Model):
    def forward(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            self.count += 1
        return x * self.count


class Momentum(Model):
    @torch.no_grad()
    def _update(self) -> None:
        for one, other in zip(self.student.parameters(), self.teacher.parameters(), strict=True):
            other.mul_(0.9).add_(one, alpha=0.1)

    def forward(self, x: Tensor) -> Tensor:
        self._update()
        return self.teacher(x).detach()


class Codebook(Model):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        with torch.no_grad():
            nearest = (x @ self.codes.T).argmax(1)
            hits = F.one_hot(nearest, 3).float()
            self.codes.mul_(0.9).add_(hits.T @ x, alpha=0.1)
        return self.codes[nearest], nearest


class Argument(Model):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        with torch.no_grad():
            y = x.view(-1)
            y[:2] = 0
        return x * 2, y + 1


class Nested(Model):
    def forward(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            a = x + 1
            self.codes.add_(1)
            with torch.enable_grad():
                b = a * self.weight
                self.codes.mul_(0.5)
            self.count.add_(2)
        return (a + b + self.codes.sum() * self.count).detach()


class Viewed(Model):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        first = self.codes[0]
        with torch.no_grad():
            self.codes.add_(1)
        return first * x, self.codes.T + 0


class Twice(Model):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        with torch.no_grad():
            self.codes.add_(1)
        y = x * self.codes.sum()
        with torch.no_grad():
            self.codes.mul_(0.5)
            self.count.add_(1)
        return y + self.codes.mean() + self.count, self.codes.clone()


class Chosen(Model):
    def forward(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            y = torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))
            self.codes.add_(y.mean())
        return y * self.codes.sum()


class Sized(Model):
    def forward(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            places = torch.arange(x.shape[0])
            self.count.add_(x.shape[0])
            y = x * places[:, None]
        return y * self.count


class Returned(Model):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, None]:
        with torch.no_grad():
            return x + 1, self.codes.add_(x.mean()).clone(), None


MODELS: tuple[type[Model], ...] = (
    Counted,
    Momentum,
    Codebook,
    Argument,
    Nested,
    Viewed,
    Twice,
    Chosen,
    Sized,
    Returned,
)
Call = Callable[..., Any]


def _compiled(model: nn.Module, x: Tensor) -> Call:
    return torch2mlir.compile(model, x)


def _for_all_sizes(model: nn.Module, x: Tensor) -> Call:
    shapes = ({0: Dim.AUTO},)
    return torch2mlir.compile(model, x, engine="iree", dynamic_shapes=shapes)


def _without_gradients(model: nn.Module, x: Tensor) -> Call:
    with torch.no_grad():
        return torch2mlir.compile(model, x, engine="reference")


def _exported(model: nn.Module, x: Tensor) -> Call:
    return torch2mlir.compile(torch.export.export(model, (x,)), engine="reference")


def _optimized(model: nn.Module, x: Tensor) -> Call:
    return torch2mlir.optimize(model, model_inputs=(x,))


def _by_dynamo(model: nn.Module, x: Tensor) -> Call:
    torch._dynamo.reset()
    return torch.compile(model, backend="torch2mlir")


ENTRANCES = (_compiled, _for_all_sizes, _without_gradients, _exported, _optimized, _by_dynamo)


@pytest.mark.parametrize("entrance", ENTRANCES, ids=lambda entrance: entrance.__name__)
@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.share(40)
def test_what_a_region_writes_is_written(kind: type[Model], entrance: Call) -> None:
    ours, theirs = kind(), kind()
    before = copy.deepcopy(ours.state_dict())
    call = entrance(ours, torch.randn(5, 4))
    torch.testing.assert_close(ours.state_dict(), before, rtol=0, atol=0)
    for _ in range(3):
        x = torch.randn(5, 4)
        given, taken = x.clone(), x.clone()
        with torch.no_grad():
            found, expected = call(given), theirs(taken)
        torch.testing.assert_close(found, expected)
        torch.testing.assert_close(given, taken)
        torch.testing.assert_close(ours.state_dict(), theirs.state_dict())


class Scripted(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
            if bool(x.sum() > 0):
                x = x * 2
        return x - self.mean


def test_torchscript_has_them_too() -> None:
    ours, theirs = torch.jit.script(Scripted()), Scripted()
    call = torch2mlir.compile(ours, torch.randn(5, 4), engine="reference")
    for _ in range(3):
        x = torch.randn(5, 4)
        torch.testing.assert_close(call(x), theirs(x))
        torch.testing.assert_close(ours.mean, theirs.mean)


def test_a_program_stays_as_it_is() -> None:
    program = torch.export.export(Nested(), (torch.randn(5, 4),))
    before = str(program)
    flat = without_regions(program)
    assert "wrap_with" not in str(flat)
    assert str(program) == before
    plain = torch.export.export(nn.Linear(4, 4), (torch.randn(5, 4),))
    assert without_regions(plain) is plain


class NamedLikeFunctions(Model):
    """A graph that is copied takes no name of Python's for an argument: spectral norms of linear layers have `input`."""

    def forward(self, input: Tensor, max: Tensor) -> tuple[Tensor, Tensor]:
        with torch.no_grad():
            self.weight.mul_(0.5).add_(input.mean(0))
            input.add_(1)
        return input * self.weight, max


@torch.no_grad()
@pytest.mark.parametrize("output_type", ["stablehlo", "linalg-on-tensors", "tosa", "onnx"])
@pytest.mark.share(2)
def test_arguments_with_names_of_functions(output_type: str) -> None:
    model, eager = NamedLikeFunctions(), NamedLikeFunctions()
    compiled = torch2mlir.compile(model, torch.randn(3, 4), torch.randn(4), output_type=output_type)
    for _ in range(3):
        ours, other = torch.randn(3, 4), torch.randn(4)
        theirs = ours.clone()
        torch.testing.assert_close(compiled(ours, other), eager(theirs, other))
        torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(model.state_dict(), eager.state_dict())
