"""The interface of ``torch_mlir.fx``."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx

from tests.oracle import torch_mlir_opt
from torch2mlir import fx
from torch2mlir.errors import CaptureError


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


def test_the_options_of_torch_mlir_are_taken(capfd: pytest.CaptureFixture[str]) -> None:
    module = fx.export_and_import(
        nn.Sequential(nn.Linear(3, 2), nn.Softmax(-1)),
        torch.ones(4, 3),
        output_type=fx.OutputType.LINALG_ON_TENSORS,
        strict=True,
        experimental_support_mutation=True,
        import_symbolic_shape_expressions=True,
        decomposition_table={
            torch.ops.aten.linear.default: lambda x, w, b: torch.addmm(b, x, w.t())
        },
        enable_graph_printing=True,
        verbose=True,
        enable_ir_printing=True,
        allow_non_finites=False,
    )
    out, err = capfd.readouterr()
    assert "aten.addmm" in out and "aten.linear" not in out
    titles = ("TorchFX IR", "Torch Backend IR", "LINALG_ON_TENSORS Backend IR")
    assert [title in out for title in titles] == [True] * 3
    assert "IR Dump After" in err
    assert module.output_type == "linalg-on-tensors" and "linalg.matmul" in str(module)


def test_without_an_output_type_the_module_is_raw_as_in_torch_mlir() -> None:
    module = fx.export_and_import(nn.Softmax(-1), torch.ones(4, 3))
    assert module.output_type == "raw" and "torch.aten.softmax.int" in str(module)


def test_an_importer_of_torch_mlir_is_refused_with_the_way_out() -> None:
    with pytest.raises(CaptureError, match=r"FxImporter[^$]*torch2mlir\.decomposition"):
        fx.export_and_import(nn.Softmax(-1), torch.ones(4, 3), hooks=object())  # type: ignore[arg-type]
