"""From an ExportedProgram to MLIR text or bytecode: seconds and peak memory, beside the published Torch-MLIR.

    python benchmarks/import_time.py
    python benchmarks/import_time.py --models resnet50 llama --dialects stablehlo --runs 5 --no-peer
    python benchmarks/import_time.py --form bytecode
    python benchmarks/import_time.py --models llama llama-128 llama-1000 --no-peer --runs 1

Each figure is the median of runs in processes of their own, ours and the peer's in turn, with the extremes
behind it; each process has brought a smallest program there before. A second table shows what writing costs in
memory, relative to the weights' own bytes.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))

import torch
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from torch.export import ExportedProgram

from measure import Measurement, measure
from zoo import MODELS, ZooModel, llama

SUBJECTS: dict[str, Callable[..., ZooModel]] = {
    **MODELS,
    "llama-128": partial(llama, layers=128),
    "llama-1000": partial(llama, layers=1000),
}
LAYERS = {"llama": 32, "llama-128": 128, "llama-1000": 1000}
SHOWN = ("resnet50", "bert-base", "gpt2", "vit-base", "llama", "llama-128")
DIALECTS = ("torch", "linalg-on-tensors", "stablehlo", "tosa")
FORMS = ("text", "bytecode")
WRITINGS = ("str(m)", "save", "save external", "save bytecode")

Call = Callable[[], Any]


@cache
def smallest() -> ExportedProgram:
    """A program for whose sake packages and definitions are loaded, which is no part of a figure."""
    return torch.export.export(torch.nn.Linear(2, 2), (torch.zeros(1, 2),))


def ours(exported: ExportedProgram, dialect: str, form: str) -> Call:
    """torch2mlir's road to text or bytecode in memory."""
    from torch2mlir import export_and_import

    def road(program: ExportedProgram) -> str | bytes:
        module = export_and_import(program, output_type=dialect)
        return module.bytecode() if form == "bytecode" else str(module)

    road(smallest())
    return partial(road, exported)


def peers(exported: ExportedProgram, dialect: str, form: str) -> Call:
    """The same by the published Torch-MLIR."""
    from torch_mlir import fx

    def road(program: ExportedProgram) -> str | BytesIO:
        module = fx.export_and_import(program, output_type=dialect)
        if form == "text":
            return str(module)
        module.operation.write_bytecode(stream := BytesIO())
        return stream

    road(smallest())
    return partial(road, exported)


def writing(exported: ExportedProgram, dialect: str, way: str, folder: str) -> Call:
    """Only the writing of a module that is lowered already."""
    import torch2mlir

    weights = "external" if way == "save external" else "inline"
    module = torch2mlir.export_and_import(exported, output_type=dialect, weights=weights)
    if way == "str(m)":
        return module.__str__
    return lambda: module.save(
        Path(folder) / ("model.mlirbc" if "bytecode" in way else "model.mlir")
    )


@dataclass
class Samples:
    """The measurements of one cell."""

    all: list[Measurement] = field(default_factory=list)

    @property
    def failure(self) -> str:
        """Why there is no figure, if so."""
        return next((m.failure for m in self.all if m.failure), "")

    @property
    def seconds(self) -> float:
        """Median wall time."""
        return statistics.median(m.seconds for m in self.all)

    @property
    def bytes(self) -> float:
        """Median memory growth."""
        return statistics.median(m.bytes for m in self.all)

    def times(self) -> str:
        """Median and extremes of the wall time."""
        if self.failure:
            return "failed"
        values = [m.seconds for m in self.all]
        return f"{self.seconds:.2f} ({min(values):.2f}-{max(values):.2f})"

    def memory(self) -> str:
        """Memory growth in megabytes."""
        return "" if self.failure else f"+{self.bytes / 1e6:.0f}"


@dataclass
class Results:
    """Everything that was measured."""

    imports: dict[tuple[str, str, str], Samples] = field(default_factory=dict)
    writings: dict[tuple[str, str], Samples] = field(default_factory=dict)
    weights: dict[str, int] = field(default_factory=dict)


