"""Weights inline, beside the text, and as arguments: exact, shared where tied, never copied."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import nn

import torch2mlir
from torch2mlir.dialects.parser import parse_module
from torch2mlir.dialects.printer import weights_of
from torch2mlir.dialects.weights import TensorSource
from torch2mlir.frontends.weights import TorchSource
from torch2mlir.module import MlirModule
from torch2mlir.program import StateInput

DTYPES = [
    torch.float32,
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
]


class Weighted(nn.Module):
    """One buffer of a dtype."""

    def __init__(self, tensor: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("weight", tensor)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x, self.weight


class Tied(nn.Module):
    """The same parameter under two names."""

    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Linear(8, 8, bias=False)
        self.other = nn.Linear(8, 8, bias=False)
        self.other.weight = self.one.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.other(self.one(x))


def bytes_of(tensor: torch.Tensor) -> bytes:
    return bytes(TorchSource("weight", tensor).view())


def read_back(module: MlirModule) -> list[TensorSource]:
    return list(weights_of(parse_module(str(module))))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_inline_text_holds_the_exact_bytes(dtype: torch.dtype) -> None:
    weight = (torch.randn(5, 7) * 50).to(dtype)
    module = torch2mlir.export_and_import(Weighted(weight), torch.ones(2))
    (source,) = read_back(module)
    assert bytes(source.view()) == bytes_of(weight)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64], ids=str)
def test_few_elements_are_readable_and_exact(dtype: torch.dtype) -> None:
    weight = torch.tensor([1.0, -2.5, 3.0]).to(dtype)
    text = str(torch2mlir.export_and_import(Weighted(weight), torch.ones(2)))
    assert "dense<[" in text and "dense_resource" not in text


def test_text_without_weights_is_small() -> None:
    module = torch2mlir.export_and_import(
        Weighted(torch.randn(100, 100)), torch.ones(2), weights="external"
    )
    assert len(str(module)) < 2000


def test_strided_weights_are_written_in_row_major_order() -> None:
    weight = torch.arange(35.0).reshape(7, 5).t()
    (source,) = read_back(torch2mlir.export_and_import(Weighted(weight), torch.ones(2)))
    assert bytes(source.view()) == bytes_of(weight.contiguous())


@pytest.mark.parametrize("output_type", ["raw", "torch", "linalg-on-tensors", "tosa", "stablehlo"])
def test_weights_in_the_ir_are_the_models_own_memory(output_type: str) -> None:
    model = nn.Linear(32, 16)
    module = torch2mlir.export_and_import(model, torch.ones(2, 32), output_type=output_type)
    addresses = {s.tensor.data_ptr() for s in weights_of(module.operation)}  # type: ignore[attr-defined]
    assert model.weight.data_ptr() in addresses


def test_external_weights_are_saved_beside_the_text(tmp_path: Path) -> None:
    model = nn.Linear(32, 16)
    module = torch2mlir.export_and_import(model, torch.ones(2, 32), weights="external")
    text, tensors = module.save(tmp_path / "model.mlir")
    assert tensors == tmp_path / "model.safetensors"
    assert "dense_resource<" in text.read_text() and "dialect_resources" not in text.read_text()
    saved = load_file(tensors)
    assert set(saved) == set(module.named_weights())
    assert any(torch.equal(tensor, model.weight) for tensor in saved.values())
    for name in saved:
        assert name in text.read_text()


def test_arguments_come_after_the_users_own(tmp_path: Path) -> None:
    model = nn.Linear(32, 16)
    module = torch2mlir.export_and_import(
        model, torch.ones(2, 32), weights="arguments", output_type="stablehlo"
    )
    state = module.program.signature.state_inputs
    assert [s.tensor.data_ptr() for s in state] == [
        s.data_ptr() for s in (model.weight, model.bias)
    ]
    assert all(isinstance(i, StateInput) for i in module.program.signature.inputs[1:])
    assert "dense" not in str(module).replace("dense_", "")
    module.save(tmp_path / "model.mlir")
    assert len(load_file(tmp_path / "model.safetensors")) == 2


def test_tied_weights_are_one_weight(tmp_path: Path) -> None:
    model = Tied()
    module = torch2mlir.export_and_import(model, torch.ones(2, 8), weights="external")
    assert len(module.named_weights()) == 1
    inline = torch2mlir.export_and_import(model, torch.ones(2, 8))
    assert len(read_back(inline)) == 1
    arguments = torch2mlir.export_and_import(model, torch.ones(2, 8), weights="arguments")
    assert len(arguments.program.signature.state_inputs) == 1


def test_fake_weights_compile_to_text_with_references(tmp_path: Path) -> None:
    with torch.device("meta"):
        model = nn.Linear(32, 16)
    example = torch.ones(2, 32, device="meta")
    for output_type in ("torch", "stablehlo", "linalg-on-tensors", "tosa"):
        module = torch2mlir.export_and_import(
            model, example, weights="external", output_type=output_type
        )
        assert "16x32xf32" in str(module) or "[16,32],f32" in str(module)
        module.save(tmp_path / f"{output_type}.mlir")


def test_a_compiled_function_sees_in_place_changes_of_its_weights() -> None:
    model = nn.Linear(4, 3, bias=False)
    compiled = torch2mlir.compile(model, torch.ones(2, 4))
    compiled(torch.ones(2, 4))
    with torch.no_grad():
        model.weight.fill_(2.0)
    assert torch.equal(compiled(torch.ones(2, 4)), torch.full((2, 3), 8.0))
