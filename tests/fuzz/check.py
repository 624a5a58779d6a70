"""Programs on every dialect and engine against eager PyTorch, many of them compiled as one.

A unit of programs is captured and compiled together and called for several draws and sizes. Where a unit is refused, its
halves are tried, down to the program that it is refused for.
"""

from __future__ import annotations

import re
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import nn
from torch.export import Dim

import torch2mlir
from tests.e2e.agreement import same_bits
from tests.fuzz.program import BOUNDS, CAPTURED, LARGEST, Output, Program
from torch2mlir.errors import Torch2MLIRError
from torch2mlir.frontends.capture import capture
from torch2mlir.program import Program as Captured

CONFIGURATIONS: Mapping[str, tuple[str, str]] = {
    "linalg-reference": ("linalg-on-tensors", "reference"),
    "linalg-iree": ("linalg-on-tensors", "iree"),
    "tosa-iree": ("tosa", "iree"),
    "stablehlo-xla": ("stablehlo", "xla"),
}

UNIT = 12
"""Programs compiled together, at most."""


@dataclass(frozen=True)
class Outcome:
    """What became of a program on a configuration.

    Attributes:
        kind: ``right``, ``refused`` (an error of ours), ``wrong``, ``foreign`` (another error), ``crash`` (the process
            died), ``hang``, or ``uncaptured`` (PyTorch itself cannot export it).
        reason: for counting: a message without its particulars.
        message: the message.
    """

    kind: str
    reason: str = ""
    message: str = ""

    @property
    def is_finding(self) -> bool:
        """Whether somebody has to look at it."""
        return self.kind in ("wrong", "foreign", "crash", "hang")


RIGHT = Outcome("right")


@dataclass(frozen=True)
class _Call:
    """What eager does at one call."""

    sizes: Mapping[str, int]
    draw: int
    results: list[torch.Tensor]
    arguments: list[torch.Tensor]
    state: dict[str, torch.Tensor]


class Trial:
    """A program with what eager makes of it."""

    def __init__(self, program: Program) -> None:
        self.program = program

    @cached_property
    def calls(self) -> list[_Call]:
        """Three calls with the second's values other ones, or one for each of the sizes that eager takes."""
        model, calls = self.program.module(), list[_Call]()
        sizes = [CAPTURED, *BOUNDS, CAPTURED] if self.program.dynamic else [CAPTURED] * 3
        for number, each in enumerate(sizes):
            draw = 0 if each is CAPTURED and number != 1 else number
            arguments = self.program.arguments(draw, each)
            before = deepcopy(model.state_dict())
            try:
                results = list(_quietly(model, arguments))
            except Exception:
                if not number:
                    raise
                model.load_state_dict(before)
                continue
            if all(_is_meaningful(result) for result in results):
                kept = (deepcopy(results), deepcopy(arguments), deepcopy(model.state_dict()))
                calls.append(_Call(each, draw, *kept))
            else:
                model.load_state_dict(before)
        return calls

    @property
    def key(self) -> tuple[Any, ...]:
        """Programs with the same one can be called together."""
        return (
            self.program.dynamic,
            self.program.training,
            tuple((tuple(call.sizes.values()), call.draw) for call in self.calls),
        )


def _is_meaningful(result: torch.Tensor) -> bool:
    return isinstance(result, torch.Tensor)


def _quietly(model: nn.Module, arguments: Sequence[torch.Tensor]) -> Any:
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model(*arguments)


class Unit(nn.Module):
    """Programs side by side; the arguments are those of the first, then those of the second."""

    def __init__(self, programs: Sequence[Program]) -> None:
        super().__init__()
        self.programs = nn.ModuleList(program.module() for program in programs)
        self.counts = [len(program.inputs) for program in programs]

    def forward(self, *arguments: torch.Tensor) -> tuple[Any, ...]:
        """Runs them all."""
        results, start = [], 0
        for program, count in zip(self.programs, self.counts, strict=True):
            results.append(program(*arguments[start : start + count]))
            start += count
        return tuple(results)


