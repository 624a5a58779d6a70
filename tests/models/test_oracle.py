"""The text of real models, read by a compiler we did not write: torch-mlir-opt of torch-mlir's package."""

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

MODES = ("static", "dynamic")
TORCH = ("raw", "torch")
TARGETS = ("stablehlo", "linalg-on-tensors", "tosa")

for_all_models = pytest.mark.parametrize("name", MODELS)
for_both_modes = pytest.mark.parametrize("mode", MODES)


@lru_cache(maxsize=1)
def _exported(name: str, mode: str) -> torch.export.ExportedProgram:
    return MODELS[name](size="small").export(dynamic=mode == "dynamic")


def _module(name: str, mode: str, output_type: str) -> MlirModule:
    return export_and_import(_exported(name, mode), output_type=output_type)


@for_both_modes
@pytest.mark.parametrize("output_type", TORCH)
@for_all_models
def test_torch_dialect_goes_there_and_back(name: str, output_type: str, mode: str) -> None:
    module = _module(name, mode, output_type)
    theirs = torch_mlir_opt(module.text(debuginfo=True))
    read = MlirParser(make_context(), theirs).parse_module()
    read.verify()
    assert torch_mlir_opt(module_text(read))
    assert _op_counts(read) == _op_counts(module.operation)


@for_both_modes
@pytest.mark.parametrize("output_type", TARGETS)
@for_all_models
def test_targets_are_accepted_in_both_forms(name: str, output_type: str, mode: str) -> None:
    module = _module(name, mode, output_type)
    assert torch_mlir_opt(module.text())
    assert torch_mlir_opt(module.text(generic=True))


def _op_counts(module: ModuleOp) -> Counter[str]:
    """How often each op occurs; constants aside, which the other compiler merges and hoists."""
    names = (op.name for op in module.walk())
    return Counter(name for name in names if not name.startswith("torch.constant."))
