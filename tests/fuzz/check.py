"""Programs on every dialect and engine against eager PyTorch, many of them compiled as one."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

import torch

from tests.e2e.agreement import same_bits
from tests.fuzz.program import Output, Program
from tests.fuzz.trial import RIGHT, Call, Outcome, Trial
from tests.fuzz.units import (
    Compiled,
    Group,
    Member,
    Specialised,
    Unexported,
    captured_units,
    places_of,
    run_on,
    unit_arguments,
)
from torch2mlir.errors import InputError, Torch2MLIRError

UNIT = 32
"""Programs compiled together, at most."""

Answer = tuple[int, str, Outcome]


def check(programs: Sequence[Program], names: Sequence[str]) -> Iterator[Answer]:
    """The outcome of every program on every configuration, with the number of the program."""
    groups = dict[Any, list[Member]]()
    for number, program in enumerate(programs):
        trial = Trial(program)
        try:
            key = trial.key
        except Exception as error:  # a reduced program, or a size that the generator did not try
            outcome = Outcome("uncaptured", f"eager: {_reason(error)}")
            yield from ((number, name, outcome) for name in names)
            continue
        groups.setdefault(key, []).append((number, trial))
    for group in groups.values():
        for start in range(0, len(group), UNIT):
            yield from _check_group(group[start : start + UNIT], names)


def _check_group(group: Group, names: Sequence[str]) -> Iterator[Answer]:
    refused = list[tuple[Member, Exception]]()
    for unit in captured_units(group, lambda *told: refused.append(told)):
        members = unit.group
        for name in names:
            for member, found in run_on(unit, members, name, _outcomes):
                if not isinstance(found, InputError):
                    outcome = _failed(found) if isinstance(found, Exception) else found
                    yield member[0], name, outcome
                    continue
                # what is said of the arguments is said before an engine is asked
                for other in names[names.index(name) :]:
                    yield member[0], other, _failed(found)
                members = [each for each in members if each is not member]
    for (number, _), error in refused:
        yield from ((number, name, _uncaptured(error)) for name in names)


def _uncaptured(error: Exception) -> Outcome:
    if not isinstance(error, Unexported):
        return _failed(error)
    error = error.errors[0]
    if isinstance(error, Specialised):
        return Outcome("uncaptured", "PyTorch captures it for one size only")
    return Outcome("uncaptured", _reason(error), f"{type(error).__name__}: {error}"[:1000])


def _failed(error: Exception) -> Outcome:
    ours = isinstance(error, Torch2MLIRError)
    trace = "" if ours else "".join(traceback.format_tb(error.__traceback__)[-4:])
    message = f"{type(error).__name__}: {error}"[:2000] + "\n" + trace
    return Outcome("refused" if ours else "foreign", _reason(error), message)


def _reason(error: Exception) -> str:
    """A message without what is particular to a program."""
    first = str(error).strip().partition("\n")[0]
    short = re.sub(r"[vx]?\d+|%\w+|'[^']*\.[^']*\.[^']*'|tensor<[^>]*>", "_", first)
    return f"{type(error).__name__}: {short}"[:110]


def _outcomes(unit: Group, members: Group, compiled: Compiled) -> list[Outcome]:
    """Calls a compiled unit as eager was called, and compares what members of it make."""
    wanted = [unit.index(member) for member in members]
    slices, differences = list(places_of(unit)), dict.fromkeys(wanted, "")
    earlier: list[tuple[list[Any], list[Any]]] = []
    for turn, call in enumerate(unit[0][1].calls):
        arguments, before = unit_arguments(unit, call), deepcopy(compiled.held)
        with torch.no_grad():
            results = list(compiled.function(*arguments))
        for place in wanted:
            trial, state = unit[place][1], _state_of(place, before, compiled.held)
            found = call_difference(trial, turn, results[place], arguments[slices[place]], state)
            found = found or _overwritten(place, earlier)
            if found and not differences[place]:
                differences[place] = f"call {turn + 1} ({dict(call.sizes)}): {found}"
        for key, value in compiled.held.items():
            if not key.startswith("programs.") and not same_bits(before[key], value):
                message = f"call {turn + 1}: a captured constant {key} was changed"
                differences = {place: d or message for place, d in differences.items()}
        earlier.append((results, deepcopy(results)))
    found_at = [differences[place] for place in wanted]
    return [Outcome("wrong", d.partition(": ")[2][:60], d) if d else RIGHT for d in found_at]


def _state_of(
    place: int, before: Mapping[str, torch.Tensor], after: Mapping[str, torch.Tensor]
) -> dict[str, tuple[torch.Tensor, torch.Tensor]]:
    """What belongs to one of the programs, before and after a call."""
    prefix = f"programs.{place}."
    return {
        key.removeprefix(prefix): (before[key], value)
        for key, value in after.items()
        if key.startswith(prefix)
    }


def _overwritten(place: int, earlier: Sequence[tuple[list[Any], list[Any]]]) -> str:
    """Whether a call changed what an earlier one had returned."""
    for results, copies in earlier:
        if not all(same_bits(a, b) for a, b in zip(results[place], copies[place], strict=True)):
            return "a result of an earlier call was overwritten"
    return ""


def call_difference(
    trial: Trial,
    turn: int,
    results: Sequence[torch.Tensor],
    arguments: Sequence[torch.Tensor],
    state: Mapping[str, tuple[torch.Tensor, torch.Tensor]],
) -> str:
    """How a call of a program differs from eager's, or nothing."""
    call, program = trial.calls[turn], trial.program
    if found := value_difference(program, call, results, arguments):
        return found
    eager_before = trial.calls[turn - 1].state if turn else program.module().state_dict()
    for key, (before, after) in state.items():
        if key not in call.state:
            continue
        if same_bits(eager_before[key], call.state[key]):
            if not same_bits(before, after):
                return f"'{key}' was changed, and eager leaves it alone"
        elif found := difference(after, call.state[key], Output(key, _STATE_ERROR, False)):
            return f"'{key}' after the call: {found}"
    return ""


