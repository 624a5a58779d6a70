"""Lists and dictionaries that a model is given and changes: a compiled program left them as they were, in silence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils import _pytree as pytree

import torch2mlir
from torch2mlir.errors import CaptureError, InputError


class OfBatch(nn.Module):
    """A function of a dictionary as a module."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, batch: Any) -> Any:
        return self.function(batch)


def _appended(batch: dict[str, Any]) -> Tensor:
    batch["seen"].append(batch["x"] + 1)
    return batch["x"] * 2


def _set(batch: dict[str, Any]) -> Tensor:
    batch["y"] = batch["x"] + 1
    return batch["y"] * 2


def _replaced(batch: dict[str, Any]) -> Tensor:
    batch["x"] = batch["x"] * 2
    return batch["x"] + 1


def _popped(batch: dict[str, Any]) -> Tensor:
    return batch.pop("x") + 1


def _set_by_bytecode(batch: dict[str, Any]) -> tuple[Tensor, int]:
    number = int((batch["x"] > 0).sum())
    batch["y"] = batch["x"] + 1
    return batch["y"] * 2, number


def _batch() -> dict[str, Any]:
    return {"x": torch.randn(3), "seen": []}


CHANGING = (_appended, _set, _replaced, _popped, _set_by_bytecode)


@pytest.mark.parametrize("function", CHANGING)
def test_changes_are_refused(function: Callable[[Any], Any]) -> None:
    with pytest.raises(CaptureError, match="changes a list or dictionary that it is given"):
        torch2mlir.compile(OfBatch(function), _batch(), engine="reference")


@pytest.mark.parametrize("function", [_set, _replaced, _popped])
def test_the_way_out(function: Callable[[Any], Any]) -> None:
    model = OfBatch(function)
    ours = torch2mlir.compile(lambda batch: model(dict(batch)), _batch(), engine="reference")
    for _ in range(3):
        batch = _batch()
        torch.testing.assert_close(ours(batch), function(dict(batch)))
        assert list(batch) == ["x", "seen"]


@pytest.mark.parametrize("function", CHANGING)
def test_optimize_makes_them(function: Callable[[Any], Any]) -> None:
    ours = torch2mlir.optimize(OfBatch(function), model_inputs=(_batch(),))
    for _ in range(3):
        batch = _batch()
        same = {"x": batch["x"], "seen": []}
        torch.testing.assert_close(ours(batch), function(same))
        torch.testing.assert_close(batch, same)


def test_an_expanded_argument_is_not_written() -> None:
    """PyTorch's own error came, after the program had run."""

    def doubled(x: Tensor) -> Tensor:
        return x.mul_(2).sum()

    ours = torch2mlir.compile(doubled, torch.randn(3, 4), engine="reference")
    with pytest.raises(InputError, match="several of whose elements are one place"):
        ours(torch.randn(1, 4).expand(3, 4))
    for _ in range(2):
        x = torch.randn(3, 4)
        torch.testing.assert_close(ours(x.clone()), doubled(x))


class Tensors:
    """A container that PyTorch knows, as ``TensorDict``."""

    def __init__(self, **tensors: Tensor) -> None:
        self.tensors = tensors


pytree.register_pytree_node(
    Tensors,
    lambda given: (list(given.tensors.values()), list(given.tensors)),
    lambda values, keys: Tensors(**dict(zip(keys, values, strict=True))),
    serialized_type_name="tests.Tensors",
    flatten_with_keys_fn=lambda given: (
        [(pytree.MappingKey(key), tensor) for key, tensor in given.tensors.items()],
        list(given.tensors),
    ),
)


def _doubled(given: Tensors) -> Tensors:
    given.tensors["y"] = given.tensors["x"] * 2
    return given


def _tensors() -> Tensors:
    return Tensors(x=torch.ones(3), y=torch.zeros(3))


def test_containers_of_others_are_no_exception() -> None:
    model = OfBatch(_doubled)
    with pytest.raises(CaptureError, match="a list, a dictionary or a Tensors that it is given"):
        torch2mlir.compile(model, _tensors())
    optimized = torch2mlir.optimize(model, model_inputs=(_tensors(),))
    for _ in range(2):
        given = _tensors()
        assert optimized(given) is given
        assert given.tensors["y"].tolist() == [2.0, 2.0, 2.0]


def test_containers_of_others_that_are_read() -> None:
    compiled: Any = torch2mlir.compile(
        OfBatch(lambda given: given.tensors["x"] + given.tensors["y"]), _tensors(), engine="xla"
    )
    assert torch.equal(compiled(_tensors()), torch.ones(3))
