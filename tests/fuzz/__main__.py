"""Differential fuzzing: random programs on every dialect and engine against eager PyTorch.

    python -m tests.fuzz --minutes 60 --processes 2
    python -m tests.fuzz --count 1000 --seed 7 --dialects stablehlo --families movement,indexing
    python -m tests.fuzz --families blocks --blocks --static --alone --dialects onnx
    python -m tests.fuzz --show 4711             # the program of a seed
    python -m tests.fuzz --replay 4711           # and what becomes of it

Programs are numbered: program ``n`` of a campaign is that of seed ``n``. Findings are reduced to a few lines and written
to ``--findings``; at the end there is a table of counts.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from tests.fuzz import families  # noqa: F401 - registers the lines
from tests.fuzz.check import UNIT
from tests.fuzz.generate import FAMILIES, generate
from tests.fuzz.program import BLOCKS, LARGE, WIDE, Program
from tests.fuzz.reduction import reduced
from tests.fuzz.trial import CONFIGURATIONS, Outcome, Trial
from tests.fuzz.worker import Worker

EXAMPLES = 3
"""Findings of one kind and reason that are written down; the others are counted."""
KINDS = ("right", "refused", "uncaptured", "wrong", "foreign", "crash", "hang")


class Workers:
    """Processes that check programs, each for one thread at a time."""

    def __init__(self, count: int, threads: int) -> None:
        self._threads = ThreadPoolExecutor(count)
        self._all = [Worker(threads) for _ in range(count)]
        self._idle = list(self._all)
        self._asked = list[Future[None]]()

    @contextmanager
    def one(self) -> Iterator[Worker]:
        """A worker that nobody else has meanwhile."""
        worker = self._idle.pop()
        try:
            yield worker
        finally:
            self._idle.append(worker)

    def submit(self, run: Any, *args: Any) -> None:
        """Calls a function beside others, when not more of them wait than can run."""
        self._asked = [each for each in self._asked if not each.done() or each.result()]
        while len(self._asked) >= 2 * len(self._all):
            wait(self._asked, return_when="FIRST_COMPLETED")
            self._asked = [each for each in self._asked if not each.done() or each.result()]
        self._asked.append(self._threads.submit(run, *args))

    def finish(self) -> None:
        """Waits for all that was submitted and ends the processes."""
        self._threads.shutdown()
        for each in self._asked:
            each.result()
        for worker in self._all:
            worker.stop()


@dataclass
class Campaign:
    """What was found so far.

    Attributes:
        workers: who checks.
        names: the configurations.
        findings: the file they are written to.
        reduce: whether findings are made smaller first.
        totals: a file for the counts after each unit.
        unit: how many programs are compiled together.
        counts: by configuration and kind.
        reasons: of what is not right, by configuration, kind and reason.
        programs: how many were checked.
        pools: programs that wait for others they can be compiled with.
    """

    workers: Workers
    names: list[str]
    findings: Path
    reduce: bool = True
    totals: Path | None = None
    unit: int = UNIT
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    reasons: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    programs: int = 0
    pools: dict[Any, list[Program]] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def add(self, program: Program) -> None:
        """Checks a program as soon as there are enough that can be compiled with it."""
        try:
            key = Trial(program).key
        except Exception:  # of which the check tells
            key = None
        pool = self.pools.setdefault(key, [])
        pool.append(program)
        if len(pool) == self.unit:
            self.workers.submit(self._run, self.pools.pop(key))

    def finish(self) -> None:
        """Checks those that are left."""
        while self.pools:
            self.workers.submit(self._run, self.pools.popitem()[1])
        self.workers.finish()

    def _run(self, programs: list[Program]) -> None:
        """Checks a unit of programs and notes what becomes of them."""
        with self.workers.one() as worker:
            answers = worker.ask(programs, self.names)
            noted = [
                (number, name, each) for number, name, each in answers if self._count(name, each)
            ]
            for number, name, outcome in noted:
                self._note(worker, programs, number, name, outcome)
        with self._lock:
            self.programs += len(programs)
            if self.totals is not None:
                self.totals.write_text(self.summary())

    def _count(self, name: str, outcome: Outcome) -> bool:
        """Counts what became of a program; whether it is one of the first findings of its kind."""
        with self._lock:
            self.counts[name, outcome.kind] += 1
            if outcome.kind == "right":
                return False
            self.reasons[name, outcome.kind, outcome.reason] += 1
            many = self.reasons[name, outcome.kind, outcome.reason]
            return outcome.is_finding and many <= EXAMPLES

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
    ) -> None:
        small = unit[number]
        if self.reduce:
            small = reduced(small, outcome, lambda p: worker.ask([p], [name])[0][2])
            alone = worker.ask([small], [name])[0][2]
            if alone.kind == outcome.kind:
                outcome = alone
            else:
                seeds = ", ".join(str(program.seed) for program in unit)
                message = f"{outcome.message}\nbut {alone.kind} alone; it was one of {seeds}"
                outcome = replace(outcome, message=message)
        with self._lock, self.findings.open("a") as stream:
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
    parser.add_argument(
        "--wide",
        dest="sizes",
        action="store_const",
        const=WIDE,
        default=None,
        help="sizes of vectors and tiles",
    )
    parser.add_argument(
        "--large", dest="sizes", action="store_const", const=LARGE, help="sizes for several threads"
    )
    parser.add_argument(
        "--blocks",
        dest="sizes",
        action="store_const",
        const=BLOCKS,
        help="sizes of products in blocks",
    )
    parser.add_argument(
        "--alone",
        action="store_true",
        help="one program at a time: an engine may compile several of them otherwise",
    )
    parser.add_argument("--no-reduction", dest="reduce", action="store_false")
    parser.add_argument("--processes", type=int, default=1, help="that check programs")
    parser.add_argument("--threads", type=int, default=1, help="of the engines")
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
    sizes = options.sizes
    if options.show is not None:
        program = generate(options.show, chosen, options.dynamic, sizes=sizes)
        console.print(program.report(), markup=False)
        return 0
    if options.replay is not None:
        program = generate(options.replay, chosen, options.dynamic, sizes=sizes)
        console.print(program.report(), markup=False)
        for _, name, outcome in Worker(options.threads).ask([program], names):
            console.print(f"{name}: {outcome.kind} {outcome.message}", markup=False)
        return 0
    workers = Workers(options.processes, options.threads)
    unit = 1 if options.alone else UNIT
    campaign = Campaign(workers, names, options.findings, options.reduce, options.totals, unit)
    end = time.monotonic() + options.minutes * 60
    text = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*text, console=console) as progress:
        task = progress.add_task("programs", total=options.minutes * 60)
        seed = options.seed
        while (left := end - time.monotonic()) > 0:
            if options.count and seed >= options.seed + options.count:
                break
            before = campaign.programs
            program = generate(seed, chosen, options.dynamic, sizes=sizes)
            campaign.add(program)
            seed += 1
            done = f"{campaign.programs} programs, {campaign.found} findings"
            progress.update(task, description=done, completed=options.minutes * 60 - left)
            if campaign.programs > before and not console.is_terminal:
                console.print(f"seed {seed}: {done}", highlight=False)
        campaign.finish()
    for table in tables(campaign):
        console.print(table)
    return 1 if campaign.found else 0


if __name__ == "__main__":
    sys.exit(main())
