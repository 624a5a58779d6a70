"""A user's op from torch.library to every engine, with a lowering in the user's own file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn

import torch2mlir
from torch2mlir.conversion import registry
from torch2mlir.dialects import stablehlo, tosa

NAME = "torch2mlir_own::wave"


@pytest.fixture
def wave() -> Iterator[Any]:
    """``wave(x) = cos(x)``, opaque to PyTorch's decompositions."""
    with torch.library._scoped_library("torch2mlir_own", "FRAGMENT") as library:
        library.define("wave(Tensor x) -> Tensor")
        library.impl("wave", torch.cos, "CPU")
        library._register_fake("wave", torch.empty_like)
        yield lambda x: torch.ops.torch2mlir_own.wave(x) + 1


@pytest.fixture(autouse=True)
def registries_as_they_were() -> Iterator[None]:
    for target in registry.TARGETS:
        registry.lowering_functions(target)
    lowerings = {target: dict(table) for target, table in registry._LOWERINGS.items()}
    own = {target: set(names) for target, names in registry._OWN.items()}
    yield
    for target in registry.TARGETS:
        registry._LOWERINGS[target].clear()
        registry._LOWERINGS[target].update(lowerings[target])
        registry._OWN[target].clear()
        registry._OWN[target].update(own[target])


def test_to_stablehlo(wave: Any) -> None:
    @torch2mlir.lowering(NAME, "stablehlo")
    def lower_wave(lower: Any, x: Any) -> Any:
        return lower.elementwise(stablehlo.CosineOp, x)

    x = torch.linspace(-3, 3, 7)
    compiled = torch2mlir.compile(wave, x)
    torch.testing.assert_close(compiled(x), wave(x))


def test_to_linalg(wave: Any) -> None:
    @torch2mlir.lowering(NAME, "linalg-on-tensors")
    def lower_wave(lower: Any, x: Any) -> Any:
        return lower.elementwise(lambda s, element: s("cos", element), x)

    x = torch.linspace(-3, 3, 7)
    compiled = torch2mlir.compile(wave, x, output_type="linalg-on-tensors", engine="reference")
    torch.testing.assert_close(compiled(x), wave(x))


def test_to_tosa(wave: Any) -> None:
    @torch2mlir.lowering(NAME, "tosa")
    def lower_wave(lower: Any, x: Any) -> Any:
        return lower.elementwise(tosa.CosOp, x)

    x = torch.linspace(-3, 3, 7)
    compiled = torch2mlir.compile(wave, x, output_type="tosa")
    torch.testing.assert_close(compiled(x), wave(x))


def test_a_lowering_keeps_an_op_whole_that_would_be_decomposed() -> None:
    @torch2mlir.lowering("aten::gelu", "stablehlo")
    def lower_gelu(lower: Any, x: Any, approximate: str) -> Any:
        assert approximate == "none"
        return lower.elementwise(stablehlo.NegOp, x)

    x = torch.randn(5)
    assert torch.equal(torch2mlir.compile(nn.GELU(), x)(x), -x)
    linalg = torch2mlir.compile(nn.GELU(), x, output_type="linalg-on-tensors", engine="reference")
    torch.testing.assert_close(linalg(x), nn.functional.gelu(x))


def test_kept_ops_stay_whole_in_the_contract() -> None:
    module = torch2mlir.export_and_import(
        nn.GELU(), torch.ones(3), output_type="torch", backend_legal_ops=["aten.gelu"]
    )
    assert "torch.aten.gelu" in str(module)
