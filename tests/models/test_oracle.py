"""The text of real models, read by a compiler we did not write: torch-mlir-opt of torch-mlir's package.

Without ``--full`` a model goes through one level of the torch dialect and two targets, static on some and dynamic on others.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

import pytest
import torch
from xdsl.dialects.builtin import ModuleOp

from tests.oracle import torch_mlir_opt
from torch2mlir.api import export_and_import
from torch2mlir.dialects import make_context
from torch2mlir.dialects.parser import MlirParser
from torch2mlir.dialects.printer import module_text
from torch2mlir.module import MlirModule
from zoo import MODELS

TORCH = ("raw", "torch")
TARGETS = ("stablehlo", "linalg-on-tensors", "tosa")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    levels = TORCH if "goes_there_and_back" in metafunc.function.__name__ else TARGETS
    full, modes = metafunc.config.getoption("--full"), ("static", "dynamic")
    places = [
        (name, level, mode)
        for number, name in enumerate(MODELS)
        for turn, level in enumerate(levels)
        if full or (number + turn) % len(levels)
        for mode in (modes if full else [modes[(number // len(levels) + turn) % 2]])
    ]
    metafunc.parametrize("name, output_type, mode", places)


@lru_cache(maxsize=1)
def _exported(name: str, mode: str) -> torch.export.ExportedProgram:
    return MODELS[name](size="small").export(dynamic=mode == "dynamic")


def _module(name: str, mode: str, output_type: str) -> MlirModule:
    return export_and_import(_exported(name, mode), output_type=output_type)


@pytest.mark.share(16)
def test_torch_dialect_goes_there_and_back(name: str, output_type: str, mode: str) -> None:
    module = _module(name, mode, output_type)
    theirs = torch_mlir_opt(module.text(debuginfo=True))
    read = MlirParser(make_context(), theirs).parse_module()
    read.verify()
    assert torch_mlir_opt(module_text(read))
    assert _op_counts(read) == _op_counts(module.operation)


@pytest.mark.share(24)
def test_targets_are_accepted_in_both_forms(name: str, output_type: str, mode: str) -> None:
    module = _module(name, mode, output_type)
    assert torch_mlir_opt(module.text())
    assert torch_mlir_opt(module.text(generic=True))


def _op_counts(module: ModuleOp) -> Counter[str]:
    """How often each op occurs; constants aside, which the other compiler merges and hoists."""
    names = (op.name for op in module.walk())
    return Counter(name for name in names if not name.startswith("torch.constant."))
