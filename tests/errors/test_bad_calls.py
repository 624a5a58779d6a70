"""Calls of a compiled function with arguments it was not captured for."""

from __future__ import annotations

import builtins
import sys
from typing import Any

import pytest
import torch
from torch import nn

import torch2mlir
from torch2mlir.errors import EngineError, InputError
from torch2mlir.runtime import engine as engines
from torch2mlir.runtime.compiled import CompiledFunction


class Scaled(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor, negate: bool = False) -> torch.Tensor:
        return -(x * y) if negate else x * y


@pytest.fixture(scope="module")
def static() -> CompiledFunction:
    return torch2mlir.compile(Scaled(), torch.ones(2, 3), torch.ones(3))


@pytest.fixture(scope="module")
def dynamic() -> CompiledFunction:
    batch = torch.export.Dim("batch", min=2, max=8)
    shapes = ({0: batch}, {0: batch}, None)
    return torch2mlir.compile(
        Scaled(), torch.ones(2, 3), torch.ones(2, 3), False, dynamic_shapes=shapes
    )


def refused(function: CompiledFunction, *args: Any, **kwargs: Any) -> str:
    with pytest.raises(InputError) as caught:
        function(*args, **kwargs)
    assert isinstance(caught.value, ValueError)
    assert "TreeSpec" not in str(caught.value)
    return str(caught.value)


def test_too_few(static: CompiledFunction) -> None:
    message = refused(static, torch.ones(2, 3))
    assert "takes 2 inputs (x, y), got 1" in message


def test_too_many(static: CompiledFunction) -> None:
    message = refused(static, torch.ones(2, 3), torch.ones(3), torch.ones(3))
    assert "'negate' was left at its default at capture" in message
    message = refused(static, torch.ones(2, 3), torch.ones(3), False, torch.ones(3))
    assert "takes 2 inputs (x, y), got 4: too many positional arguments" in message


def test_unknown_keyword(static: CompiledFunction) -> None:
    message = refused(static, torch.ones(2, 3), z=torch.ones(3))
    assert "structured" in message and "next:" in message


def test_wrong_dtype(static: CompiledFunction) -> None:
    message = refused(static, torch.ones(2, 3), torch.ones(3, dtype=torch.int64))
    assert "input 'y' should be torch.float32, got torch.int64" in message
    assert ".to(torch.float32)" in message


def test_wrong_rank(static: CompiledFunction) -> None:
    message = refused(static, torch.ones(6), torch.ones(3))
    assert "input 'x' should have rank 2" in message and "[6]" in message


def test_wrong_static_size(static: CompiledFunction) -> None:
    message = refused(static, torch.ones(5, 3), torch.ones(3))
    assert "input 'x' should have size 2 in dimension 0, got 5" in message
    assert "dynamic_shapes" in message


def test_not_a_tensor(static: CompiledFunction) -> None:
    assert "input 'y' should be a tensor" in refused(static, torch.ones(2, 3), 1.0)


def test_wrong_nesting(static: CompiledFunction) -> None:
    assert "input 'x' should be a tensor, got [" in refused(
        static, [torch.ones(2, 3)], torch.ones(3)
    )


def test_sizes_that_should_be_equal(dynamic: CompiledFunction) -> None:
    message = refused(dynamic, torch.ones(4, 3), torch.ones(5, 3), False)
    assert "input 'y' should have size" in message and "got 5" in message


def test_size_out_of_range(dynamic: CompiledFunction) -> None:
    message = refused(dynamic, torch.ones(9, 3), torch.ones(9, 3), False)
    assert "the size 'batch' in dimension 0 of input 'x' is 9, outside the range 2 to 8" in message


def test_constant_argument_changed(dynamic: CompiledFunction) -> None:
    message = refused(dynamic, torch.ones(4, 3), torch.ones(4, 3), True)
    assert "'negate' was fixed to False at capture, got True" in message


def test_sparse_tensor(static: CompiledFunction) -> None:
    message = refused(static, torch.ones(2, 3).to_sparse(), torch.ones(3))
    assert "dense" in message


