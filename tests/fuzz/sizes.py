"""Random programs that compute with the sizes of their tensors, called with many sizes, each call against eager mode's.

    python -m tests.fuzz.sizes --count 500 --seed 7 --through model,torchscript --on tosa-iree

A call that eager mode refuses has to be refused; one that it takes is right, captured again, or an ``InputError``.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch.export import Dim

import torch2mlir
from tests.fuzz import families  # noqa: F401 - registers the lines
from tests.fuzz.check import value_difference
from tests.fuzz.generate import generate
from tests.fuzz.program import SMALL, Program, random_from
from tests.fuzz.trial import CONFIGURATIONS, Call
from torch2mlir import torchscript
from torch2mlir.errors import Torch2MLIRError

FAMILIES = ("sizes", "movement")
"""Kinds of lines."""
BOUNDS = (
    {"B": 6, "S": 4},
    {"B": 3, "S": 4},
    {"B": 2, "S": 7},
    {"B": 0, "S": 4},
    {"B": 5, "S": 0},
    {"B": 1, "S": 1},
    {"B": 8, "S": 1},
    {"B": 8, "S": 8},
    {"B": 1, "S": 6},
    {"B": 0, "S": 0},
)
WITH_ORDER = replace(SMALL, captured={"B": 5, "S": 3}, other={"B": 7, "S": 4}, bounds=BOUNDS)
"""Sizes of which one is larger wherever a program is grown, so that it may need that."""
WITHOUT_ORDER = replace(WITH_ORDER, other={"B": 2, "S": 6})


def program_of(seed: int) -> Program:
    """The program of a seed; either size may be the larger, or has to be."""
    sizes = random_from(seed ^ 0x0DE5).choice([WITH_ORDER, WITHOUT_ORDER])
    chosen = FAMILIES[:1] if seed % 2 else FAMILIES
    return generate(seed, chosen, dynamic=True, sizes=sizes)


Function = Callable[..., Any]


@dataclass(frozen=True)
class Entered:
    """A program that was taken.

    Attributes:
        function: called as the program is.
        same: other readings of it, which it may agree with: an exported program may have taken a size for 2 or more,
            and PyTorch leaves out of a compiled graph what is not used, although eager mode would raise there.
    """

    function: Function
    same: tuple[Function, ...] = ()


def _shapes(program: Program, size: Any) -> tuple[dict[int, Any], ...]:
    """Which sizes of the arguments vary."""
    return tuple(
        {axis: size for axis, n in enumerate(x.shape) if isinstance(n, str)} for x in program.inputs
    )


def _model(program: Program, examples: Sequence[torch.Tensor], target: dict[str, str]) -> Entered:
    model, shapes = program.module(), _shapes(program, Dim.AUTO)
    return Entered(torch2mlir.compile(model, *examples, dynamic_shapes=shapes, **target))


def _exported(
    program: Program, examples: Sequence[torch.Tensor], target: dict[str, str]
) -> Entered:
    varies = Dim.AUTO(min=0, max=program.sizes.largest)
    shapes = _shapes(program, varies)
    exported = torch.export.export(program.module(), tuple(examples), dynamic_shapes=shapes)
    return Entered(torch2mlir.compile(exported, **target), (exported.module(),))


def _torchscript(
    program: Program, examples: Sequence[torch.Tensor], target: dict[str, str]
) -> Entered:
    placeholders = [
        torchscript.TensorPlaceholder(
            [-1 if isinstance(size, str) else size for size in given.shape], example.dtype
        )
        for given, example in zip(program.inputs, examples, strict=True)
    ]
    script = torch.jit.script(program.module())
    captured = torchscript.capture(script, placeholders)
    return Entered(torch2mlir.compile(captured, **target))


def _torch_compile(
    program: Program, examples: Sequence[torch.Tensor], target: dict[str, str]
) -> Entered:
    torch._dynamo.reset()
    model, other = program.module(), program.module()
    traced = torch.compile(other, backend="aot_eager", dynamic=True)
    ours = torch.compile(model, backend="torch2mlir", dynamic=True, options=target)
    return Entered(ours, (traced,))


ENTRANCES = {
    "model": _model,
    "exported": _exported,
    "torchscript": _torchscript,
    "torch.compile": _torch_compile,
}


@dataclass
class Tally:
    """What a campaign came to.

    Attributes:
        calls: by entrance and what became of a call: ``right``, ``refused``, ``refused by both``, ``of nothing`` (see
            ``OF_NOTHING``).
        refused: by entrance, programs that could not be compiled.
        reasons: by entrance and message, what was refused that eager mode takes.
    """

    calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter)


def findings(program: Program, name: str, target: dict[str, str], tally: Tally) -> Iterator[str]:
    """How a program differs from eager mode's through an entrance, in the first call in which it does."""
    captured, bounds = program.sizes.captured, program.sizes.bounds
    try:
        entered = ENTRANCES[name](program, program.arguments(0, captured), target)
    except Exception as error:
        tally.refused[name] += 1
        tally.reasons[name, _reason(error)] += 1
        return
    eager = program.module()
    for draw, sizes in enumerate([captured, *bounds, captured]):
        ours = _called(entered.function, program, draw, sizes)
        expected = _called(eager, program, draw, sizes)
        if isinstance(ours, Exception):
            is_right = isinstance(expected, Exception)
            tally.calls[name, "refused by both" if is_right else "refused"] += 1
            if not is_right:
                tally.reasons[name, _reason(ours)] += 1
            found = "" if is_right or isinstance(ours, Torch2MLIRError) else _reason(ours)
        else:
            found = _difference(program, ours, expected)
            others = (_called(each, program, draw, sizes) for each in entered.same)
            if found and not all(_difference(program, ours, each) for each in others):
                found = ""
            if found and _is_of_nothing(expected):
                found = ""
                tally.calls[name, "of nothing"] += 1
            elif not found:
                tally.calls[name, "right"] += 1
        if found:
            yield f"call {draw} ({sizes}): {found}"
            return


