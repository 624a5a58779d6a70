"""What becomes of an entry on each dialect: it agrees with eager PyTorch, or where on the road it stopped, and why."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

import torch2mlir
from tests.opdb.invariants import invariants
from tests.opdb.programs import Entry, Program, is_comparable, programs
from torch2mlir.errors import (
    BackendContractError,
    CaptureError,
    EngineError,
    Torch2MLIRError,
    UnsupportedOpError,
)

ENGINES = {
    "linalg-on-tensors": "iree",
    "stablehlo": "xla",
    "tosa": "iree",
    "onnx": "onnxruntime",
}
WITH_SIZES_FROM_DATA = {"stablehlo": "iree"}
"""Where a program runs that the dialect can express and its engine not: a result's size depends on elements."""
OK = "ok"
SKIPPED = "eager cannot"
"""Eager PyTorch itself refuses every sample: nothing to compare with."""
TOLERANCES = {
    torch.float16: 4e-3,
    torch.bfloat16: 3e-2,
    torch.float32: 1e-4,
    torch.complex64: 1e-4,
    torch.float64: 1e-7,
    torch.complex128: 1e-7,
}
"""By dtype, relative to the element and, a fifth of it, to the largest element; others are exact."""
_KINDS = (
    (CaptureError, "capture"),
    (BackendContractError, "contract"),
    (UnsupportedOpError, "unsupported"),
    (EngineError, "engine"),
    (Torch2MLIRError, "error"),
)


@dataclass(frozen=True)
class Outcome:
    """How far an entry came: ``kind`` is ``ok`` or where it stopped, ``reason`` one line."""

    kind: str
    reason: str = ""


def road(target: str) -> tuple[str, str]:
    """The dialect and the engine of ``dialect`` or ``dialect:engine``; KeyError where none stands for the dialect."""
    output_type, _, engine = target.partition(":")
    return output_type, engine or ENGINES[output_type]


def outcomes(entry: Entry, targets: Sequence[str], samples: int) -> dict[str, Outcome]:
    """Runs an entry on each target; the first sample that fails decides."""
    results = dict.fromkeys(targets, Outcome(OK))
    compared = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for program in programs(entry, samples):
            try:
                torch.manual_seed(0)
                with torch.no_grad():
                    expected = program(*program.tensors)
            except Exception:
                continue
            compared += 1
            try:
                exported = _export(program)
            except Exception as error:
                return dict.fromkeys(targets, Outcome("export", first_line(error)))
            for target in targets:
                if results[target].kind == OK:
                    results[target] = _outcome(entry, program, exported, target, expected)
    return results if compared else dict.fromkeys(targets, Outcome(SKIPPED))


def _export(program: Program) -> ExportedProgram:
    with torch.no_grad():
        return torch.export.export(program, program.tensors)


def _outcome(
    entry: Entry, program: Program, exported: ExportedProgram, target: str, expected: Any
) -> Outcome:
    output_type, engine = road(target)

    def run() -> Any:
        try:
            return run_on(engine)
        except EngineError as error:
            if target in WITH_SIZES_FROM_DATA and "depends on the elements" in str(error):
                return run_on(WITH_SIZES_FROM_DATA[target])
            raise

    def run_on(engine: str) -> Any:
        compiled = torch2mlir.compile(exported, output_type=output_type, engine=engine)
        return compiled(*program.tensors)

    actual = _attempt(run)
    if isinstance(actual, Outcome):
        return actual
    got, want = (invariants(entry.operator, program, found) for found in (actual, expected))
    difference = disagreement(got, want, values=is_comparable(entry, program))
    return Outcome("wrong", difference) if difference else Outcome(OK)


def _attempt(run: Callable[[], Any]) -> Any:
    try:
        return run()
    except Exception as error:
        kind = next((name for family, name in _KINDS if isinstance(error, family)), "bug")
        return Outcome(kind, first_line(error))


def first_line(error: BaseException) -> str:
    """What an error says, short enough for a table."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = re.sub(r"\s+", " ", lines[0] if lines else "")
    prefix = "" if isinstance(error, Torch2MLIRError) else f"{type(error).__name__}: "
    return (prefix + text)[:160]


def disagreement(actual: Any, expected: Any, values: bool = True) -> str:
    """How a result differs from PyTorch's, empty if it agrees."""
    got, got_spec = pytree.tree_flatten(actual)
    want, want_spec = pytree.tree_flatten(expected)
    if got_spec != want_spec:
        return f"structure {got_spec}, PyTorch has {want_spec}"
    for one, other in zip(got, want, strict=True):
        difference = _difference(one, other, values)
        if difference:
            return difference
    return ""


def _difference(one: Any, other: Any, values: bool) -> str:
    if not isinstance(other, torch.Tensor):
        same = type(one) is type(other) and (one == other or one != one and other != other)
        return "" if same or not values else f"{one!r}, PyTorch has {other!r}"
    if not isinstance(one, torch.Tensor):
        return f"{type(one).__name__} in place of a tensor"
    if one.dtype != other.dtype or one.shape != other.shape:
        return f"{one.dtype} {list(one.shape)}, PyTorch has {other.dtype} {list(other.shape)}"
    if not values or not other.numel():
        return ""
    rtol = TOLERANCES.get(other.dtype, 0.0)
    largest = largest_of(other) if rtol else 0.0
    try:
        torch.testing.assert_close(one, other, rtol=rtol, atol=rtol * largest / 5, equal_nan=True)
    except AssertionError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        return " ".join(lines[1:3])[:160]
    return ""


def largest_of(tensor: torch.Tensor) -> float:
    """The size of the largest finite element, at least 1."""
    if tensor.dtype is torch.bool:
        return 1.0
    if tensor.dtype is torch.uint64:  # compared bit by bit, and PyTorch has no maximum of it
        return 1.0
    finite = tensor[torch.isfinite(tensor)].abs()
    return max(1.0, float(finite.max())) if finite.numel() else 1.0
