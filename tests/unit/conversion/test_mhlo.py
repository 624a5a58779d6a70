"""StableHLO as MHLO: read and verified by the mhlo dialect that JAX carries, and what XLA's own pass of the name makes."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.registry import load_cases
from tests.unit.dialects import chlo_instances, hlo_instances
from torch2mlir import export_and_import
from torch2mlir.conversion.stablehlo_legalize_to_hlo import ABSENT, StablehloLegalizeToHloPass
from torch2mlir.dialects import make_context
from torch2mlir.dialects.printer import module_text
from torch2mlir.errors import Torch2MLIRError, UnsupportedOpError
from torch2mlir.module import MlirModule
from torch2mlir.tools.cli import main
from zoo import MODELS

CASES = load_cases()
SHARE = 40
"""One case in so many without ``--full``."""
KEPT = {"chlo.ragged_dot", "chlo.scan"}
"""Stay CHLO here: no lowering makes them, and MHLO writes their attributes in another shape."""
INSTANCES = [
    each
    for each in hlo_instances.INSTANCES + chlo_instances.INSTANCES
    if each.op_type not in hlo_instances.QUANTIZED and each.op_type.name not in KEPT | ABSENT
]


@pytest.fixture(scope="module")
def ir() -> Any:
    """jaxlib's MLIR with a context that knows mhlo and its passes."""
    from jax._src.interpreters.mlir import make_ir_context
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import mhlo

    context = make_ir_context()
    mhlo.register_mhlo_dialect(context)
    mhlo.register_mhlo_passes()
    with context, ir.Location.unknown():
        yield ir


def read(ir: Any, text: str) -> Any:
    module = ir.Module.parse(text)
    assert module.operation.verify()
    return module


def run(module: Any, pipeline: str) -> str:
    from jaxlib.mlir.passmanager import PassManager

    PassManager.parse(f"builtin.module({pipeline})").run(module.operation)
    return str(module)


def test_every_op_is_spelled_as_xla_spells_it(ir: Any) -> None:
    module = hlo_instances.module_of(INSTANCES)
    theirs = read(ir, module_text(module))
    run(theirs, "func.func(chlo-legalize-to-high-level-mhlo),stablehlo-legalize-to-hlo")
    StablehloLegalizeToHloPass().apply(make_context(), module)
    ours = str(read(ir, module_text(module)))
    assert "stablehlo" not in ours
    different = [
        (our, their)
        for our, their in zip(ours.splitlines(), str(theirs).splitlines(), strict=True)
        if our != their
    ]
    assert not different


def test_what_mhlo_has_dropped_is_named() -> None:
    gone = [each for each in hlo_instances.INSTANCES if each.op_type.name in ABSENT]
    with pytest.raises(UnsupportedOpError, match="unary_einsum"):
        StablehloLegalizeToHloPass().apply(make_context(), hlo_instances.module_of(gone))


def verified(ir: Any, module: MlirModule) -> str:
    text = str(module)
    assert "stablehlo." not in text
    return run(read(ir, text), "hlo-legalize-to-stablehlo")


def test_cases_are_read_by_jax(ir: Any, request: pytest.FixtureRequest) -> None:
    full, count = request.config.getoption("--full"), 0
    for name, case in CASES.items():
        chance = zlib.crc32(f"mhlo {name}".encode())
        if not full and chance % SHARE:
            continue
        dynamic = bool(case.dynamic) and bool(chance // SHARE % 2)
        try:
            module = export_and_import(case.export(dynamic=dynamic), output_type="mhlo")
        except Torch2MLIRError:
            continue  # an expected failure of test_cases.py
        verified(ir, module)
        count += 1
    assert count > 10


@pytest.mark.share(2)
@pytest.mark.parametrize("name", ["resnet50", "bert-base"])
def test_models_are_read_by_jax(name: str, ir: Any) -> None:
    entry = MODELS[name](size="small")
    module = export_and_import(entry.export(), output_type="mhlo")
    assert "stablehlo.dot_general" in verified(ir, module)


def test_the_command_emits_it(tmp_path: Path, ir: Any) -> None:
    output = tmp_path / "program.mlir"
    program = f"{Path(__file__).parents[2] / 'tools' / 'programs.py'}:two_inputs"
    assert main(["compile", program, "--emit", "mhlo", "-o", str(output), "-q"]) == 0
    read(ir, output.read_text())
