"""Diagnostics of the opt driver, its options from mlir-opt, and passes of the user's own."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from torch2mlir.conversion import registry
from torch2mlir.tools.opt import main

OWN = str(Path(__file__).parents[2] / "examples" / "own_pass.py")


@pytest.fixture(autouse=True)
def lowerings_as_they_were() -> Iterator[None]:
    """The file of one's own registers one each time it is loaded."""
    registry.lowering_functions("stablehlo")
    lowerings, own = dict(registry._LOWERINGS["stablehlo"]), set(registry._OWN["stablehlo"])
    yield
    registry._LOWERINGS["stablehlo"].clear()
    registry._LOWERINGS["stablehlo"].update(lowerings)
    registry._OWN["stablehlo"] = own


SIGNATURE = "(%x: !torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32>"


def function(*names: str, name: str = "f") -> str:
    """A function of unary ops, one a line from the second line on."""
    lines, last = [], "x"
    for index, op in enumerate(names):
        lines.append(
            f"  %{index} = {op} %{last} : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>"
        )
        last = str(index)
    body = "\n".join([*lines, f"  return %{last} : !torch.vtensor<[2],f32>"])
    return f"func.func @{name}{SIGNATURE} {{\n{body}\n}}\n"


@pytest.fixture
def opt(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    def run(text: str, *arguments: str) -> tuple[int, str, str]:
        path = tmp_path / "in.mlir"
        path.write_text(text)
        code = main([*arguments, str(path)])
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        return code, printed.out, printed.err.replace(str(path), "in.mlir")

    return run


def test_an_error_of_a_pass_has_place_line_and_caret(opt) -> None:
    text = function("torch.aten.neg", "torch.aten.angle")
    code, out, error = opt(text, "-convert-torch-to-tosa")
    lines = error.splitlines()
    assert code == 1 and not out
    assert lines[0] == "in.mlir:3:8: error: no lowering of 'aten.angle' to tosa"
    assert lines[1] == text.splitlines()[2]
    assert lines[2] == " " * 7 + "^"
    assert any(line.startswith("in.mlir:3:8: note: next: ") for line in lines)


def test_an_error_of_the_verifier_has_place_line_and_caret(opt) -> None:
    text = 'func.func @f(%x: !torch.vtensor<[2],f32>) {\n  %0 = "torch.aten.neg"(%x, %x) : (!torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32>\n  return\n}'
    code, _, error = opt(text)
    assert code == 1
    assert error.startswith(
        "in.mlir:2:8: error: 'torch.aten.neg' op torch.aten.neg takes 1 operands"
    )
    assert error.splitlines()[2] == " " * 7 + "^"


def test_every_operation_that_does_not_verify_is_reported(opt) -> None:
    bad = '"torch.aten.neg"() : () -> !torch.vtensor<[2],f32>\n'
    _, _, error = opt(f"func.func @f() {{\n  %0 = {bad}  %1 = {bad}  return\n}}")
    assert error.count(": error: ") == 2


def test_a_use_before_its_definition_is_no_valid_program(opt) -> None:
    use = "%1 = torch.aten.neg %0 : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>"
    definition = "%0 = torch.aten.neg %x : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>"
    code, _, error = opt(
        f"func.func @f(%x: !torch.vtensor<[2],f32>) {{\n{use}\n{definition}\nreturn\n}}"
    )
    assert (
        code == 1
        and "in.mlir:2:6: error: 'torch.aten.neg' op operand #0 does not dominate" in error
    )


def test_a_location_in_the_text_is_the_place(opt) -> None:
    text = function("torch.aten.angle").replace(
        "f32>\n  return", 'f32> loc("model.py":7:3)\n  return'
    )
    _, _, error = opt(text, "-convert-torch-to-tosa")
    assert error.startswith("model.py:7: error: no lowering")


def test_debuginfo_has_the_places_of_the_file(opt) -> None:
    _, out, _ = opt(function("torch.aten.neg"), "-mlir-print-debuginfo")
    assert 'in.mlir":2:8)' in out


def test_parts_of_a_file_are_separate_and_count_their_lines_in_it(opt) -> None:
    text = "// -----\n".join(
        [function("torch.aten.neg"), function("torch.aten.no_such"), function("torch.aten.abs")]
    )
    code, out, error = opt(text, "-split-input-file")
    assert code == 1
    assert error.startswith(
        "in.mlir:7:8: error: the operation 'torch.aten.no_such' is not registered"
    )
    first, second = out.split("// -----\n")
    assert "aten.neg" in first and "aten.abs" in second


ANNOUNCED = {
    "on the next line": ("", "  // expected-error @+1 {{no lowering of 'aten.angle'}}\n", ""),
    "two lines below": ("// expected-error @+3 {{no lowering}}\n", "\n", ""),
    "on the line above": ("", "", "  // expected-error @-1 {{no lowering}}\n"),
    "above": ("", "", "  // some words\n  // expected-error@above {{no lowering}}\n"),
    "below": ("// words\n", "  // expected-error@below {{no lowering}}\n  // more\n", ""),
    "by a regular expression": ("", "  // expected-error-re @+1 {{no {{[a-z]+}} of}}\n", ""),
}


@pytest.mark.parametrize("how", ANNOUNCED)
def test_announced_errors_are_fine(how: str, opt) -> None:
    head, before, after = ANNOUNCED[how]
    lines = function("torch.aten.angle").splitlines(keepends=True)
    text = head + lines[0] + before + lines[1] + after + "".join(lines[2:])
    code, _, error = opt(text, "-convert-torch-to-tosa", "-verify-diagnostics")
    assert (code, error) == (0, "")


@pytest.mark.parametrize(
    "comment, complaint",
    [
        ("", "unexpected error: no lowering of 'aten.angle'"),
        (
            "// expected-error @+1 {{something else}}",
            'expected error "something else" was not produced',
        ),
        ("// expected-error @+2 {{no lowering}}", 'expected error "no lowering" was not produced'),
    ],
)
def test_other_errors_are_not(comment: str, complaint: str, opt) -> None:
    text = function("torch.aten.angle").replace("  %0", f"{comment}\n  %0")
    code, _, error = opt(text, "-convert-torch-to-tosa", "-verify-diagnostics")
    assert code == 1 and complaint in error


def test_an_error_without_a_place_is_announced_as_unknown(opt) -> None:
    text = "// expected-error @unknown {{not valid UTF-8}}\n" + function("torch.aten.neg")
    code, _, error = opt(text, "-verify-diagnostics")
    assert code == 1 and "was not produced" in error


TO_LINALG = "torch-backend-to-linalg-on-tensors-backend-pipeline"


def dumps(error: str) -> list[str]:
    """The passes whose IR was printed."""
    return re.findall(r"IR Dump After \w+(?: Failed)? \(([\w-]+)\)", error)


def test_the_passes_of_a_pipeline_are_printed_one_by_one(opt) -> None:
    text = function("torch.aten.silu")
    _, _, error = opt(text, f"-{TO_LINALG}", "-mlir-print-ir-after-all")
    assert dumps(error) == [
        "torch-refine-types",
        "torch-decompose-complex-ops",
        "torch-canonicalize",
        "convert-torch-to-linalg",
    ]
    _, _, error = opt(text, f"-{TO_LINALG}", "-mlir-print-ir-after=torch-canonicalize")
    assert dumps(error) == ["torch-canonicalize"]
    _, _, error = opt(text, f"-{TO_LINALG}", f"-mlir-print-ir-after={TO_LINALG}")
    assert dumps(error) == [TO_LINALG] and "linalg.generic" in error


def test_the_pass_of_a_pipeline_that_failed_is_named(opt) -> None:
    text = function("torch.aten.silu").replace("torch.aten.silu", 'torch.operator "my.op"')
    text = text.replace(" %x : !torch.vtensor<[2],f32>", "(%x) : (!torch.vtensor<[2],f32>)")
    _, _, error = opt(text, f"-{TO_LINALG}", "-mlir-print-ir-after-failure")
    assert dumps(error) == ["convert-torch-to-linalg"] and "no lowering of 'my.op'" in error


def test_the_ir_is_printed_around_passes(opt) -> None:
    text = function("torch.aten.silu")
    passes = ("-torch-decompose-complex-ops", "-torch-canonicalize")
    _, _, error = opt(text, *passes, "-mlir-print-ir-after-all", "-mlir-print-ir-before-all")
    assert error.count("IR Dump Before") == error.count("IR Dump After") == 2
    assert (
        "// -----// IR Dump After DecomposeComplexOps (torch-decompose-complex-ops) //----- //"
        in error
    )
    _, _, error = opt(text, "-torch-canonicalize", "--print-ir-after-change")
    assert "IR Dump" not in error
    _, _, error = opt(text, *passes, "-mlir-print-ir-after=torch-canonicalize")
    assert error.count("IR Dump") == 1
    _, _, error = opt(
        function("torch.aten.angle"), "-convert-torch-to-tosa", "-mlir-print-ir-after-failure"
    )
    assert "IR Dump After ConvertTorchToTosa Failed (convert-torch-to-tosa)" in error


def test_large_constants_are_elided(opt) -> None:
    numbers = ", ".join(map(str, range(9)))
    text = (
        "func.func @f() {\n  %0 = torch.vtensor.literal"
        f"(dense<[{numbers}]> : tensor<9xsi64>) : !torch.vtensor<[9],si64>\n  return\n}}"
    )
    _, out, _ = opt(text, "-mlir-elide-elementsattrs-if-larger=8")
    assert "dense_resource<__elided__> : tensor<9xsi64>" in out
    _, out, _ = opt(text, "-mlir-elide-elementsattrs-if-larger=9")
    assert numbers in out


def test_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(function("torch.aten.neg")))
    assert main(["-", "-convert-torch-to-stablehlo"]) == 0
    assert "stablehlo.negate" in capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", io.StringIO("func.func"))
    assert main([]) == 1
    assert capsys.readouterr().err.startswith("<stdin>:1:10: error: ")


