"""Tables whose cells are measured one at a time, each in fresh processes, and kept in a file to go on with.

A benchmark names its rows and columns and has a function that measures one cell; ``main`` does the rest. A cell that
fails says why. With ``--results FILE.json`` every cell is written down as soon as it is measured, and a later run goes
on with what is missing; ``--again`` measures anew what it is asked for.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MARK = "RESULT "
NOTE = "NOTE "
"""Before what a worker prints to stand beside the figures in the table."""


@dataclass(frozen=True)
class Benchmark:
    """What is measured.

    Attributes:
        script: the file that measures a cell when it is called with ``--worker ROW COLUMN``.
        title: above the table.
        rows: their names.
        columns: their names.
        measure: the figures of one cell, in the worker.
        peers: columns that run in the peers' Python.
        essential: the columns of ``--essential``.
        lower_is_better: whether the figures are times.
        arguments: adds options of its own, with values.
    """

    script: str
    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    measure: Callable[[str, str, argparse.Namespace], list[float]]
    peers: frozenset[str] = frozenset()
    essential: Sequence[str] = ()
    lower_is_better: bool = True
    arguments: Callable[[argparse.ArgumentParser], None] = lambda parser: None


@dataclass
class Cell:
    """The figures of a cell, or why there are none."""

    values: list[float] = field(default_factory=list)
    failure: str | None = None
    note: str = ""

    @property
    def middle(self) -> float:
        """The median."""
        return statistics.median(self.values)


class Results:
    """Cells by row and column, in a file if there is one."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.cells = dict[tuple[str, str], Cell]()
        if path is not None and path.exists():
            for row, columns in json.loads(path.read_text())["cells"].items():
                for column, cell in columns.items():
                    self.cells[row, column] = Cell(**cell)

    def put(self, row: str, column: str, cell: Cell) -> None:
        """Adds a cell and writes all of them down."""
        self.cells[row, column] = cell
        if self._path is not None:
            found: dict[str, dict[str, Any]] = {}
            for (of, name), each in self.cells.items():
                found.setdefault(of, {})[name] = vars(each)
            text = json.dumps({"machine": machine(), "cells": found})
            self._path.write_text(text, encoding="utf-8")


def main(benchmark: Benchmark, doc: str) -> int:
    """Measures what the command line asks for and prints the table; as a worker, measures one cell."""
    options = _parse(benchmark, doc)
    if options.worker:
        values = benchmark.measure(*options.worker, options)
        print(MARK + json.dumps(values), flush=True)
        # some engines' threads outlive the interpreter
        os._exit(0)
    results = Results(options.results)
    _fill(benchmark, options, results)
    print_table(benchmark, options, results)
    if options.plot is not None:
        options.plot.write_text(picture(benchmark, options, results), encoding="utf-8")
    return 0


def _parse(benchmark: Benchmark, doc: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=doc.partition("\n")[0])
    rows, columns = list(benchmark.rows), list(benchmark.columns)
    parser.add_argument("--rows", nargs="+", choices=rows, default=rows, metavar="ROW")
    parser.add_argument("--columns", nargs="+", choices=columns, default=columns, metavar="COLUMN")
    if benchmark.essential:
        parser.add_argument(
            "--essential",
            action="store_true",
            help=f"only the columns {', '.join(benchmark.essential)}",
        )
    parser.add_argument("--rounds", type=int, default=2, help="fresh processes of a cell")
    parser.add_argument("--seconds", type=float, default=2.0, help="of calls in a process")
    parser.add_argument("--timeout", type=float, default=300.0, help="of a process, in seconds")
    parser.add_argument("--results", type=Path, metavar="FILE.json", help="kept, and gone on with")
    parser.add_argument("--again", action="store_true", help="measure cells of the file anew")
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="DIR",
        help="where the peers' exported models are kept between runs",
    )
    parser.add_argument("--peers-python", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg")
    parser.add_argument("--worker", nargs=2, metavar=("ROW", "COLUMN"), help=argparse.SUPPRESS)
    parser.add_argument(
        "--size", choices=("full", "small"), default="full", help="small models try the program"
    )
    benchmark.arguments(parser)
    options = parser.parse_args()
    if getattr(options, "essential", False):
        options.columns = list(benchmark.essential)
    return options


def _fill(benchmark: Benchmark, options: argparse.Namespace, results: Results) -> None:
    """Measures the cells that are missing: the columns of a row in turn, as many rounds as asked for."""
    from rich.console import Console
    from rich.progress import Progress

    missing = [
        (row, column)
        for row in options.rows
        for column in options.columns
        if options.again or (row, column) not in results.cells
    ]
    steps = [
        (row, column) for row in options.rows for _ in range(options.rounds)
        for column in options.columns if (row, column) in missing
    ]  # fmt: skip
    fresh = dict[tuple[str, str], Cell]()
    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=len(steps))
        for row, column in steps:
            progress.update(task, description=f"{row} {column}")
            cell = fresh.setdefault((row, column), Cell())
            if cell.failure is None:
                outcome = _in_fresh_process(benchmark, row, column, options)
                cell.values += outcome.values
                cell.failure, cell.note = outcome.failure, outcome.note
                results.put(row, column, cell)
            progress.advance(task)


