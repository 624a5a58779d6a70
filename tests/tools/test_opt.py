"""The opt driver."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from torch2mlir.tools.opt import main

NEG = """\
func.func @main(%arg0: !torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32> {
  %0 = torch.aten.neg %arg0 : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>
  return %0 : !torch.vtensor<[2],f32>
}
"""


@pytest.fixture
def neg(tmp_path: Path) -> Path:
    path = tmp_path / "neg.mlir"
    path.write_text(NEG)
    return path


def test_without_passes_the_module_is_printed(
    neg: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(neg)]) == 0
    assert "torch.aten.neg" in capsys.readouterr().out


@pytest.mark.parametrize(
    "how",
    [
        ["-p", "convert-torch-to-stablehlo"],
        ["--convert-torch-to-stablehlo"],
        ["-pass-pipeline=builtin.module(convert-torch-to-stablehlo)"],
    ],
)
def test_passes_in_every_spelling(
    how: list[str], neg: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*how, str(neg)]) == 0
    assert "stablehlo.negate" in capsys.readouterr().out


def test_an_output_file_is_written_whole(neg: Path) -> None:
    output = neg.with_name("out.mlir")
    assert main([str(neg), "-o", str(output), "-mlir-print-op-generic"]) == 0
    assert output.read_text().startswith('"builtin.module"')


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["-p", "convert-torch-to-stablehli"], "did you mean convert-torch-to-stablehlo"),
        (["-p", "convert-torch-to-stablehlo{no-such=1}"], "no-such"),
        (["-p", "builtin.module("], "malformed pass pipeline"),
    ],
)
def test_wrong_passes(
    arguments: list[str], says: str, neg: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = neg.with_name("out.mlir")
    assert main([*arguments, str(neg), "-o", str(output)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ") and says in error and "Traceback" not in error
    assert not output.exists()


@pytest.mark.parametrize(
    "text",
    [
        "func.func @main(",
        "not mlir at all",
        "func.func @f() { %0 = torch.aten.add.Tensor %x : !torch.int }",
        "func.func @f(%a: !torch.vtensor<[2,f32>) { return }",
        'func.func @f() attributes {x = "a string without an end, and a long one at that} { return }',
    ],
)
def test_malformed_input(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, output = tmp_path / "bad.mlir", tmp_path / "out.mlir"
    path.write_text(text)
    assert main([str(path), "-o", str(output)]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"{path}:1:") and ": error: " in error and "Traceback" not in error
    assert error.splitlines()[1] == text and error.splitlines()[2].strip() == "^"
    assert not output.exists()


def test_binary_input_and_missing_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.mlir"
    path.write_bytes(b"\xff\xfe\x00MLIR")
    assert main([str(path)]) == 1
    assert main([str(tmp_path / "none.mlir")]) == 1
    assert "Traceback" not in capsys.readouterr().err


def test_wrong_usage_exits_2(neg: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        main([str(neg), "--no-such-option"])
    assert ended.value.code == 2


def test_opt_never_imports_pytorch(neg: Path) -> None:
    code = (
        "import sys; from torch2mlir.tools.opt import main;"
        f"code = main([{str(neg)!r}, '--convert-torch-to-linalg']);"
        "sys.exit(code or ('torch' in sys.modules and 3))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
