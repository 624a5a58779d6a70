"""The interface of ``torch_mlir.fx``."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx

from tests.oracle import torch_mlir_opt
from torch2mlir import fx


def program(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.tanh(x @ y)


@pytest.fixture
def graph_module() -> torch.fx.GraphModule:
    return make_fx(program, tracing_mode="fake")(torch.ones(2, 3), torch.ones(3, 4))


@pytest.mark.parametrize("output_type", [*fx.OutputType, *(t.value for t in fx.OutputType)])
def test_a_graph_module_reaches_every_dialect(
    graph_module: torch.fx.GraphModule, output_type: fx.OutputType | str
) -> None:
    module = fx.stateless_fx_import(graph_module, output_type=output_type, model_name="forward")
    text = str(module)
    assert "@forward(" in text
    unknown = (
        ["-allow-unregistered-dialect"] if "mhlo." in text else []
    )  # Torch-MLIR has no MHLO any more
    assert torch_mlir_opt(text, *unknown)


def test_sizes_of_a_symbolic_graph_stay_open() -> None:
    graph_module = make_fx(program, tracing_mode="symbolic")(torch.ones(2, 3), torch.ones(3, 4))
    text = str(fx.stateless_fx_import(graph_module))
    assert "?" in text and torch_mlir_opt(text)


@pytest.mark.parametrize("output_type", fx.OutputType)
def test_export_and_import_takes_the_enum(output_type: fx.OutputType) -> None:
    module = fx.export_and_import(
        nn.Linear(3, 2), torch.ones(4, 3), output_type=output_type, func_name="forward"
    )
    assert "@forward(" in str(module)
    assert module.output_type == output_type.value


def test_an_exported_program_needs_no_arguments() -> None:
    exported = torch.export.export(nn.Linear(3, 2), (torch.ones(4, 3),))
    assert "torch.aten.linear" in str(fx.export_and_import(exported))
