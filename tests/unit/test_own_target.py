"""A target and an engine of the user's own, in the user's own file: from Python and on the command line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import torch2mlir
from torch2mlir.contract.target import Target, get_target, register_target, unregister_target
from torch2mlir.conversion.registry import _LOWERINGS, _OWN
from torch2mlir.runtime.engine import unregister_engine
from torch2mlir.tools.cli import main
from torch2mlir.tools.opt import main as opt
from torch2mlir.tools.source import import_source

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_target.py"


@pytest.fixture(autouse=True)
def registries_as_they_were() -> Iterator[None]:
    yield
    unregister_target("accel")
    unregister_engine("accel-simulator")
    _LOWERINGS.pop("accel", None)
    _OWN.pop("accel", None)


def perceptron() -> tuple[nn.Module, torch.Tensor]:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(20, 8), nn.ReLU()).eval(), torch.randn(3, 20)


def test_the_example() -> None:
    import_source(str(EXAMPLE), hint="").main()


def test_the_command_line_knows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = f"{__file__}:perceptron"
    output = tmp_path / "model.mlir"
    options = ["--load", str(EXAMPLE), "--to", "accel", "-q"]
    assert main(["compile", model, *options, "-o", str(output)]) == 0
    assert "accel.relu" in output.read_text()
    assert main(["run", model, *options, "--compare", "--repeat", "1"]) == 0
    assert main(["run", model, *options, "--engine", "accel-simulator", "--repeat", "1"]) == 0


def test_opt_knows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, x = perceptron()
    contract = tmp_path / "contract.mlir"
    torch2mlir.export_and_import(model, x, output_type="torch").save(contract)
    pipeline = "builtin.module(torch-backend-to-target-backend-pipeline{target=accel})"
    assert opt(["--load", str(EXAMPLE), f"-pass-pipeline={pipeline}", str(contract)]) == 0
    assert "accel.matmul" in capsys.readouterr().out


def test_a_target_needs_lowerings_or_a_base() -> None:
    with pytest.raises(torch2mlir.Torch2MLIRError, match="no lowerings"):
        register_target(Target(name="accel"))
    with pytest.raises(torch2mlir.Torch2MLIRError, match="unknown target 'nowhere'"):
        register_target(Target(name="accel", base="nowhere"))
    with pytest.raises(torch2mlir.Torch2MLIRError, match="before they reach a target"):
        register_target(Target(name="torch", base="tosa"))
    with pytest.raises(torch2mlir.Torch2MLIRError, match="a target of torch2mlir's own, stablehlo"):
        register_target(Target(name="stablehlo", base="tosa"))
    with pytest.raises(torch2mlir.Torch2MLIRError, match="'linalg' is .* linalg-on-tensors"):
        register_target(Target(name="accel", base="tosa", aliases=("linalg",)))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"preparation": ("nopass",)}, "there is no pass nopass"),
        ({"finishing": ("nopass",)}, "there is no pass nopass"),
        ({"lowering": "no.such.package"}, "'no.such.package' cannot be imported"),
        ({"lowering": "json"}, "'json' has no LOWERING"),
    ],
    ids=["preparation", "finishing", "package", "class"],
)
def test_names_of_a_target_that_lead_nowhere(fields: dict[str, Any], said: str) -> None:
    register_target(Target(name="accel", base="stablehlo", **fields))
    with pytest.raises(torch2mlir.Torch2MLIRError, match=said):
        torch2mlir.export_and_import(nn.ReLU(), torch.ones(2), output_type="accel")


def test_a_target_based_on_another_says_its_own_name_in_errors() -> None:
    register_target(Target(name="accel", base="tosa"))
    assert get_target("accel").lowering_class is get_target("tosa").lowering_class
    with pytest.raises(torch2mlir.Torch2MLIRError, match="accel"):
        torch2mlir.export_and_import(torch.nonzero, torch.ones(3), output_type="accel")


def test_passes_before_and_after_the_conversion_are_the_targets() -> None:
    register_target(
        Target(name="accel", base="stablehlo", finishing=("stablehlo-legalize-to-hlo",))
    )
    text = str(torch2mlir.export_and_import(nn.ReLU(), torch.ones(2), output_type="accel"))
    assert "mhlo.maximum" in text