def check(programs: Sequence[Program], names: Sequence[str]) -> Iterator[tuple[int, str, Outcome]]:
    """The outcome of every program on every configuration, with the number of the program."""
    groups = dict[Any, list[tuple[int, Trial]]]()
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


Group = Sequence[tuple[int, Trial]]


def _check_group(group: Group, names: Sequence[str]) -> Iterator[tuple[int, str, Outcome]]:
    try:
        exported = export_unit(group)
    except Exception as error:
        if len(group) > 1:
            for half in _halves(group):
                yield from _check_group(half, names)
        else:
            outcome = Outcome(
                "uncaptured", _reason(error), f"{type(error).__name__}: {error}"[:1000]
            )
            yield from ((group[0][0], name, outcome) for name in names)
        return
    fixed = [member for member, is_fixed in zip(group, specialised(group, exported)) if is_fixed]
    if fixed:
        for number, _ in fixed:
            yield from ((number, name, _SPECIALISED) for name in names)
        if rest := [member for member in group if member not in fixed]:
            yield from _check_group(rest, names)
        return
    unit = _Captured(exported)
    for name in names:
        yield from _check_on(group, unit, name)


_SPECIALISED = Outcome("uncaptured", "PyTorch captures it for one size only")


def specialised(group: Group, exported: torch.export.ExportedProgram) -> list[bool]:
    """Which programs PyTorch captured for a fixed size that should vary."""
    names = iter(exported.graph_signature.user_inputs)
    held = {node.name: node.meta.get("val") for node in exported.graph.nodes}
    return [
        any(
            isinstance(size, str) and isinstance(held[str(name)].shape[axis], int)
            for x, name in zip(trial.program.inputs, names)
            for axis, size in enumerate(x.shape)
        )
        for _, trial in group
    ]


def _halves(group: Group) -> tuple[Group, Group]:
    middle = len(group) // 2
    return group[:middle], group[middle:]


def export_unit(group: Group) -> torch.export.ExportedProgram:
    unit = Unit([trial.program for _, trial in group]).train(group[0][1].program.training)
    arguments = unit_arguments(group, group[0][1].calls[0])
    shapes = None
    if group[0][1].program.dynamic:
        varies = Dim.AUTO(min=0, max=LARGEST)
        specs = [
            {axis: varies for axis, size in enumerate(x.shape) if isinstance(size, str)}
            for _, trial in group
            for x in trial.program.inputs
        ]
        shapes = (tuple(specs),)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.export.export(unit, tuple(arguments), dynamic_shapes=shapes, strict=False)


def unit_arguments(group: Group, call: _Call) -> list[torch.Tensor]:
    return [x for _, trial in group for x in trial.program.arguments(call.draw, call.sizes)]


class _Captured:
    """An exported unit, imported once for all configurations unless it has state."""

    def __init__(self, exported: torch.export.ExportedProgram) -> None:
        self.exported = exported

    @cached_property
    def _program(self) -> Captured:
        return capture(self.exported)

    def compiled(self, name: str) -> _Compiled:
        """It on a configuration."""
        if self.exported.graph_signature.buffers:
            return compiled_unit(self.exported, name)
        held = {**self.exported.constants, **self.exported.state_dict}
        program, signature = self._program, copy(self._program.signature)
        for field in ("inputs", "outputs", "decisions"):  # lowering writes to them
            setattr(signature, field, list(getattr(signature, field)))
        module = program.module.clone()
        return _compiled(replace(program, module=module, signature=signature), name, held)


def _check_on(group: Group, unit: _Captured, name: str) -> Iterator[tuple[int, str, Outcome]]:
    try:
        outcomes = _outcomes(group, unit.compiled(name))
    except Exception as error:
        outcome = _failed(error)
        if len(group) == 1:
            yield group[0][0], name, outcome
            return
        guilty = [member for member in group if _is_of(error, member[1].program)]
        if len(guilty) == 1 and outcome.kind == "refused":
            yield guilty[0][0], name, outcome
            parts: Sequence[Group] = [[member for member in group if member not in guilty]]
        else:
            parts = _halves(group)
        for part in parts:
            yield from _check_on(part, _Captured(export_unit(part)), name)
        return
    for (number, _), outcome in zip(group, outcomes, strict=True):
        yield number, name, outcome


