"""Looking at the passes of ``compile`` and ``export_and_import``: verification, dumps, times, reproducers."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

import torch2mlir
from torch2mlir.tools.instrumentation import from_environment
from torch2mlir.tools.opt import main as opt


def test_every_pass_of_a_compilation_is_dumped_and_timed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    x = torch.randn(2, 3)
    with torch2mlir.instrumented(verify=True, timing=True, dump_to=tmp_path) as seen:
        run = torch2mlir.compile(nn.GELU(), x)
    names = [path.stem.partition("-")[2] for path in sorted(tmp_path.iterdir())]
    assert names.index("torch-refine-types") < names.index("convert-torch-to-stablehlo")
    assert set(names) == set(seen.seconds)
    assert "convert-torch-to-stablehlo" in capsys.readouterr().err
    for values in (x, torch.randn(2, 3), torch.zeros(2, 3)):
        torch.testing.assert_close(run(values), nn.functional.gelu(values))


def test_a_failure_leaves_what_replays_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (
        torch2mlir.instrumented(reproducer=tmp_path),
        pytest.raises(torch2mlir.BackendContractError) as caught,
    ):
        torch2mlir.export_and_import(torch.linalg.eigvals, torch.eye(2), output_type="stablehlo")
    (note,) = caught.value.__notes__
    (path,) = tmp_path.iterdir()
    assert note.startswith("it can be reproduced with: torch2mlir-opt") and str(path) in note
    pipeline = note.partition("-pass-pipeline=")[2].split("' ")[0].strip("'")
    assert opt([f"-pass-pipeline={pipeline}", str(path)]) == 1
    assert "eig" in capsys.readouterr().err


def test_the_environment_can_ask_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TORCH2MLIR_INSTRUMENT", f"verify,dump-to={tmp_path}")
    torch2mlir.export_and_import(nn.ReLU(), torch.ones(2), output_type="tosa")
    assert any(path.name.endswith("convert-torch-to-tosa.mlir") for path in tmp_path.iterdir())
    with pytest.raises(torch2mlir.PassError, match="asks for 'everything'"):
        from_environment("everything")
