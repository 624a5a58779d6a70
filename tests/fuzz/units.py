"""Many programs as one: exported, imported, brought to the contract and compiled together, to be quick.

What is refused of a unit is refused of the program that the error tells of, by a line or by an argument, and the unit goes
on without it: the program's results, and what only they need, are cut out of what was captured. Where nothing tells,
the unit is halved; a program that is left alone so is tried once more by itself, as a user would compile it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import torch
from torch import nn
from torch.export import Dim
from xdsl.dialects.builtin import FileLineColLoc, FunctionType
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

import torch2mlir
from tests.fuzz.trial import CONFIGURATIONS, Call, Trial
from torch2mlir.dialects.torch.dims import Dim as Size
from torch2mlir.errors import Torch2MLIRError
from torch2mlir.frontends.capture import capture
from torch2mlir.pipeline import Pipeline
from torch2mlir.program import ConstantOutput, Program, Signature, UserOutput, entry_function

Member = tuple[int, Trial]
"""A program with its number among those asked about."""
Group = Sequence[Member]
T = TypeVar("T")

_LEFT_OUT = ConstantOutput(None)


class Unexported(Exception):
    """Some programs of a unit cannot be exported.

    Attributes:
        errors: by place in the unit. After the first one, PyTorch's tracer may be confused about the others.
    """

    def __init__(self, errors: dict[int, Exception]) -> None:
        self.errors = errors
        self.is_certain = all(isinstance(error, Specialised) for error in errors.values())
        super().__init__(f"{len(errors)} programs")


class Specialised(Exception):
    """PyTorch captures a program for one size only."""


class Unit(nn.Module):
    """Programs side by side; the arguments are those of the first, then those of the second."""

    def __init__(self, group: Group) -> None:
        super().__init__()
        programs = [trial.program for _, trial in group]
        self.programs = nn.ModuleList(program.module() for program in programs)
        self.places = list(places_of(group))

    def forward(self, *arguments: torch.Tensor) -> tuple[Any, ...]:
        """Runs them all, also after one that fails, to say at once which do."""
        results, errors = [], dict[int, Exception]()
        for number, (program, place) in enumerate(zip(self.programs, self.places, strict=True)):
            try:
                results.append(program(*arguments[place]))
            except Exception as error:
                errors[number] = error
        if errors:
            raise Unexported(errors)
        return tuple(results)


def places_of(group: Group) -> Iterator[slice]:
    """For each program, where its arguments are among those of the unit."""
    start = 0
    for _, trial in group:
        stop = start + len(trial.program.inputs)
        yield slice(start, stop)
        start = stop


def unit_arguments(group: Group, call: Call) -> list[torch.Tensor]:
    """The arguments of a call of the unit."""
    return [x for _, trial in group for x in trial.program.arguments(call.draw, call.sizes)]


def export_unit(group: Group) -> torch.export.ExportedProgram:
    """The programs exported as one.

    Raises:
        Unexported: some cannot be, or only for a fixed size where it should vary.
    """
    unit = Unit(group).train(group[0][1].program.training)
    arguments = unit_arguments(group, group[0][1].calls[0])
    shapes = None
    if group[0][1].program.dynamic:
        varies = Dim.AUTO(min=0, max=group[0][1].program.sizes.largest)
        specs = [
            {axis: varies for axis, size in enumerate(x.shape) if isinstance(size, str)}
            for _, trial in group
            for x in trial.program.inputs
        ]
        shapes = (tuple(specs),)
    with (
        warnings.catch_warnings()
    ):  # in grad mode, where regions without it are bodies of their own
        warnings.simplefilter("ignore")
        exported = torch.export.export(unit, tuple(arguments), dynamic_shapes=shapes, strict=False)
    if fixed := set(_specialised(group, exported)):
        raise Unexported({place: Specialised() for place in sorted(fixed)})
    return exported


def _specialised(group: Group, exported: torch.export.ExportedProgram) -> Iterator[int]:
    """The places of the programs that PyTorch captured for a fixed size that should vary."""
    names = iter(exported.graph_signature.user_inputs)
    held = {node.name: node.meta.get("val") for node in exported.graph.nodes}
    for place, (_, trial) in enumerate(group):
        for x, name in zip(trial.program.inputs, names):
            shape = held[str(name)].shape
            if any(isinstance(n, str) and isinstance(shape[i], int) for i, n in enumerate(x.shape)):
                yield place


@dataclass
class Compiled:
    """Programs compiled for a configuration, with the tensors that they hold.

    Attributes:
        function: takes the arguments of the whole unit.
        held: weights, buffers and constants by name.
    """

    function: Any
    held: dict[str, torch.Tensor]


class CapturedUnit:
    """An exported unit, and what the dialects made of it.

    Args:
        group: the programs, all of them.
        exported: the unit.

    Raises:
        Torch2MLIRError: it cannot be imported.
    """

    def __init__(self, group: Group, exported: torch.export.ExportedProgram) -> None:
        self.group, self.exported = group, exported
        self.has_state = bool(exported.graph_signature.buffers)
        self._captured = capture(exported)
        self._lowered = dict[str, tuple[Program, Group]]()

    def compiled(self, name: str, members: Group) -> Compiled:
        """Some of its programs on a configuration."""
        output_type, engine = CONFIGURATIONS[name]
        exported = deepcopy(self.exported) if self.has_state else self.exported
        held = {**exported.constants, **exported.state_dict}
        if self.has_state:  # which every configuration changes, so that each has its own
            program = self.without(capture(exported), members)
        else:
            program = self._at_contract(output_type, members)
        function = torch2mlir.compile(program, output_type=output_type, engine=engine)
        return Compiled(function, {k: v for k, v in held.items() if isinstance(v, torch.Tensor)})

    def _at_contract(self, output_type: str, members: Group) -> Program:
        """The program for a dialect, from what is known of more of them where something is."""
        known, of = self._lowered.get(output_type, (self._captured, self.group))
        if not set(_numbers(members)) <= set(_numbers(of)):
            known = self._captured
        program = self.without(known, members)
        Pipeline.to(output_type).lower(program, weights_as_arguments=True)
        self._lowered[output_type] = program, members
        return _copied(program)

    def without(self, program: Program, members: Group) -> Program:
        """A copy of a program of the unit with the results of these members only."""
        program, kept = _copied(program), set(_numbers(members))
        dropped = [place for place, (number, _) in enumerate(self.group) if number not in kept]
        if dropped:
            self._cut(program, dropped)
        return program

    def _cut(self, program: Program, dropped: Sequence[int]) -> None:
        """Takes the results at these places of the unit away, and what only they need; in place."""
        signature, slices = program.signature, list(places_of(self.group))
        files = {self.group[place][1].program.file() for place in dropped}
        names = tuple(f"programs.{place}." for place in dropped)
        written = {n for place in dropped for n in range(slices[place].start, slices[place].stop)}
        owners = [
            place for place, (_, trial) in enumerate(self.group) for _ in trial.program.outputs
        ]
        function = entry_function(program.module, program.func_name)
        values = iter(function.body.block.last_op.operands)  # type: ignore[union-attr]
        mutations = [(mutation, next(values)) for mutation in signature.mutations]
        left = [
            (mutation, value)
            for mutation, value in mutations
            if mutation.position not in written and not mutation.name.startswith(names)
        ]
        signature.mutations, results = [m for m, _ in left], [value for _, value in left]
        for index, owner in enumerate(owners):
            if isinstance(signature.outputs[index], UserOutput):
                value = next(values)
                if owner in dropped:
                    signature.outputs[index] = _LEFT_OUT
                else:
                    results.append(value)
        checked = zip(signature.checks, values, strict=True)
        kept = [(check, value) for check, value in checked if _file(check.location) not in files]
        signature.checks = [check for check, _ in kept]
        alone = _symbols_of(signature, written)
        signature.ranges = {k: v for k, v in signature.ranges.items() if k not in alone}
        _return(function, [*results, *(value for _, value in kept)])
        _erase_unused(function, files)
        signature.decisions = [
            decision
            for decision in signature.decisions
            if _file(decision.location) not in files and not alone & set(decision.symbols)
        ]


def _symbols_of(signature: Signature, positions: Collection[int]) -> set[str]:
    """The symbols that only sizes of the arguments at these positions have."""
    named: dict[bool, set[str]] = {True: set(), False: set()}
    for item in signature.user_inputs:
        sizes = (item.type.sizes or ()) if item.type else ()
        symbols = (name for size in sizes if isinstance(size, Size) for name in size.symbols())
        named[item.position in positions].update(symbols)
    return named[True] - named[False]


def _numbers(members: Group) -> list[int]:
    return [number for number, _ in members]


def _copied(program: Program) -> Program:
    """A copy that can be lowered and cut; the tensors are the same."""
    signature = copy(program.signature)
    for field in ("inputs", "mutations", "outputs", "decisions"):
        setattr(signature, field, list(getattr(signature, field)))
    return replace(program, module=program.module.clone(), signature=signature)


def _return(function: FuncOp, results: Sequence[SSAValue]) -> None:
    """Makes these the results of a function."""
    last = function.body.block.last_op
    assert last is not None
    last.operands = results
    function.properties["function_type"] = FunctionType.from_lists(
        list(function.function_type.inputs), [value.type for value in results]
    )


def _erase_unused(function: FuncOp, files: Collection[str]) -> None:
    """Erases the ops of these files that no result needs."""
    for op in reversed(list(function.body.block.ops)):
        own = isinstance(op.location, FileLineColLoc) and op.location.filename.data in files
        if own and not any(result.uses for result in op.results):
            op.detach()
            op.erase()


def _file(location: str) -> str:
    return location.rpartition(":")[0]


Refuse = Callable[[Member, Exception], None]


def captured_units(group: Group, refuse: Refuse) -> Iterator[CapturedUnit]:
    """The programs as few units.

    Args:
        group: programs that can be called together.
        refuse: told of what cannot be exported (by an Unexported), or imported, and why.
    """
    if not group:
        return
    try:
        exported = export_unit(group)
    except Unexported as error:
        failed = [group[place] for place in error.errors]
        certain = failed if error.is_certain else failed[:1]
        for member, each in zip(certain, error.errors.values(), strict=False):
            refuse(member, Unexported({0: each}))
        for part in ([m for m in group if m not in failed], failed[len(certain) :]):
            yield from captured_units(part, refuse)
        return
    except Exception as error:
        yield from _without_guilty(group, Unexported({0: error}), [], refuse)
        return
    try:
        unit = CapturedUnit(group, exported)
    except Exception as error:
        guilty = [member for member in group if tells_of(error, member[1])]
        yield from _without_guilty(group, error, guilty, refuse)
        return
    yield unit


def _without_guilty(
    group: Group, error: Exception, guilty: Group, refuse: Refuse
) -> Iterator[CapturedUnit]:
    """The units of a group that an error was raised for, which may tell of one program."""
    if len(group) == 1 or len(guilty) == 1:
        member = (guilty or group)[0]
        refuse(member, error)
        yield from captured_units([m for m in group if m is not member], refuse)
        return
    for half in _halves(group):
        yield from captured_units(half, refuse)


def run_on(
    unit: CapturedUnit,
    members: Group,
    name: str,
    run: Callable[[Group, Group, Compiled], Sequence[T]],
) -> Iterator[tuple[Member, T | Exception]]:
    """What comes of compiling some programs of a unit for a configuration and running them.

    Args:
        unit: the unit.
        members: those of its programs that are wanted.
        name: of the configuration.
        run: given the unit's programs, the members and what was compiled, something for each member.
    """
    if not members:
        return
    try:
        found = run(unit.group, members, unit.compiled(name, members))
    except Exception as error:
        guilty = [member for member in members if tells_of(error, member[1])]
        guilty = guilty or _given(error, unit, members)
        if len(guilty) == 1:
            yield guilty[0], error
            yield from run_on(unit, [m for m in members if m not in guilty], name, run)
        elif len(members) > 1:
            for half in _halves(members):
                yield from run_on(unit, half, name, run)
        elif len(unit.group) > 1:
            alone = CapturedUnit(members, export_unit(members))
            yield from run_on(alone, members, name, run)
        else:
            yield members[0], error
        return
    yield from zip(members, found, strict=True)


def _halves(group: Group) -> tuple[Group, Group]:
    middle = len(group) // 2
    return group[:middle], group[middle:]


def tells_of(error: Exception, trial: Trial) -> bool:
    """Whether an error of ours names a line of a program."""
    location = error.location if isinstance(error, Torch2MLIRError) else None
    return location is not None and trial.program.file() in location


def _given(error: Exception, unit: CapturedUnit, members: Group) -> Group:
    """The program of which an error of ours names an argument, or a result of a unit that writes nothing."""
    if not isinstance(error, Torch2MLIRError):
        return []
    named = re.search(r"result (\d+) of @", str(error))
    if named is not None and not unit.exported.graph_signature.buffers_to_mutate:
        owners = [member for member in members for _ in member[1].program.outputs]
        return owners[int(named[1]) :][:1]
    named = re.search(r"input '(\w+)'", str(error))
    if named is None:
        return []
    names = list(map(str, unit.exported.graph_signature.user_inputs))
    return [
        member
        for member, place in zip(unit.group, places_of(unit.group), strict=True)
        if named[1] in names[place] and member in members
    ]