def _in_fresh_process(
    benchmark: Benchmark, row: str, column: str, options: argparse.Namespace
) -> Cell:
    python = options.peers_python if column in benchmark.peers else sys.executable
    mine = {"--rows", "--columns", "--results", "--plot", "--rounds", "--again", "--essential"}
    command = [python, benchmark.script, "--worker", row, column]
    for name, value in vars(options).items():
        flag = "--" + name.replace("_", "-")
        if flag not in mine | {"--worker", "--peers-python"} and value is not None:
            command += [flag, str(value)]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=options.timeout, env=environment
        )
    except subprocess.TimeoutExpired:
        return Cell(failure="timeout")
    cell = Cell()
    for line in done.stdout.splitlines():
        if line.startswith(NOTE):
            cell.note = line.removeprefix(NOTE)
        if line.startswith(MARK):
            cell.values = json.loads(line.removeprefix(MARK))
            return cell
    lines = [line for line in done.stderr.strip().splitlines() if line.strip()] or ["no output"]
    errors = [line for line in lines if "Error" in line.partition(":")[0]] or lines
    if done.returncode < 0:
        return Cell(failure=f"died of signal {-done.returncode}")
    missing = "No module named" in errors[-1]
    return Cell(failure="not installed" if missing else f"refused: {errors[-1][:120]}")


# the report


def print_table(benchmark: Benchmark, options: argparse.Namespace, results: Results) -> None:
    """The table, and the geometric means of the rows that every column has."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"{benchmark.title}; {machine()}")
    table.add_column("")
    for column in options.columns:
        table.add_column(column, justify="right")
    for row in options.rows:
        shown = [_shown(benchmark, results.cells.get((row, c))) for c in options.columns]
        table.add_row(row, *shown)
    for label, figures in _means(options, results):
        table.add_row(label, *figures)
    Console(width=60 + 18 * len(options.columns)).print(table)


def _shown(benchmark: Benchmark, cell: Cell | None) -> str:
    if cell is None:
        return "-"
    if not cell.values:
        return cell.failure or "-"
    best = min(cell.values) if benchmark.lower_is_better else max(cell.values)
    return f"{cell.middle:.3g} ({best:.3g}) {cell.note}".strip()


def _means(options: argparse.Namespace, results: Results) -> list[tuple[str, list[str]]]:
    def has(row: str, column: str) -> bool:
        return bool(results.cells.get((row, column), Cell()).values)

    columns = [c for c in options.columns if any(has(row, c) for row in options.rows)]
    shared = [row for row in options.rows if all(has(row, c) for c in columns)]
    if not shared:
        return []
    figures = []
    for column in options.columns:
        logs = [math.log(results.cells[row, column].middle) for row in shared if column in columns]
        figures.append(f"{math.exp(sum(logs) / len(logs)):.3g}" if logs else "-")
    return [(f"geometric mean of {len(shared)}", figures)]


def machine() -> str:
    """The processor and how many of it there are."""
    name = platform.processor() or platform.machine()
    try:
        text = Path("/proc/cpuinfo").read_text()
        name = next(
            line.partition(":")[2].strip()
            for line in text.splitlines()
            if line.startswith("model name")
        )
    except (OSError, StopIteration):
        pass
    return f"{name}, {os.cpu_count()} cores"


_COLOURS = ("#888", "#b07aa1", "#9c6ade", "#e15759", "#f28e2b", "#4e79a7", "#76b7b2", "#59a14f")


def picture(benchmark: Benchmark, options: argparse.Namespace, results: Results) -> str:
    """Bars of a row's speed against its first column: longer is faster."""
    height, step, left, unit = 0, 12, 130, 90.0
    parts, first = list[str](), options.columns[0]
    for row in options.rows:
        if not (base := results.cells.get((row, first), Cell())).values:
            continue
        parts.append(f'<text x="0" y="{height + 12}" font-weight="bold">{row}</text>')
        for index, column in enumerate(options.columns):
            cell = results.cells.get((row, column), Cell())
            if not cell.values:
                continue
            ratio = base.middle / cell.middle
            speed = ratio if benchmark.lower_is_better else 1 / ratio
            colour = _COLOURS[index % len(_COLOURS)]
            parts.append(
                f'<rect x="{left}" y="{height + 3}" width="{unit * speed:.0f}" height="{step - 3}" fill="{colour}"/>'
                f'<text x="{left + unit * speed + 4:.0f}" y="{height + 11}">{column} {speed:.2f}x</text>'
            )
            height += step
        height += step
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="{height + 20}" font-family="sans-serif" '
        f'font-size="9"><title>Speed against {first}; {machine()}</title>{"".join(parts)}</svg>\n'
    )
