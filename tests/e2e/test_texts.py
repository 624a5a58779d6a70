"""The text and bytecode of every case, on every level and dialect, read and verified by torch-mlir-opt.

``--full`` takes all cases, static and dynamic; otherwise a share of them, in one of the two modes.
"""

from __future__ import annotations

import zlib

import pytest

from tests.e2e.registry import Case, load_cases
from tests.oracle import iree_opt, torch_mlir_opt, with_alignment_of_bytecode
from torch2mlir.api import export_and_import
from torch2mlir.errors import Torch2MLIRError
from torch2mlir.module import MlirModule

CASES = load_cases()
LEVELS = ("raw", "torch", "stablehlo", "linalg-on-tensors", "tosa")
SHARE = 64
"""One case in so many runs without ``--full``."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    full = metafunc.config.getoption("--full")
    parameters = []
    for name, case in CASES.items():
        chance = zlib.crc32(f"oracle {name}".encode())
        if not full and chance % SHARE:
            continue
        modes = ["static", "dynamic"] if case.dynamic else ["static"]
        for mode in modes if full else [modes[chance // SHARE % len(modes)]]:
            parameters.append(pytest.param(case, mode, id=f"{name}-{mode}"))
    metafunc.parametrize("case, mode", parameters)


def test_every_text_verifies(case: Case, mode: str) -> None:
    exported = case.export(dynamic=mode == "dynamic")
    for level in LEVELS:
        try:
            module = export_and_import(exported, output_type=level)
        except Torch2MLIRError:
            continue  # an expected failure of test_cases.py
        _verify(module)


def _verify(module: MlirModule) -> None:
    """By torch-mlir-opt; it has no ``math`` outside of Linalg's functions, and IREE's reads TOSA in generic form only."""
    generic = module.text(generic=True)
    try:
        if module.output_type == "tosa" and '"math.' in generic:
            iree_opt(generic)
            return
        read = torch_mlir_opt(module.text())
        torch_mlir_opt(generic)
        assert torch_mlir_opt(module.bytecode()) == with_alignment_of_bytecode(read)
    except pytest.fail.Exception as refusal:
        pytest.fail(f"{module.output_type}: {refusal}", pytrace=False)