def _called(
    function: Function, program: Program, draw: int, sizes: Mapping[str, int]
) -> Call | Exception:
    """What a function makes of new arguments, and of the arguments; or what it raises."""
    arguments = program.arguments(draw, sizes)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return Call(sizes, draw, list(function(*arguments)), arguments, {})
        except Exception as error:
            return error


OF_NOTHING = ("is ambiguous", "length must be non-negative", "to have non-zero size")
"""What eager mode says of tensors without elements, of which something without elements comes elsewhere."""


def _is_of_nothing(theirs: Call | Exception) -> bool:
    return isinstance(theirs, Exception) and any(words in str(theirs) for words in OF_NOTHING)


def _difference(program: Program, ours: Call, theirs: Call | Exception) -> str:
    if isinstance(theirs, Exception):
        return f"{_shown(ours.results)} where eager mode raises {theirs}"
    return value_difference(program, theirs, ours.results, ours.arguments)


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:160]}"


def _shown(results: Sequence[torch.Tensor]) -> str:
    return ", ".join(f"{str(x.dtype).removeprefix('torch.')}{list(x.shape)}" for x in results)


def main() -> int:
    """Runs a campaign; 1 if something differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.sizes", description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="how many programs")
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="no new ones after")
    parser.add_argument("--through", default=",".join(ENTRANCES))
    parser.add_argument("--on", default="linalg-reference", help=", ".join(CONFIGURATIONS))
    parser.add_argument("--show", action="store_true", help="print the programs")
    options = parser.parse_args()
    until, tally, failed = time.monotonic() + 60 * options.minutes, Tally(), 0
    targets = [CONFIGURATIONS[name] for name in options.on.split(",")]
    for seed in range(options.seed, options.seed + options.count):
        if time.monotonic() > until:
            break
        program = program_of(seed)
        if options.show:
            print(program.report())
            continue
        output_type, engine = targets[seed % len(targets)]
        target = {"output_type": output_type, "engine": engine}
        for name in options.through.split(","):
            for finding in findings(program, name, target, tally):
                failed += 1
                print(
                    f"## {name}, {output_type} on {engine}: {finding}\n{program.report()}",
                    flush=True,
                )
    for (name, what), count in sorted(tally.calls.items()):
        print(f"{name}: {count} calls {what}")
    for name, count in sorted(tally.refused.items()):
        print(f"{name}: {count} programs refused")
    for (name, reason), count in tally.reasons.most_common(60):
        print(f"{count:5} {name}: {reason}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