def value_difference(
    program: Program,
    call: Call,
    results: Sequence[torch.Tensor],
    arguments: Sequence[torch.Tensor],
) -> str:
    """How the results of a call differ from eager's, or its arguments after it, or nothing."""
    for output, one, other in zip(program.outputs, results, call.results, strict=True):
        if found := difference(one, other, output):
            return f"{output.name}: {found}"
    originals = program.arguments(call.draw, call.sizes)
    for given, after, eager_after, original in zip(
        program.written, arguments, call.arguments, originals, strict=True
    ):
        if same_bits(original, eager_after):
            if not same_bits(original, after):
                return f"argument {given.name} was changed, and eager leaves it alone"
        elif found := difference(after, eager_after, given):
            return f"argument {given.name} after the call: {found}"
    return ""


_STATE_ERROR = 1e-3
"""Statistics and counters are of the order of one."""


def difference(one: Any, other: torch.Tensor, output: Output, factor: float = 8.0) -> str:
    """How a result differs from another, or nothing."""
    if not isinstance(one, torch.Tensor):
        return f"{type(one).__name__} where PyTorch has a tensor"
    for what in ("dtype", "shape"):
        if getattr(one, what) != getattr(other, what):
            return f"{what} {getattr(one, what)}, PyTorch has {getattr(other, what)}"
    if not other.numel():
        return ""
    if not other.dtype.is_floating_point:
        return "" if torch.equal(one, other) else _shown("values", one, other, one != other)
    a, b = one.double(), other.double()
    nans = a.isnan() != b.isnan()
    if nans.any():
        return _shown("NaN", one, other, nans)
    allowed = factor * output.error + (2e-6 if output.error else 0.0) * b.abs()
    far = ~((a - b).abs() <= allowed) & (a != b) & ~a.isnan()
    if far.any():
        return _shown(f"values beyond {factor * output.error:.2g}", one, other, far)
    zeros = (a == 0) & (b == 0) & (torch.signbit(a) != torch.signbit(b))
    if output.signed and zeros.any():
        return _shown("signs of zeros", one, other, zeros)
    return ""


def _shown(what: str, one: torch.Tensor, other: torch.Tensor, places: torch.Tensor) -> str:
    at = tuple(places.nonzero()[0].tolist())
    return (
        f"{what} at {int(places.sum())} of {places.numel()}, first {list(at)}:"
        f" {one[at].item()}, PyTorch has {other[at].item()}"
    )