def main() -> int:
    """Measure, print the tables, and return 1 if torch2mlir itself failed somewhere."""
    options = _parse()
    torch.set_num_threads(1)
    smallest()
    results = Results()
    # No refreshing thread: a process that forks had better have one thread.
    with Progress(console=Console(stderr=True), auto_refresh=False) as progress:
        sides = ["ours", "peer"] if options.peer else ["ours"]
        per_model = options.runs * len(options.dialects) * len(sides)
        if options.writing:
            per_model += options.runs * len(WRITINGS)
        task = progress.add_task("", total=per_model * len(options.models))

        def step(description: str) -> None:
            progress.update(task, description=description, advance=1)
            progress.refresh()

        for name in options.models:
            progress.update(task, description=f"{name}: export")
            progress.refresh()
            exported = export(name, options.size)
            results.weights[name] = weight_bytes(exported)
            for dialect in options.dialects:
                for run in range(options.runs):
                    for side in sides if run % 2 == 0 else sides[::-1]:
                        road = ours if side == "ours" else peers
                        cell = results.imports.setdefault((name, dialect, side), Samples())
                        cell.all.append(measure(partial(road, exported, dialect, options.form)))
                        step(f"{name} {dialect} {side}: {cell.all[-1].seconds:.2f} s")
            if options.writing:
                for _ in range(options.runs):
                    for way in WRITINGS:
                        cell = results.writings.setdefault((name, way), Samples())
                        with tempfile.TemporaryDirectory() as folder:
                            cell.all.append(
                                measure(
                                    partial(writing, exported, options.dialects[-1], way, folder)
                                )
                            )
                        step(f"{name} {way}")
            del exported
            gc.collect()
    console = Console(width=max(Console().width, 120))
    console.print(import_table(results, options))
    if options.writing:
        console.print(writing_table(results, options))
    for line in scaling(results, options):
        console.print(line)
    failures = list(_failures(results))
    for where, why in failures:
        console.print(f"{where}: {why}", markup=False)
    return 1 if any(" peer" not in where for where, _ in failures) else 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="+", choices=SUBJECTS, default=list(SHOWN))
    parser.add_argument("--dialects", nargs="+", choices=DIALECTS, default=list(DIALECTS))
    parser.add_argument("--form", choices=FORMS, default=FORMS[0], help="what is written")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--size", choices=("full", "small"), default="full")
    parser.add_argument("--peer", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--writing", action=argparse.BooleanOptionalAction, default=True)
    return parser.parse_args()


def export(name: str, size: str) -> ExportedProgram:
    """The exported model, with every buffer persistent: the peer refuses any other."""
    entry = SUBJECTS[name](size=size)
    for module in entry.model.modules():
        module._non_persistent_buffers_set.clear()
    return entry.export()


def weight_bytes(exported: ExportedProgram) -> int:
    """Bytes of parameters, buffers and constants, shared storage counted once."""
    tensors = [*exported.state_dict.values(), *exported.constants.values()]
    storages = {
        tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes()
        for tensor in tensors
        if isinstance(tensor, torch.Tensor)
    }
    return sum(storages.values())


def import_table(results: Results, options: argparse.Namespace) -> Table:
    """Seconds and memory of both sides, and the ratios."""
    table = Table(title=f"ExportedProgram to {options.form}, {options.runs} runs each")
    table.add_column("model", no_wrap=True)
    table.add_column("dialect", no_wrap=True)
    for heading in ("ours s", "peer s", "faster", "ours MB", "peer MB", "less memory"):
        table.add_column(heading, justify="right")
    for name in options.models:
        for dialect in options.dialects:
            mine = results.imports[name, dialect, "ours"]
            other = results.imports.get((name, dialect, "peer"))
            cells = [mine.times(), "", "", mine.memory(), "", ""]
            if other is not None:
                cells[1], cells[4] = other.times(), other.memory()
                if not mine.failure and not other.failure:
                    cells[2] = f"{other.seconds / mine.seconds:.1f}x"
                    cells[5] = f"{other.bytes / max(mine.bytes, 1):.1f}x"
            table.add_row(name, dialect, *cells)
    return table


def writing_table(results: Results, options: argparse.Namespace) -> Table:
    """Memory growth of each way of writing, relative to the weights."""
    table = Table(title=f"Peak memory growth of writing {options.dialects[-1]}, over weight bytes")
    table.add_column("model", no_wrap=True)
    for heading in ("weights MB", *WRITINGS):
        table.add_column(heading, justify="right")
    for name in options.models:
        weights = results.weights[name]
        cells = [results.writings[name, way] for way in WRITINGS]
        table.add_row(
            name,
            f"{weights / 1e6:.0f}",
            *(
                "failed" if cell.failure else f"{cell.bytes / weights:.2f}x, {cell.seconds:.2f} s"
                for cell in cells
            ),
        )
    return table


def scaling(results: Results, options: argparse.Namespace) -> Iterator[str]:
    """How the time grows with the layers of Llama, from each depth that was measured to the next."""
    measured = [name for name in LAYERS if name in options.models]
    for dialect in options.dialects:
        for few, many in pairwise(measured):
            cells = [results.imports[name, dialect, "ours"] for name in (few, many)]
            if not any(cell.failure for cell in cells):
                ratio = cells[1].seconds / cells[0].seconds
                depths = f"{LAYERS[many]} layers of Llama to {dialect}", LAYERS[few]
                yield f"{depths[0]} take {ratio:.2f}x the time of {depths[1]}"


def _failures(results: Results) -> Iterator[tuple[str, str]]:
    for (name, dialect, side), cell in results.imports.items():
        if cell.failure:
            yield f"{name} {dialect} {side}", cell.failure
    for (name, way), cell in results.writings.items():
        if cell.failure:
            yield f"{name} {way}", cell.failure


if __name__ == "__main__":
    sys.exit(main())
