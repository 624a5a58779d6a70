"""Three full-size models to three dialects, run on two engines and compared with eager PyTorch: ``make demo``.

Then a network is trained and a text generated through ``torch.compile``. Prints two tables and leaves the MLIR files,
with their weights beside them, in a folder it names. Exits 1 if a result does not match eager PyTorch or a row fails.
"""

from __future__ import annotations

import argparse
import filecmp
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from torch.export import ExportedProgram
from torch.utils._pytree import tree_leaves

import one_line
import torch2mlir
from zoo import MODELS, ZooModel

ENGINES = {"stablehlo": "xla", "linalg-on-tensors": "iree", "tosa": "iree"}
SHOWN_MODELS = ("resnet50", "bert-base", "gpt2")
TIMED_RUNS = 5
TOLERANCE = 1e-4
"""Largest accepted error, relative to the largest magnitude among the eager outputs."""


@dataclass
class Row:
    """One line of the table; times in the units of their column."""

    model: str
    dialect: str
    engine: str
    ops: int = 0
    compile_seconds: float = 0.0
    run_milliseconds: float = 0.0
    eager_milliseconds: float = 0.0
    error: float = 0.0
    matches: bool = False
    failure: str = ""


def main() -> int:
    """Run the demo and return its exit code."""
    options = _parse()
    options.output.mkdir(parents=True, exist_ok=True)
    console = Console(width=max(Console().width, 100))  # the table stays one when piped
    rows: list[Row] = []
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
    ) as progress:
        task = progress.add_task("", total=len(options.models) * len(options.dialects))
        for name in options.models:
            progress.update(task, description=f"{name}: torch.export")
            entry = MODELS[name](size=options.size)
            exported = entry.export()
            for dialect in options.dialects:
                row = Row(name, dialect, ENGINES[dialect])
                try:
                    _fill(row, entry, exported, options.output, _describer(progress, task, row))
                except torch2mlir.Torch2MLIRError as error:
                    row.failure = str(error)
                rows.append(row)
                progress.advance(task)
        task = progress.add_task("", total=len(one_line.PROGRAMS))
        outcomes = []
        for program in one_line.PROGRAMS:
            progress.update(task, description=f"{program.__name__}: compiled and eager")
            outcomes.append(program())
            progress.advance(task)
    console.print(_table(rows))
    console.print(_one_line_table(outcomes))
    console.print(f"The MLIR files and their weights are in {options.output}/")
    for row in rows:
        if row.failure:
            console.print(f"{row.model} {row.dialect}: error: {row.failure}", markup=False)
    return 0 if all(each.matches for each in (*rows, *outcomes)) else 1


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(SHOWN_MODELS))
    parser.add_argument("--dialects", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--size", choices=("full", "small"), default="full")
    parser.add_argument("--output", type=Path, default=Path("demo-output"))
    return parser.parse_args()


def _describer(progress: Progress, task: Any, row: Row) -> Callable[[str], None]:
    return lambda doing: progress.update(task, description=f"{row.model} {row.dialect}: {doing}")


def _fill(
    row: Row,
    entry: ZooModel,
    exported: ExportedProgram,
    folder: Path,
    doing: Callable[[str], None],
) -> None:
    doing("lower")
    module = torch2mlir.export_and_import(exported, output_type=row.dialect, weights="external")
    row.ops = sum(1 for _ in module.operation.walk())
    doing("write")
    _save(module, folder, row)
    doing(f"compile with {row.engine}")
    start = time.perf_counter()
    compiled = torch2mlir.compile(exported, output_type=row.dialect, engine=row.engine)
    actual = compiled(*entry.args, **entry.kwargs)  # an engine may compile at the first call
    row.compile_seconds = time.perf_counter() - start
    doing("run")
    expected = entry.eager()
    row.error, row.matches = _compare(actual, expected)
    run, eager = [], []
    for _ in range(TIMED_RUNS):  # interleaved, so that what disturbs one disturbs the other
        run.append(_milliseconds(lambda: compiled(*entry.args, **entry.kwargs)))
        eager.append(_milliseconds(entry.eager))
    row.run_milliseconds = statistics.median(run)
    row.eager_milliseconds = statistics.median(eager)


def _save(module: torch2mlir.MlirModule, folder: Path, row: Row) -> None:
    """Write text and weights; a weight file equal to another dialect's is kept only once on disk."""
    _, *weights = module.save(folder / f"{row.model}.{row.dialect}.mlir")
    for mine in weights:
        for other in folder.glob(f"{row.model}.*.safetensors"):
            if other != mine and not other.samefile(mine) and filecmp.cmp(mine, other, False):
                mine.unlink()
                mine.hardlink_to(other)
                break


def _compare(actual: Any, expected: Any) -> tuple[float, bool]:
    """The largest absolute error, and whether structure, shapes, dtypes and values all agree."""
    got, want = tree_leaves(actual), tree_leaves(expected)
    if type(actual) is not type(expected) or len(got) != len(want):
        return float("inf"), False
    worst, matches = 0.0, True
    for one, other in zip(got, want, strict=True):
        if (one.shape, one.dtype) != (other.shape, other.dtype):
            return float("inf"), False
        error = (one.double() - other.double()).abs().max().item()
        worst = worst if error <= worst else error  # NaN wins
        matches = matches and error <= TOLERANCE * other.abs().max().item()
    return worst, matches


def _milliseconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e3


def _table(rows: list[Row]) -> Table:
    table = Table(title="PyTorch models through torch2mlir")
    for heading in ("model", "dialect", "engine"):
        table.add_column(heading, no_wrap=True)
    for heading in ("ops", "compile s", "run ms", "eager ms", "max error"):
        table.add_column(heading, justify="right")
    for row in rows:
        if row.failure:
            reason = row.failure.partition("\n")[0][:30]
            table.add_row(row.model, row.dialect, row.engine, "", "", "", "", f"failed: {reason}")
            continue
        table.add_row(
            row.model,
            row.dialect,
            row.engine,
            str(row.ops),
            f"{row.compile_seconds:.1f}",
            f"{row.run_milliseconds:.1f}",
            f"{row.eager_milliseconds:.1f}",
            f"{row.error:.1e}" if row.matches else f"{row.error:.1e} differs",
        )
    return table


def _one_line_table(outcomes: list[one_line.Outcome]) -> Table:
    table = Table(title="One line in front of a model")
    for heading in ("program", "line", "seconds", "beside eager"):
        table.add_column(heading, justify="right" if heading == "seconds" else "left")
    for each in outcomes:
        verdict = each.verdict if each.matches else f"{each.verdict}: differs"
        table.add_row(each.name, each.line, f"{each.seconds:.1f}", verdict)
    return table


if __name__ == "__main__":
    torch.manual_seed(0)
    sys.exit(main())