def _failed(error: Exception) -> Outcome:
    ours = isinstance(error, Torch2MLIRError)
    trace = "" if ours else "".join(traceback.format_tb(error.__traceback__)[-4:])
    message = f"{type(error).__name__}: {error}"[:2000] + "\n" + trace
    return Outcome("refused" if ours else "foreign", _reason(error), message)


def _is_of(error: Exception, program: Program) -> bool:
    """Whether an error tells of a line of a program."""
    location = error.location if isinstance(error, Torch2MLIRError) else None
    return location is not None and program.file() in location


def _reason(error: Exception) -> str:
    """A message without what is particular to a program."""
    first = str(error).strip().partition("\n")[0]
    short = re.sub(r"[vx]?\d+|%\w+|'[^']*\.[^']*\.[^']*'|tensor<[^>]*>", "_", first)
    return f"{type(error).__name__}: {short}"[:110]


@dataclass
class _Compiled:
    """A unit compiled for a configuration, with the tensors that it holds."""

    function: Any
    held: dict[str, torch.Tensor]

    def state_of(self, place: int) -> dict[str, torch.Tensor]:
        """What belongs to one of the programs."""
        prefix = f"programs.{place}."
        return {
            key.removeprefix(prefix): value
            for key, value in self.held.items()
            if key.startswith(prefix)
        }


def compiled_unit(exported: torch.export.ExportedProgram, name: str) -> _Compiled:
    """An exported unit on a configuration."""
    exported = deepcopy(exported) if exported.graph_signature.buffers else exported
    return _compiled(exported, name, {**exported.constants, **exported.state_dict})


def _compiled(model: Any, name: str, held: Mapping[str, Any]) -> _Compiled:
    output_type, engine = CONFIGURATIONS[name]
    function = torch2mlir.compile(model, output_type=output_type, engine=engine)
    return _Compiled(function, {k: v for k, v in held.items() if isinstance(v, torch.Tensor)})


def _outcomes(group: Group, unit: _Compiled) -> list[Outcome]:
    differences: list[str] = ["" for _ in group]
    earlier: list[tuple[list[Any], list[Any]]] = []
    for turn, call in enumerate(group[0][1].calls):
        arguments, before = unit_arguments(group, call), deepcopy(unit.held)
        with torch.no_grad():
            results = list(unit.function(*arguments))
        start = 0
        for place, (_, trial) in enumerate(group):
            stop = start + len(trial.program.inputs)
            was = _Compiled(None, before).state_of(place)
            state = {key: (was[key], value) for key, value in unit.state_of(place).items()}
            found = _difference(trial, turn, results[place], arguments[start:stop], state)
            found = found or _overwritten(place, earlier)
            if found and not differences[place]:
                differences[place] = f"call {turn + 1} ({dict(call.sizes)}): {found}"
            start = stop
        for key, value in unit.held.items():
            if not key.startswith("programs.") and not same_bits(before[key], value):
                differences = [d or f"a captured constant {key} was changed" for d in differences]
        earlier.append((results, deepcopy(results)))
    return [Outcome("wrong", d.partition(": ")[2][:60], d) if d else RIGHT for d in differences]


def _overwritten(place: int, earlier: Sequence[tuple[list[Any], list[Any]]]) -> str:
    """Whether a call changed what an earlier one had returned."""
    for results, copies in earlier:
        if not all(same_bits(a, b) for a, b in zip(results[place], copies[place], strict=True)):
            return "a result of an earlier call was overwritten"
    return ""


def _difference(
    trial: Trial,
    turn: int,
    results: Sequence[torch.Tensor],
    arguments: Sequence[torch.Tensor],
    state: Mapping[str, tuple[torch.Tensor, torch.Tensor]],
) -> str:
    """How a call of a program differs from eager's, or nothing."""
    call, program = trial.calls[turn], trial.program
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
