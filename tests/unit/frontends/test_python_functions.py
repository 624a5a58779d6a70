"""``len``, ``isinstance``, ``type`` and ``divmod`` of tensors and sizes that vary, as models call them."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable
from numbers import Integral, Number
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim

import torch2mlir
from tests.e2e.agreement import assert_agrees
from tests.e2e.configurations import TARGETS, require
from torch2mlir.frontends.fx import python_functions


def mean(x: Tensor) -> Tensor:
    return x.sum(0) / len(x)


def rows_apart(x: Tensor) -> Tensor:
    count = len(x)
    return torch.arange(count).unsqueeze(1) + x.reshape(count, -1) * len([1, 2])


def by_kind(x: Tensor) -> Tensor:
    """Every branch is that of plain numbers."""
    size = x.shape[0]
    wrong = [
        not isinstance(size, int),
        not isinstance(size, (str, int)),
        not isinstance(size, int | None),
        not isinstance(size, Integral),
        not isinstance(size * 0.5, Number),
        not isinstance(size * 0.5, float),
        isinstance(size * 0.5, int),
        isinstance(size, float),
        isinstance(size, str),
        not isinstance(len(x), int),
    ]
    return x * 2 if not any(wrong) else x * 3


def by_type(x: Tensor) -> Tensor:
    """Every branch is that of plain numbers and tensors."""
    size = x.shape[0]
    wrong = [
        type(size) is not int,
        type(size) not in (int, float),
        type(size).__name__ != "int",
        type(size * 0.5) is not float,
        type(x) is not Tensor,
        type(x * 2) is not Tensor,
        type(x.shape) is not torch.Size,
        type("Made", (), {}).__name__ != "Made",
        not isinstance(int, type),
        not isinstance(int, (str, type)),
        isinstance(size, type),
        not issubclass(type(int), type),
        type(int) is not type,
        type(None) is not None.__class__,
        type.mro(int) != [int, object],
    ]
    return x * 2 if not any(wrong) else x * 3


def in_halves(x: Tensor) -> Tensor:
    half, left = divmod(x.shape[0], 2)
    return x * half + left + divmod(7, 2)[0]


class OfParameters(nn.Module):
    """``type`` of what it keeps."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(2.0), requires_grad=False)
        self.shift = nn.Buffer(torch.tensor(1.0))

    def forward(self, x: Tensor) -> Tensor:
        if type(self.scale) is nn.Parameter and type(self.shift) is Tensor:
            return x * self.scale + self.shift
        return x


class Counting:
    """An object of the user's own, with attributes on demand."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    def counted(self, x: Tensor, times: int) -> int:
        return len(x) * times if isinstance(x.shape[0], int) else 0


COUNTING = Counting()
HELPERS = ModuleType("helpers")
exec("def rows(x):\n    return len(x)", HELPERS.__dict__)


class OfObjects(nn.Module):
    """Its code is in methods and functions that objects, containers, partial functions and other files hold."""

    def __init__(self) -> None:
        super().__init__()
        self.steps = [functools.partial(Counting().counted, times=2)]
        self.kinds = {"count": Counting()}

    def forward(self, x: Tensor) -> Tensor:
        return x * self.steps[0](x) + self.kinds["count"].counted(x, 3)


def of_files(x: Tensor) -> Tensor:
    return x * HELPERS.rows(x) + COUNTING.counted(x, 2)


class OfHelpers(nn.Module):
    """Its size is asked for in functions beside it, one in a variable around another."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = _twice(_count)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.scale(x)


def _count(x: Tensor) -> int:
    return len(x)


def _twice(function: Callable[..., Any]) -> Callable[..., Any]:
    def called(*args: Any) -> Any:
        return 2 * function(*args)

    return called


MODELS = {
    "len": mean,
    "len_of_rows": rows_apart,
    "isinstance": by_kind,
    "type": by_type,
    "type_of_parameters": OfParameters(),
    "divmod": in_halves,
    "helpers": OfHelpers(),
    "objects": OfObjects(),
    "files": of_files,
}