def test_dialects_and_pipelines_are_listed(opt) -> None:
    _, out, _ = opt("", "-show-dialects")
    assert out.startswith("Available Dialects: ") and ",torch," in out
    _, _, error = opt("", "-dump-pass-pipeline", "-torch-canonicalize")
    assert "builtin.module(torch-canonicalize)" in error


def test_passes_and_dialects_of_ones_own(opt) -> None:
    text = function("torch.aten.sigmoid", "torch.aten.neg")
    code, out, _ = opt(text, "--load", OWN, "-my-select-ops", "-my-count-ops=dialect=torch")
    assert code == 0
    assert "my.logistic %x :" in out and "my.torch_ops = 1" in out
    code, again, error = opt(out, f"--load={OWN}", "-p", "builtin.module(my-count-ops{dialect=my})")
    assert code == 0, error
    assert "my.my_ops = 1" in again and "my.logistic %x :" in again


def test_lowerings_of_ones_own(opt) -> None:
    text = function("torch.aten.neg").replace(
        "torch.aten.neg %x : !torch.vtensor<[2],f32> ->",
        'torch.operator "torch.mylib.wave"(%x) : (!torch.vtensor<[2],f32>) ->',
    )
    code, out, error = opt(text, "--load", OWN, "-convert-torch-to-stablehlo")
    assert code == 0, error
    assert "stablehlo.cosine" in out


@pytest.mark.parametrize("text", ["raise ValueError('no luck')", "import no_such_module"])
def test_a_file_that_cannot_be_loaded(text: str, opt, tmp_path: Path) -> None:
    (tmp_path / "broken_passes.py").write_text(text)
    code, _, error = opt("", "--load", str(tmp_path / "broken_passes.py"))
    assert code == 1 and error.startswith("error: cannot import ")
