"""Exported programs of one model as the model: each takes the calls that it was captured for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from torch2mlir.hybrid.capture import ExportedProgram

GUARD = "Guard failed"
"""How PyTorch says that a program was captured for other calls, before it runs any of it."""


def module_of(programs: Sequence[ExportedProgram]) -> torch.nn.Module:
    """What PyTorch runs of some programs, at least one."""
    modules = [program.module() for program in programs]
    return modules[0] if len(modules) == 1 else _Programs(modules)


class _Programs(torch.nn.Module):
    """Modules of programs of one model, of which the first whose guards hold takes a call."""

    def __init__(self, modules: Sequence[torch.nn.Module]) -> None:
        super().__init__()
        self.programs = torch.nn.ModuleList(modules)
        self.training = modules[0].training

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        *others, last = self.programs
        for program in others:
            try:
                return program(*args, **kwargs)
            except AssertionError as error:
                if GUARD not in str(error):
                    raise
        return last(*args, **kwargs)
