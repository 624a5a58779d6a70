"""The smallest program that still shows a finding: fewer lines, fewer results, values cut loose as arguments."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace

import torch

from tests.fuzz.program import NAME, NAMES, Input, Output, Program
from tests.fuzz.trial import Outcome

Asks = Callable[[Program], Outcome]


def reduced(program: Program, outcome: Outcome, ask: Asks, attempts: int = 60) -> Program:
    """A smaller program with an outcome of the same kind (and reason, unless it is a wrong result)."""
    best, changed = program, True
    while changed and attempts > 0:
        changed = False
        for candidate in _smaller(best):
            attempts -= 1
            if attempts <= 0:
                break
            if _runs(candidate) and _is_same(ask(candidate), outcome):
                best, changed = candidate, True
                break
    return best


def _is_same(one: Outcome, other: Outcome) -> bool:
    return one.kind == other.kind and (one.kind == "wrong" or one.reason == other.reason)


def _runs(program: Program) -> bool:
    """Whether eager takes it."""
    try:
        model = program.module()
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model(*program.arguments(0, program.sizes.captured))
    except Exception:
        return False
    return True


def _smaller(program: Program) -> Iterator[Program]:
    if len(program.outputs) > 1:
        for output in program.outputs:
            yield replace(program, outputs=(output,)).pruned()
        for output in program.outputs:
            rest = tuple(other for other in program.outputs if other != output)
            yield replace(program, outputs=rest).pruned()
    for number in range(len(program.lines)):
        lines = program.lines[:number] + program.lines[number + 1 :]
        if lines:
            yield replace(program, lines=lines).pruned()
    yield from _cut(program)
    yield from _static(program)
    for number, given in enumerate(program.inputs):
        for dtype in ("float32", "int64"):
            if given.dtype not in ("bool", dtype) and not given.below and given.kind != "large":
                other = replace(given, dtype=dtype)
                inputs = (*program.inputs[:number], other, *program.inputs[number + 1 :])
                yield replace(program, inputs=inputs)
    yield from _shorter(program)


def _cut(program: Program) -> Iterator[Program]:
    """A value as an argument instead of the line that makes it."""
    values = _values(program)
    for number, text in enumerate(program.lines):
        made = re.match(r"(v\d+) = [^\n]*$", text)
        if made is None or made[1] not in values or len(program.lines) == 1:
            continue
        tensor = values[made[1]]
        name = f"x{len(program.lines)}{number}{len(program.inputs)}"
        dtype = str(tensor.dtype).removeprefix("torch.")
        if program.dynamic or tensor.dtype.is_complex:
            continue
        given = Input(name, dtype, tuple(tensor.shape))
        lines = program.lines[:number] + program.lines[number + 1 :]
        renamed = tuple(re.sub(rf"\b{made[1]}\b", name, line) for line in lines)
        if any(output.name == made[1] for output in program.outputs):
            continue
        yield replace(
            program,
            lines=renamed,
            inputs=(*program.inputs, given),
            written=(*program.written, Output(name, 0.0, False)),
        ).pruned()


def _values(program: Program) -> dict[str, torch.Tensor]:
    scope = {**NAMES, "self": program.module()}
    scope |= dict(
        zip(
            (x.name for x in program.inputs),
            program.arguments(0, program.sizes.captured),
            strict=True,
        )
    )
    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for text in program.lines:
                exec(text, scope)
    except Exception:
        return {}
    return {
        name: value
        for name, value in scope.items()
        if NAME.fullmatch(name) and isinstance(value, torch.Tensor)
    }


def _static(program: Program) -> Iterator[Program]:
    if program.dynamic:
        yield replace(
            program,
            inputs=tuple(
                replace(x, shape=tuple(program.sizes.captured.get(str(n), n) for n in x.shape))
                for x in program.inputs
            ),
        )


def _shorter(program: Program) -> Iterator[Program]:
    """Smaller and fewer sizes."""
    for number, given in enumerate(program.inputs):
        for axis, size in enumerate(given.shape):
            for other in (1, 2):
                if isinstance(size, int) and size > other:
                    shape = (*given.shape[:axis], other, *given.shape[axis + 1 :])
                    inputs = list(program.inputs)
                    inputs[number] = replace(given, shape=shape)
                    yield replace(program, inputs=tuple(inputs))