def _kind_and_length(x: Tensor) -> Tensor:
    scale = 2 if isinstance(x.shape[0], int) and type(x.shape[0]) is int else 3
    return x * scale + len(x)


def in_branch(x: Tensor) -> Tensor:
    return torch.cond(x.sum() > 0, _kind_and_length, lambda x: _kind_and_length(x) * 5, (x,))


def in_loop(x: Tensor) -> Tensor:
    return torch.while_loop(lambda x: x.sum() < 1000, _kind_and_length, (x.abs() + 1,))[0]


def in_vmap(x: Tensor) -> Tensor:
    return torch.vmap(_kind_and_length, in_dims=1, out_dims=1)(x)


def in_checkpoint(x: Tensor) -> Tensor:
    return torch.utils.checkpoint.checkpoint(_kind_and_length, x, use_reentrant=False)


def in_gradient(x: Tensor) -> Tensor:
    return torch.func.grad(lambda x: (_kind_and_length(x) * x).sum())(x)


WITHIN = (in_branch, in_loop, in_vmap, in_checkpoint, in_gradient)


def assert_no_trace() -> None:
    assert python_functions._holders == {}
    for space in (globals(), nn.functional.__dict__):
        assert not python_functions._FUNCTIONS.keys() & space.keys()


@pytest.mark.share(6)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("output_type, engine", TARGETS)
def test_sizes_that_vary(name: str, output_type: str, engine: str) -> None:
    require(engine)
    model = MODELS[name]
    compiled = torch2mlir.compile(
        model,
        torch.randn(9, 3),
        dynamic_shapes=({0: Dim("rows", min=2, max=64)},),
        output_type=output_type,
        engine=engine,
    )
    assert_no_trace()
    for rows in (9, 4, 7, 64):
        x = torch.randn(rows, 3)
        assert_agrees(compiled(x), model(x))


@pytest.mark.parametrize("function", WITHIN, ids=lambda function: function.__name__)
def test_functions_that_pytorch_traces_for_themselves(function: Callable[..., Tensor]) -> None:
    shapes = ({0: Dim("rows", min=2, max=64)},)
    compiled = torch2mlir.compile(function, torch.randn(9, 3), dynamic_shapes=shapes)
    assert_no_trace()
    for rows in (9, 4, 7, 64):
        x = torch.randn(rows, 3)
        assert_agrees(compiled(x), function(x))


@pytest.mark.parametrize("name", MODELS)
def test_optimize_captures_once(name: str) -> None:
    function = MODELS[name]

    class Model(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return function(x)

    model = Model()
    optimized = torch2mlir.optimize(model)
    for rows in (9, 4, 7, 6):
        x = torch.randn(rows, 3)
        assert_agrees(optimized(x), model(x))
    assert "graph 1" not in str(optimized.report())


def test_what_has_no_length_raises() -> None:
    with pytest.raises(torch2mlir.CaptureError, match="len"):
        torch2mlir.compile(mean, torch.tensor(1.0))
    assert_no_trace()


def test_names_of_the_models_own_are_kept() -> None:
    """A file that has a function of the name calls its own."""
    space = {"len": lambda x: 7, "torch": torch}
    exec("def own(x):\n    return x * len(x) + isinstance(x.shape[0], int)", space)
    own, before = space["own"], dict(space)
    shapes = ({0: Dim("rows", min=2)},)
    compiled = torch2mlir.compile(own, torch.randn(4), dynamic_shapes=shapes)
    for rows in (4, 6, 3):
        x = torch.randn(rows)
        torch.testing.assert_close(compiled(x), x * 7 + 1)
    assert space == before
    assert builtins.len("two") == 3


def test_two_captures_at_once_take_them_back() -> None:
    with python_functions.python_functions_of_sizes(mean):
        with python_functions.python_functions_of_sizes(rows_apart):
            assert globals()["len"](torch.ones(3, 2)) == 3
        assert "len" in globals()
        with (
            pytest.raises(ValueError, match="enough"),
            python_functions.python_functions_of_sizes(by_kind),
        ):
            raise ValueError("enough")
        assert "len" in globals()
    assert_no_trace()
