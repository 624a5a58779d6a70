"""Pipelines run from Python: in place, and with a reproducer when they fail."""

from __future__ import annotations

import re
import shlex

import pytest
import torch
from torch import nn

import pipeline as example
from torch2mlir import fx
from torch2mlir.compiler_utils import (
    OutputType,
    TorchMlirCompilerError,
    lower_mlir_module,
    run_pipeline_with_repro_report,
)
from torch2mlir.dialects.parser import parse_module
from torch2mlir.errors import PassError, Torch2MLIRError
from torch2mlir.tools.opt import main as opt

PIPELINE = (
    "builtin.module(func.func(torch-decompose-complex-ops),"
    "torch-backend-to-linalg-on-tensors-backend-pipeline)"
)


class Model(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        total = torch.relu(x) + y @ torch.eye(3)
        return torch.angle(total * 2).sum()


def exported(output_type: str = "raw") -> fx.MlirModule:
    x = torch.randn(2, 3)
    return fx.export_and_import(Model(), x, x, output_type=output_type)


def test_the_example_prints_two_modules(capsys: pytest.CaptureFixture[str]) -> None:
    example.main()
    before, _, after = capsys.readouterr().out.rpartition("builtin.module")
    assert "torch.aten" in before and "linalg.generic" in after and "torch." not in after


@pytest.mark.parametrize("output_type", ["raw", "torch"])
def test_a_module_is_lowered_in_place(output_type: str) -> None:
    module = exported(output_type)
    run_pipeline_with_repro_report(module, PIPELINE, "Lowering")
    assert module.output_type == "linalg-on-tensors"
    assert "linalg.generic" in str(module) and "torch." not in str(module)


def test_an_xdsl_module_is_lowered_in_place() -> None:
    module = exported().operation
    run_pipeline_with_repro_report(module, PIPELINE, "Lowering")
    assert "linalg.generic" in str(module)


@pytest.mark.parametrize("output_type", [OutputType.TOSA, "stablehlo", "LINALG_ON_TENSORS", "mhlo"])
def test_the_contract_to_every_dialect(output_type: str | OutputType) -> None:
    x = torch.randn(2, 3)
    module = fx.export_and_import(torch.tanh, x, output_type=OutputType.TORCH)
    text = str(lower_mlir_module(False, output_type, module))
    word = OutputType.get(output_type).value.split("-")[0]
    assert f"{word}." in text and "torch." not in text


def test_a_failure_comes_with_the_least_that_fails() -> None:
    with pytest.raises(TorchMlirCompilerError) as caught:
        run_pipeline_with_repro_report(
            exported(), "builtin.module(convert-torch-to-tosa)", "Lowering a model"
        )
    error = caught.value
    assert "Lowering a model failed" in str(error) and __file__ in str(error)
    text = error.reproducer.read_text()
    ops = re.findall(r"= (torch\.(?:aten|prims?)[\w.]*)", text)
    assert set(ops) <= {"torch.aten.eye", "torch.prim.ListConstruct"} and "eye" in text
    assert __file__ in text  # the line of the model is in the locations
    error.reproducer.unlink()


def test_the_command_replays_the_failure(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(TorchMlirCompilerError) as caught:
        run_pipeline_with_repro_report(exported(), "builtin.module(convert-torch-to-tosa)", "")
    program, *arguments = shlex.split(caught.value.command)
    assert program == "torch2mlir-opt"
    assert opt(arguments) == 1
    assert capsys.readouterr().err.splitlines()[0] == caught.value.diagnostics[0].splitlines()[0]
    caught.value.reproducer.unlink()


def test_a_pipeline_is_replayed_from_the_pass_that_failed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pipeline = "builtin.module(torch-backend-to-stablehlo-backend-pipeline)"
    with pytest.raises(TorchMlirCompilerError) as caught:
        run_pipeline_with_repro_report(parse_module(TWO_FUNCTIONS), pipeline, "")
    assert "builtin.module(convert-torch-to-stablehlo)" in caught.value.command
    assert opt(shlex.split(caught.value.command)[1:]) == 1
    assert "no lowering of 'mylib.strange'" in capsys.readouterr().err
    caught.value.reproducer.unlink()


TWO_FUNCTIONS = """
module attributes {torch.debug_module_name = "Two"} {
  func.func @good(%x: !torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32> {
    %0 = torch.aten.tanh %x : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>
    return %0 : !torch.vtensor<[2],f32>
  }
  func.func @bad(%x: !torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32> {
    %big = torch.vtensor.literal(dense<1.0> : tensor<2xf32>) : !torch.vtensor<[2],f32>
    %0 = torch.aten.tanh %x : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>
    %1 = torch.operator "mylib.strange"(%0, %big) : (!torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32>
    %2 = torch.aten.tanh %1 : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>
    return %2 : !torch.vtensor<[2],f32>
  }
}
"""


def test_only_the_failing_function_and_operation_are_kept() -> None:
    module = parse_module(TWO_FUNCTIONS)
    with pytest.raises(TorchMlirCompilerError) as caught:
        run_pipeline_with_repro_report(module, "convert-torch-to-stablehlo", "")
    text = caught.value.reproducer.read_text()
    assert caught.value.reproducer.name.startswith("Two-")
    assert "mylib.strange" in text and "tanh" not in text and "literal" not in text
    caught.value.reproducer.unlink()


def test_a_module_that_does_not_verify_is_a_failure_too() -> None:
    module = parse_module(TWO_FUNCTIONS)
    tanh = next(op for op in module.walk() if op.name == "torch.aten.tanh")
    tanh.operands = []
    with pytest.raises(TorchMlirCompilerError, match="takes 1 operands"):
        run_pipeline_with_repro_report(module, "torch-canonicalize", "")


def test_a_wrong_pipeline_is_no_failure_of_the_module() -> None:
    with pytest.raises(PassError, match="no pass") as caught:
        run_pipeline_with_repro_report(parse_module("module {}"), "builtin.module(no-such)", "")
    assert not isinstance(caught.value, TorchMlirCompilerError)


def test_the_ir_is_printed_between_passes(capsys: pytest.CaptureFixture[str]) -> None:
    run_pipeline_with_repro_report(exported(), PIPELINE, "", enable_ir_printing=True)
    assert capsys.readouterr().err.count("// -----// IR Dump After") == 2


def test_output_types_by_name() -> None:
    assert OutputType.get("linalg-on-tensors") is OutputType.LINALG_ON_TENSORS
    with pytest.raises(Torch2MLIRError, match="unknown output type"):
        OutputType.get("llvm")
