"""The three dialects compared with each other, where eager PyTorch is not asked.

    python -m tests.fuzz.between --count 20000 --processes 4          # nightly
    python -m tests.fuzz.between --count 500 --seed 7 --on linalg-reference,stablehlo-xla

Programs are compiled many at a time (``tests.fuzz.units``), by default on the engines that users run on; on what one
dialect refuses, the others are still compared.
Of every few lots of programs (``--dynamic-every``, 4) one is of sizes known at run time. Differences go to ``--findings``.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import torch

from tests.fuzz import families  # noqa: F401 - registers the lines
from tests.fuzz.check import UNIT, difference
from tests.fuzz.generate import generate
from tests.fuzz.program import Program
from tests.fuzz.trial import CONFIGURATIONS, Trial
from tests.fuzz.units import (
    Compiled,
    Group,
    Member,
    Unexported,
    captured_units,
    run_on,
    unit_arguments,
)
from torch2mlir.errors import InputError, Torch2MLIRError

FAMILIES = ("elementwise", "comparison", "reduction", "extrema", "movement", "indexing")
"""Kinds of lines that every dialect has words for, of which CI takes its share."""
FIRST_SEED = 10**6
"""Of the programs on which the dialects are compared; other campaigns begin at 0."""
DRAWN = 8 * UNIT
"""Programs generated at a time; those of them that can be called together are compiled together."""

Results = dict[int, list[list[Any]]]
"""Number of a program -> for each call, its results."""


@dataclass
class Tally:
    """What a campaign came to.

    Attributes:
        programs: how many were generated.
        compared: by pair of configurations, how many programs both took.
        refused: by configuration, how many programs it refused, or PyTorch's capture did, or eager mode.
        found: the differences, each with its program.
    """

    programs: int = 0
    compared: Counter[tuple[str, str]] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    found: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """The sum of both."""
        self.programs += other.programs
        self.compared += other.compared
        self.refused += other.refused
        self.found += other.found


def compare(programs: Sequence[Program], names: Sequence[str]) -> Tally:
    """Runs programs on configurations and compares the results of every two that take a program."""
    tally, groups = Tally(len(programs)), dict[Any, list[Member]]()
    for number, program in enumerate(programs):
        trial = Trial(program)
        try:
            key = trial.key
        except Exception:  # an integer is divided by 0 for some values
            tally.refused["eager"] += 1
            continue
        groups.setdefault(key, []).append((number, trial))
    for group in groups.values():
        for start in range(0, len(group), UNIT):
            _compare_group(group[start : start + UNIT], names, tally)
    return tally


def _compare_group(group: Group, names: Sequence[str], tally: Tally) -> None:
    refused = list[tuple[Member, Exception]]()
    for unit in captured_units(group, lambda *told: refused.append(told)):
        results: dict[str, Results] = {name: {} for name in names}
        members = unit.group
        for place, name in enumerate(names):
            for member, found in run_on(unit, members, name, _results):
                if not isinstance(found, Exception):
                    results[name][member[0]] = found
                    continue
                _failure(name, member[1], found, tally)
                if isinstance(found, InputError):  # said before an engine is asked
                    members = [each for each in members if each is not member]
                    for other in names[place + 1 :]:
                        _failure(other, member[1], found, tally)
        for one, other in combinations(names, 2):
            for number, trial in unit.group:
                if number in results[one] and number in results[other]:
                    tally.compared[one, other] += 1
                    pair = results[one][number], results[other][number]
                    tally.found += _differences(trial.program, f"{one} and {other}", *pair)
    for (_, trial), error in refused:
        for name in names:
            _failure(name, trial, error, tally)


def _differences(
    program: Program, names: str, ours: Sequence[Any], theirs: Sequence[Any]
) -> Iterator[str]:
    for turn, (a, b) in enumerate(zip(ours, theirs, strict=True), 1):
        for output, one, other in zip(program.outputs, a, b, strict=True):
            # each may be as far from the exact value as from eager's
            if found := difference(one, other, output, factor=16.0):
                yield f"{names}, call {turn}, {output.name}: {found}\n{program.report()}"
                return


def _results(unit: Group, members: Group, compiled: Compiled) -> list[list[list[Any]]]:
    """For each of some programs of a compiled unit, its results at every call."""
    with torch.no_grad():
        calls = [list(compiled.function(*unit_arguments(unit, call))) for call in unit[0][1].calls]
    return [[results[unit.index(member)] for results in calls] for member in members]


def _failure(name: str, trial: Trial, error: Exception, tally: Tally) -> None:
    """Notes that a program was refused, or failed with an error that is not ours."""
    tally.refused[name] += 1
    if not isinstance(error, Torch2MLIRError | Unexported):
        failure = f"{name}: {type(error).__name__}: {error}"
        tally.found.append(f"{failure}\n{trial.program.report()}")


def compare_seeds(
    first: int,
    count: int,
    names: Sequence[str],
    dynamic: bool,
    of_families: Sequence[str] = FAMILIES,
) -> Tally:
    """The same for the programs of consecutive seeds."""
    torch.set_num_threads(1)
    return compare([generate(first + n, of_families, dynamic) for n in range(count)], names)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.between", description=__doc__)
    parser.add_argument("--count", type=int, default=20_000, help="how many programs")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="no new ones after")
    parser.add_argument("--seed", type=int, default=FIRST_SEED, help="of the first program")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--unit", type=int, default=DRAWN, help="programs drawn at a time")
    parser.add_argument(
        "--dynamic-every", type=int, default=4, help="lots, of which one is dynamic"
    )
    parser.add_argument("--on", default="linalg-iree,tosa-iree,stablehlo-xla")
    parser.add_argument("--families", default="", help="of programs, by commas; all if not given")
    parser.add_argument("--findings", type=Path, default=Path("between-findings.md"))
    return parser.parse_args()


def main() -> int:
    """Runs a campaign; 1 if something differs."""
    options, total, start = _arguments(), Tally(), time.monotonic()
    names = [name for name in CONFIGURATIONS if name in options.on.split(",")]
    chosen = tuple(part for part in options.families.split(",") if part)
    units = iter(range(options.seed, options.seed + options.count, options.unit))
    last = options.seed + options.count
    with ProcessPoolExecutor(options.processes, max_tasks_per_child=50) as pool:
        running = set[Any]()
        while True:
            while len(running) < options.processes and (seed := next(units, None)) is not None:
                if time.monotonic() - start > 60 * options.minutes:
                    break
                lot, every = (seed - options.seed) // options.unit, options.dynamic_every
                dynamic = lot % every == every - 1
                count = min(options.unit, last - seed)
                running.add(pool.submit(compare_seeds, seed, count, names, dynamic, chosen))
            if not running:
                break
            done = next(as_completed(running))
            running.discard(done)
            tally = done.result()
            total.add(tally)
            for finding in tally.found:
                with options.findings.open("a") as stream:
                    print(f"## {finding}", file=stream)
            elapsed = time.monotonic() - start
            line = f"{total.programs} programs, {len(total.found)} findings, {elapsed:.0f} s"
            print(line, flush=True)
    for pair, count in sorted(total.compared.items()):
        print(f"{' and '.join(pair)}: {count} programs compared")
    for name, count in sorted(total.refused.items()):
        print(f"{name}: {count} refused")
    return 1 if total.found else 0


if __name__ == "__main__":
    sys.exit(main())
