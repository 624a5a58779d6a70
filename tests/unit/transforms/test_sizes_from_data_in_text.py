"""A size that depends on elements has no name in the text: refinement gives it one again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import torch2mlir
from torch2mlir.conversion.driver import convert_module
from torch2mlir.dialects import make_context
from torch2mlir.dialects.parser import parse_module
from torch2mlir.dialects.printer import module_text
from torch2mlir.runtime.engine import get_engine
from torch2mlir.runtime.lowered import LoweredFunction
from torch2mlir.transforms.lower_to_backend_contract import LowerToBackendContractPass

PROGRAMS: dict[str, Callable[[torch.Tensor], tuple[torch.Tensor, ...]]] = {
    "nonzero": lambda x: (torch.nonzero(x > 0) + 1,),
    "two": lambda x: (torch.nonzero(x > 0), torch.nonzero(x > 1)),
    "unique": lambda x: torch.unique(x, return_counts=True),
}


@pytest.mark.share(6)
@pytest.mark.parametrize("level", ["raw", "torch"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_read_from_text_runs(name: str, level: str) -> None:
    x = torch.tensor([1.0, -1.0, 2.0, 0.0, 2.0])
    program = PROGRAMS[name]
    text = str(torch2mlir.export_and_import(program, x, output_type=level))
    module = parse_module(text)
    LowerToBackendContractPass().apply(make_context(), module)
    linalg = module_text(convert_module(module, "linalg-on-tensors"))
    executable = get_engine("reference").compile(LoweredFunction.parse(linalg, "linalg-on-tensors"))
    torch.testing.assert_close(tuple(executable([x])), tuple(program(x)))
