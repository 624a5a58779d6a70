"""Differential fuzzing: random programs on every dialect and engine against eager PyTorch.

    python -m tests.fuzz --minutes 60
    python -m tests.fuzz --count 1000 --seed 7 --dialects stablehlo --families movement,indexing
    python -m tests.fuzz --show 4711             # the program of a seed
    python -m tests.fuzz --replay 4711           # and what becomes of it

Programs are numbered: program ``n`` of a campaign is that of seed ``n``. Findings are reduced to a few lines and written
to ``--findings``; at the end there is a table of counts.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from tests.fuzz import families  # noqa: F401 - registers the lines
from tests.fuzz.check import UNIT
from tests.fuzz.generate import FAMILIES, generate
from tests.fuzz.program import Program
from tests.fuzz.reduction import reduced
from tests.fuzz.trial import CONFIGURATIONS, Outcome, Trial
from tests.fuzz.worker import Worker

KINDS = ("right", "refused", "uncaptured", "wrong", "foreign", "crash", "hang")


@dataclass
class Campaign:
    """What was found so far.

    Attributes:
        findings: the file they are written to.
        counts: by configuration and kind.
        reasons: of what is not right, by configuration, kind and reason.
    """

    findings: Path
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    reasons: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    programs: int = 0
    pools: dict[Any, list[Program]] = field(default_factory=dict)
    totals: Path | None = None

    def add(self, worker: Worker, program: Program, names: list[str], reduce: bool) -> None:
        """Checks a program as soon as there are enough that can be compiled with it."""
        try:
            key = Trial(program).key
        except Exception:  # of which the check tells
            key = None
        pool = self.pools.setdefault(key, [])
        pool.append(program)
        if len(pool) == UNIT:
            self.run(worker, self.pools.pop(key), names, reduce)

    def finish(self, worker: Worker, names: list[str], reduce: bool) -> None:
        """Checks those that are left."""
        while self.pools:
            self.run(worker, self.pools.popitem()[1], names, reduce)

    def run(self, worker: Worker, programs: list[Program], names: list[str], reduce: bool) -> None:
        """Checks a unit of programs and notes what becomes of them."""
        for number, name, outcome in worker.ask(programs, names):
            self.counts[name, outcome.kind] += 1
            if outcome.kind != "right":
                self.reasons[name, outcome.kind, outcome.reason] += 1
            if outcome.is_finding and self.reasons[name, outcome.kind, outcome.reason] <= 3:
                self._note(worker, programs, number, name, outcome, reduce)
        self.programs += len(programs)
        if self.totals is not None:
            self.totals.write_text(self.summary())

    def summary(self) -> str:
        """The counts as JSON, with how many programs wait for others like them."""
        counts = {
            name: {kind: self.counts[name, kind] for kind in KINDS} for name in CONFIGURATIONS
        }
        waiting = sum(map(len, self.pools.values()))
        reasons = [[*key, count] for key, count in self.reasons.most_common()]
        held = {"programs": self.programs, "waiting": waiting, "counts": counts, "why": reasons}
        return json.dumps(held, indent=1)

    def _note(
        self,
        worker: Worker,
        unit: list[Program],
        number: int,
        name: str,
        outcome: Outcome,
        reduce: bool,
    ) -> None:
        small = unit[number]
        if reduce:
            small = reduced(small, outcome, lambda p: worker.ask([p], [name])[0][2])
            alone = worker.ask([small], [name])[0][2]
            if alone.kind == outcome.kind:
                outcome = alone
            else:
                seeds = ", ".join(str(program.seed) for program in unit)
                message = f"{outcome.message}\nbut {alone.kind} alone; it was one of {seeds}"
                outcome = replace(outcome, message=message)
        with self.findings.open("a") as stream:
            print(f"## {name}: {outcome.kind}\n{outcome.message}\n{small.report()}", file=stream)

    @property
    def found(self) -> int:
        """How many programs have to be looked at."""
        return sum(count for (_, kind), count in self.counts.items() if Outcome(kind).is_finding)


def tables(campaign: Campaign) -> list[Table]:
    """The counts, and the reasons of what is not right."""
    counts = Table(title=f"{campaign.programs} programs")
    counts.add_column("configuration")
    for kind in KINDS:
        counts.add_column(kind, justify="right")
    for name in CONFIGURATIONS:
        row = [campaign.counts[name, kind] for kind in KINDS]
        if any(row):
            counts.add_row(name, *map(str, row))
    reasons = Table(title="why")
    for column in ("count", "configuration", "kind", "reason"):
        reasons.add_column(column, overflow="fold")
    for (name, kind, reason), count in campaign.reasons.most_common(40):
        reasons.add_row(str(count), name, kind, reason)
    return [counts, reasons]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long")
    parser.add_argument("--count", type=int, default=0, help="how many programs, at most")
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    parser.add_argument("--dialects", default="", help="parts of configurations, by commas")
    parser.add_argument("--families", default="", help=f"of {', '.join(sorted(FAMILIES))}")
    parser.add_argument("--static", dest="dynamic", action="store_false", default=None)
    parser.add_argument("--dynamic", dest="dynamic", action="store_true")
    parser.add_argument("--no-reduction", dest="reduce", action="store_false")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings.md"))
    parser.add_argument("--totals", type=Path, help="a file for the counts so far, after each unit")
    parser.add_argument("--show", type=int, help="print the program of a seed and end")
    parser.add_argument("--replay", type=int, help="run the program of a seed and end")
    return parser.parse_args()


def main() -> int:
    """Runs a campaign; 1 if something was found."""
    options, console = _arguments(), Console()
    wanted = options.dialects.split(",")
    names = [name for name in CONFIGURATIONS if any(part in name for part in wanted)]
    chosen = tuple(part for part in options.families.split(",") if part)
    if options.show is not None:
        console.print(generate(options.show, chosen, options.dynamic).report(), markup=False)
        return 0
    worker, campaign = Worker(), Campaign(options.findings, totals=options.totals)
    if options.replay is not None:
        program = generate(options.replay, chosen, options.dynamic)
        console.print(program.report(), markup=False)
        for _, name, outcome in worker.ask([program], names):
            console.print(f"{name}: {outcome.kind} {outcome.message}", markup=False)
        return 0
    end = time.monotonic() + options.minutes * 60
    text = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*text, console=console) as progress:
        task = progress.add_task("programs", total=options.minutes * 60)
        seed = options.seed
        while (left := end - time.monotonic()) > 0:
            if options.count and seed >= options.seed + options.count:
                break
            before = campaign.programs
            program = generate(seed, chosen, options.dynamic)
            campaign.add(worker, program, names, options.reduce)
            seed += 1
            done = f"{campaign.programs} programs, {campaign.found} findings"
            progress.update(task, description=done, completed=options.minutes * 60 - left)
            if campaign.programs > before and not console.is_terminal:
                console.print(f"seed {seed}: {done}", highlight=False)
        campaign.finish(worker, names, options.reduce)
    worker.stop()
    for table in tables(campaign):
        console.print(table)
    return 1 if campaign.found else 0


if __name__ == "__main__":
    sys.exit(main())