def test_a_failed_call_leaves_the_function_usable(static: CompiledFunction) -> None:
    refused(static, torch.ones(2, 3))
    assert torch.equal(static(torch.ones(2, 3), torch.ones(3)), torch.ones(2, 3))


class Nested(nn.Module):
    """Takes containers, names and defaults."""

    def forward(
        self,
        pair: list[torch.Tensor],
        by_name: dict[str, torch.Tensor],
        scale: float = 2.0,
        *,
        shift: torch.Tensor | None = None,
    ) -> torch.Tensor:
        result = (pair[0] - pair[1]) * scale + by_name["a"] / by_name["b"]
        return result if shift is None else result + shift


def test_a_call_is_arranged_as_python_does() -> None:
    def tensors() -> list[torch.Tensor]:
        return [torch.rand(3) + 0.5 for _ in range(5)]

    p, q, a, b, s = tensors()
    model = Nested()
    compiled = torch2mlir.compile(model, [p, q], {"a": a, "b": b}, shift=s)
    for _ in range(3):
        p, q, a, b, s = tensors()
        expected = model([p, q], {"a": a, "b": b}, shift=s)
        for result in (
            compiled([p, q], {"a": a, "b": b}, shift=s),
            compiled((p, q), {"b": b, "a": a}, shift=s),
            compiled(pair=[p, q], by_name={"a": a, "b": b}, shift=s),
            compiled([p, q], {"a": a, "b": b}, 2.0, shift=s),
            compiled(shift=s, scale=2.0, by_name={"b": b, "a": a}, pair=[p, q]),
        ):
            assert torch.allclose(result, expected)
    with pytest.raises(InputError, match="'scale' was left at its default at capture, got 3.0"):
        compiled([p, q], {"a": a, "b": b}, 3.0, shift=s)
    with pytest.raises(InputError, match="'pair' should be a list of 2, got a list of 1"):
        compiled([p], {"a": a, "b": b}, shift=s)
    with pytest.raises(InputError, match="'by_name' should be a dictionary with the keys 'a', 'b'"):
        compiled([p, q], {"a": a}, shift=s)
    with pytest.raises(InputError, match="unexpected keyword argument 'shfit'"):
        compiled([p, q], {"a": a, "b": b}, shfit=s)


@pytest.mark.parametrize(
    "engine, output_type, package",
    [("xla", "stablehlo", "jax"), ("iree", "linalg-on-tensors", "iree")],
)
def test_an_engine_that_is_not_installed_names_the_extra(
    engine: str, output_type: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_import = builtins.__import__

    def without_package(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.partition(".")[0] == package:
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)
        return real_import(name, *args, **kwargs)

    monkeypatch.delitem(engines._engines, engine, raising=False)
    monkeypatch.delitem(sys.modules, f"torch2mlir.runtime.{engine}", raising=False)
    monkeypatch.setattr(builtins, "__import__", without_package)
    with pytest.raises(EngineError) as caught:
        torch2mlir.compile(nn.ReLU(), torch.ones(3), output_type=output_type, engine=engine)
    assert "not installed" in str(caught.value)
    assert f"pip install 'torch2mlir[{engine}]'" in str(caught.value)


def test_more_named_arguments_than_the_example_had() -> None:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, *, mask: Any = None, **others: Any) -> torch.Tensor:
            return x * others["scale"] if mask is None else x * mask

    x = torch.ones(3)
    compiled = torch2mlir.compile(Model(), x, scale=x * 2)
    assert torch.equal(compiled(x, scale=x * 3, mask=None), x * 3)
    with pytest.raises(InputError, match="'shift' was left at its default at capture"):
        compiled(x, scale=x, shift=x)


def test_buckets_without_names() -> None:
    with pytest.raises(InputError, match="sizes by name, not a list"):
        torch2mlir.compile(lambda x: x + 1, torch.ones(3), engine="xla", buckets=[3])  # type: ignore[arg-type]
