"""The three dialects compared with each other, where eager PyTorch is not asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import torch

from tests.fuzz.check import (
    Group,
    Trial,
    compiled_unit,
    difference,
    export_unit,
    specialised,
    unit_arguments,
)
from tests.fuzz.program import Program
from torch2mlir.errors import CaptureError, Torch2MLIRError

FAMILIES = ("elementwise", "comparison", "reduction", "extrema", "movement", "indexing")
"""Kinds of lines that every dialect has words for."""


def differences(programs: Sequence[Program], names: Sequence[str]) -> Iterator[str]:
    """Where two configurations that both take a program differ, with the program."""
    groups = dict[Any, list[tuple[int, Trial]]]()
    for number, program in enumerate(programs):
        trial = Trial(program)
        groups.setdefault(trial.key, []).append((number, trial))
    for group in groups.values():
        yield from _of_group(group, names)


def _of_group(group: Group, names: Sequence[str]) -> Iterator[str]:
    try:
        exported = export_unit(group)
        if any(specialised(group, exported)):
            raise CaptureError("captured for one size only")
        results = {name: _results(group, exported, name) for name in names}
    except Exception as error:
        if len(group) > 1:
            yield from _of_group(group[: len(group) // 2], names)
            yield from _of_group(group[len(group) // 2 :], names)
        elif not isinstance(error, Torch2MLIRError):
            yield f"{type(error).__name__}: {error}\n{group[0][1].program.report()}"
        return
    for one, other in combinations(names, 2):
        for turn, (ours, theirs) in enumerate(zip(results[one], results[other], strict=True)):
            for place, (_, trial) in enumerate(group):
                outputs = zip(trial.program.outputs, ours[place], theirs[place], strict=True)
                for output, a, b in outputs:
                    # each may be as far from the exact value as from eager's
                    if found := difference(a, b, output, factor=16.0):
                        call = f"{one} and {other}, call {turn + 1}, {output.name}: {found}"
                        yield f"{call}\n{trial.program.report()}"


def _results(group: Group, exported: torch.export.ExportedProgram, name: str) -> list[list[Any]]:
    unit = compiled_unit(exported, name)
    with torch.no_grad():
        return [list(unit.function(*unit_arguments(group, call))) for call in group[0][1].calls]
