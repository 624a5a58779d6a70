"""The command line on bad input: exit code 1, one message, no traceback, no half-written output file."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from torch2mlir.tools.cli import main
from torch2mlir.tools.opt import main as opt


class EigenvaluesModel(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.linalg.eigvals(x)


def eigenvalues_model() -> object:
    return EigenvaluesModel(), (torch.ones(3, 3),)


def relu_model() -> object:
    return nn.ReLU(), (torch.ones(3),)


def failure(capsys: pytest.CaptureFixture[str], code: int) -> str:
    captured = capsys.readouterr()
    assert code == 1
    assert captured.err.count("error: ") == 1
    assert "Traceback" not in captured.err
    assert captured.out == ""
    return captured.err


@pytest.mark.parametrize("target", ["stablehlo", "linalg-on-tensors", "tosa"])
def test_a_program_that_cannot_be_lowered(
    target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "model.mlir"
    program = f"{__file__}:eigenvalues_model"
    message = failure(capsys, main(["compile", program, "--to", target, "-q", "-o", str(output)]))
    assert "linalg_eig" in message
    assert Path(__file__).name in message
    assert list(tmp_path.iterdir()) == []


def test_an_existing_output_survives_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "model.mlir"
    output.write_text("before")
    failure(capsys, main(["compile", f"{__file__}:eigenvalues_model", "-q", "-o", str(output)]))
    assert output.read_text() == "before"
    assert list(tmp_path.iterdir()) == [output]


def test_a_folder_that_does_not_exist(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "no" / "model.mlir"
    message = failure(capsys, main(["compile", f"{__file__}:relu_model", "-q", "-o", str(output)]))
    assert str(output.parent) in message


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 not really", b"\x80\x02}q\x00."])
def test_a_file_that_is_no_exported_program(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "model.pt2"
    program.write_bytes(content)
    message = failure(capsys, main(["compile", str(program), "-q", "-o", str(tmp_path / "m.mlir")]))
    assert "ExportedProgram" in message
    assert list(tmp_path.iterdir()) == [program]


def test_malformed_mlir(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "model.mlir"
    source.write_text("func.func @main(%a: !torch.vtensor<[2,f32>) { return }")
    message = failure(capsys, opt([str(source), "-o", str(tmp_path / "out.mlir")]))
    assert "model.mlir" in message
    assert list(tmp_path.iterdir()) == [source]


def test_a_wrong_pass_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "model.mlir"
    source.write_text("builtin.module {}")
    message = failure(capsys, opt(["-p", "torch-canonicalise", str(source)]))
    assert "torch-canonicalize" in message


def test_a_pass_that_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "model.mlir"
    source.write_text(
        "func.func @f(%0: !torch.vtensor) -> !torch.vtensor {\n"
        '  %1 = torch.aten.relu %0 : !torch.vtensor -> !torch.vtensor loc("model.py":7:1)\n'
        "  return %1 : !torch.vtensor\n}"
    )
    output = tmp_path / "out.mlir"
    arguments = ["-p", "torch-lower-to-backend-contract", str(source), "-o", str(output)]
    message = failure(capsys, opt(arguments))
    assert "torch.aten.relu" in message and "model.py:7" in message
    assert not output.exists()


def test_a_module_that_does_not_verify(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "model.mlir"
    source.write_text(
        "func.func @f(%0: !torch.int) -> !torch.vtensor {\n"
        "  %1 = torch.aten.relu %0 : !torch.int -> !torch.vtensor\n"
        "  return %1 : !torch.vtensor\n}"
    )
    message = failure(capsys, opt([str(source)]))
    assert "torch.aten.relu" in message
