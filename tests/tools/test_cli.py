"""The command line: what it writes, and how it ends when the input is bad."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import numpy
import pytest
import torch

from tests.tools import programs
from torch2mlir.tools.cli import main

FACTORY = f"{programs.__file__}:two_inputs"


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    model, args, kwargs = programs.two_inputs()
    path = tmp_path / "model.pt2"
    torch.export.save(torch.export.export(model, args, kwargs), path)
    return path


def _error(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(list(arguments)) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith("error: ")
    assert "Traceback" not in captured.err
    return captured.err


def _usage_error(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    assert ended.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("dialect", ["raw", "torch", "linalg-on-tensors", "tosa", "stablehlo"])
def test_compile_writes_each_dialect(saved: Path, dialect: str) -> None:
    output = saved.with_name("out.mlir")
    assert main(["compile", str(saved), "--to", dialect, "-o", str(output), "-q"]) == 0
    text = output.read_text()
    assert "func.func @main(" in text
    namespace = {"raw": "torch.", "linalg-on-tensors": "linalg."}.get(dialect, f"{dialect}.")
    assert namespace in text


def test_compile_to_stdout_keeps_progress_apart(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", FACTORY, "-o", "-", "--generic", "--func-name", "entry"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith('"builtin.module"') and '"entry"' in captured.out
    assert "lower" in captured.err and "total" in captured.err


def test_compile_names_the_file_after_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["compile", FACTORY]) == 0
    assert (tmp_path / "two_inputs.stablehlo.mlir").is_file()
    assert "two_inputs.stablehlo.mlir (" in capsys.readouterr().err


def test_dynamic_dimensions_show_in_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    dynamic = "0:0=batch,scale:0=batch"
    assert main(["compile", FACTORY, "-o", "-", "--dynamic", dynamic, "-q"]) == 0
    assert "tensor<?x4xf32>" in capsys.readouterr().out


def test_weights_go_where_they_are_wanted(tmp_path: Path) -> None:
    sizes = {}
    for weights in ("inline", "external", "arguments"):
        output = tmp_path / f"{weights}.mlir"
        assert main(["compile", FACTORY, "-o", str(output), "--weights", weights, "-q"]) == 0
        sizes[weights] = output.read_text()
    assert (tmp_path / "external.safetensors").is_file()
    assert sizes["arguments"].count("tensor<4x8xf32>") > 0
    assert "dense" in sizes["inline"]


def test_a_plain_function_is_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", f"{programs.__file__}:a_function", "-o", "-", "-q"]) == 0
    assert "stablehlo.exponential" in capsys.readouterr().out


@pytest.mark.parametrize(
    "reference, says",
    [
        ("nothing.pt2", "there is no file nothing.pt2"),
        (__file__, "is neither a saved ExportedProgram nor"),
        ("no.such.module:factory", "cannot import no.such.module"),
        (f"{programs.__file__}:nobody", "has no function nobody"),
        (f"{programs.__file__}:NOT_CALLABLE", "has no function NOT_CALLABLE"),
        (f"{programs.__file__}:failing", "ValueError: no luck today"),
        ("os:getcwd", "returned str, not (model, example inputs)"),
        (f"{programs.__file__}:two_arguments", "a int in the place of keyword arguments"),
        (f"{programs.__file__}:data_dependent", "data-dependent"),
    ],
)
def test_programs_that_cannot_be_loaded(
    reference: str, says: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    message = _error(capsys, "compile", reference, "-q", "-o", str(tmp_path / "m.mlir"))
    assert says in message
    assert list(tmp_path.iterdir()) == []


def test_a_zip_that_is_no_program_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    torch.save({"a": torch.ones(2)}, tmp_path / "weights.pt2")
    message = _error(capsys, "compile", str(tmp_path / "weights.pt2"), "-q")
    assert "is of torch.save" in message


def test_a_damaged_program_is_refused_in_few_words(
    saved: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    damaged = tmp_path / "damaged.pt2"
    with ZipFile(saved) as old, ZipFile(damaged, "w") as new:
        for name in old.namelist():
            if not name.endswith("model.json"):
                new.writestr(name, old.read(name))
    assert main(["compile", str(damaged), "-q"]) == 1
    said = capfd.readouterr().err
    assert "is not an ExportedProgram" in said
    assert "Traceback" not in said


def test_a_factory_that_wants_arguments_is_at_no_line_of_ours(
    capsys: pytest.CaptureFixture[str],
) -> None:
    message = _error(capsys, "compile", f"{programs.__file__}:linear_of", "-q")
    assert "missing 1 required positional argument" in message
    assert "source.py" not in message


def test_dynamic_comes_too_late_for_an_exported_program(
    saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "too late" in _error(capsys, "compile", str(saved), "--dynamic", "-q")


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["frobnicate"],
        ["compile"],
        ["compile", FACTORY, "--to", "llvm"],
        ["compile", FACTORY, "--dynamic", "zero"],
        ["compile", FACTORY, "--weights", "external", "-o", "-"],
        ["run", FACTORY, "--engine", "abacus"],
        ["run", FACTORY, "--repeat", "0"],
        ["run", FACTORY, "--rtol", "nan"],
        ["run", FACTORY, "--random", str(1 << 63)],
    ],
)
def test_wrong_usage_exits_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert "usage:" in _usage_error(capsys, *arguments)


@pytest.mark.share(4)
@pytest.mark.parametrize(
    "engine, dialect",
    [("xla", "stablehlo"), ("iree", "linalg-on-tensors"), ("iree", "tosa")],
)
def test_run_agrees_with_eager(
    engine: str, dialect: str, saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["run", str(saved), "--engine", engine, "--to", dialect, "--random", "3"]
    assert main([*arguments, "--compare", "--repeat", "1"]) == 0
    captured = capsys.readouterr()
    assert "[2, 8] float32" in captured.out
    assert "median" in captured.err


class Written(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("sum", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.sum += x.mul_(2)
        return self.sum


def written() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    return Written(), (torch.ones(3),)


def test_run_compares_from_one_state() -> None:
    """The calls of eager mode leave nothing behind that the compiled program begins with."""
    assert main(["run", f"{__file__}:written", "--compare", "-q"]) == 0


def test_run_goes_through_the_dialect_of_the_engine(
    saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(saved), "--engine", "onnxruntime", "--compare", "--repeat", "1"]) == 0
    assert "onnx for onnxruntime" in capsys.readouterr().err


def test_run_reads_and_writes_arrays(tmp_path: Path) -> None:
    inputs, outputs = tmp_path / "in.npz", tmp_path / "out.npz"
    x = numpy.full((2, 4), 3, numpy.float32)
    numpy.savez(inputs, x=x, scale=numpy.ones((2, 1), numpy.float32))
    arguments = ["run", FACTORY, "--inputs", str(inputs), "-o", str(outputs), "-q"]
    assert main(arguments) == 0
    with numpy.load(outputs) as arrays:
        assert sorted(arrays) == ["y", "z"]
        numpy.testing.assert_array_equal(arrays["z"], x)


def test_run_says_what_is_wrong_with_the_inputs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs = tmp_path / "in.npz"
    numpy.savez(inputs, x=numpy.ones((2, 5), numpy.float32), scale=numpy.ones((2, 1)))
    assert "x" in _error(capsys, "run", FACTORY, "--inputs", str(inputs), "-q")
    inputs.write_text("no array")
    assert "not an .npz file" in _error(capsys, "run", FACTORY, "--inputs", str(inputs), "-q")
    assert "there is no file" in _error(capsys, "run", FACTORY, "--inputs", "none.npz", "-q")


def test_an_engine_that_does_not_take_the_dialect(capsys: pytest.CaptureFixture[str]) -> None:
    message = _error(capsys, "run", FACTORY, "--engine", "xla", "--to", "tosa", "-q")
    assert "tosa" in message


def test_traceback_on_request(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["compile", "nothing.pt2", "-q", "--traceback"]) == 1
    assert "Traceback" in capsys.readouterr().err
    monkeypatch.setenv("TORCH2MLIR_TRACEBACK", "1")
    assert main(["compile", "nothing.pt2", "-q"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_there_is_no_such_op_and_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """A typing error had an empty table, and the explorer without a terminal did not end."""
    assert "no op of the core ops has 'sofmax' in its name" in _error(capsys, "coverage", "sofmax")
    assert "needs a terminal" in _error(capsys, "explore")


def test_coverage_is_read_from_the_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["coverage", "aten.exp", "--markdown"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "| aten.exp | elementwise | yes | yes | yes | yes |" in [
        line.replace(" |  |", " |") for line in lines
    ]


def test_help_does_not_wait_for_pytorch() -> None:
    code = (
        "import sys; from torch2mlir.tools.cli import make_parser; make_parser().format_help();"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.fixture
def scripted(tmp_path: Path) -> Path:
    path = tmp_path / "net.pt"
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU())
    torch.jit.save(torch.jit.script(model), path)
    return path


def test_torchscript_files_run_with_inputs_of_given_types(
    scripted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--input", "2x4xf32", "--dynamic", "input:0=batch", "-q"]
    assert main(["run", str(scripted), "--compare", *options]) == 0
    assert "[2, 3] float32" in capsys.readouterr().out
    assert main(["compile", str(scripted), "--to", "torch", "-o", "-", *options]) == 0
    assert "@main(%input: !torch.vtensor<[?,4],f32>)" in capsys.readouterr().out


def test_torchscript_files_run_with_inputs_bundled_in_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from torch.utils.bundled_inputs import augment_model_with_bundled_inputs

    model = torch.jit.script(torch.nn.Softmax(1))
    augment_model_with_bundled_inputs(model, [(torch.ones(2, 4),)])
    torch.jit.save(model, tmp_path / "net.pt")
    assert main(["run", str(tmp_path / "net.pt"), "--compare", "-q"]) == 0
    assert "[2, 4] float32" in capsys.readouterr().out


def test_torchscript_files_say_what_is_missing(
    scripted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "inputs are not known: input" in _error(capsys, "run", str(scripted), "-q")
    given = ["compile", str(scripted), "-q", "-o", "-", "--input", "2x4xf32"]
    assert "unknown element type 'q8'" in _error(capsys, *given[:-1], "2x4xq8")
    assert "does not know of a TorchScript program" in _error(capsys, *given, "--dynamic")
    assert "TorchScript has none" in _error(capsys, *given, "--dynamic", "0:0=batch:2-8")
    assert "takes 1 arguments, 2 examples" in _error(capsys, *given, "--input", "f32")
    assert "--input is not needed" in _error(capsys, "run", FACTORY, "-q", "--input", "f32")
    assert "is not like 1x3x224x224xf32" in _usage_error(capsys, *given[:-1], "2x")
