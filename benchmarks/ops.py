"""Single ops at realistic sizes, each dialect on its default engine against eager PyTorch.

    python benchmarks/ops.py
    python benchmarks/ops.py --only scatter index_ --dialects linalg-on-tensors tosa
    python benchmarks/ops.py --slower-than 3 --json ops.json
    OMP_NUM_THREADS=1 python benchmarks/ops.py --processor-time --only topk

A cell is how many times slower than eager a call is, of the lowest times and, in brackets, of the medians; below 1 is
faster. Eager and every dialect are called in turn within a row, so what else the machine does falls on all.
Rows come slowest first. Inputs are in ``op_rows.py``. Results are compared with eager's before anything is measured.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.utils import _pytree as pytree

import torch2mlir
from op_rows import Row, all_rows
from torch2mlir.errors import Torch2MLIRError

DIALECTS = {
    "stablehlo": "xla",
    "linalg-on-tensors": "iree",
    "tosa": "iree",
    "onnx": "onnxruntime",
}
EAGER = "eager"
Clock = Callable[[], float]
Times = dict[str, list[float]]


def main() -> int:
    """Measure the rows that were asked for and print the table."""
    options = _parse()
    torch.manual_seed(0)
    rows = [row for row in all_rows() if _is_wanted(row, options.only)]
    found = list[dict[str, Any]]()
    from rich.console import Console
    from rich.progress import track

    for row in track(rows, console=Console(stderr=True), description="ops"):
        clock = time.process_time if options.processor_time else time.perf_counter
        found.append(_measured(row, options.dialects, options.seconds, clock))
        if options.json is not None:
            options.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
    _print_table(found, options)
    return 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", default=[""], metavar="START", help="names of rows")
    parser.add_argument(
        "--dialects", nargs="+", choices=DIALECTS, default=list(DIALECTS), metavar="DIALECT"
    )
    parser.add_argument("--seconds", type=float, default=1.0, help="of calls for a row")
    parser.add_argument(
        "--processor-time",
        action="store_true",
        help="of all threads, instead of the clock's: for a machine that is not idle, with OMP_NUM_THREADS=1",
    )
    parser.add_argument("--slower-than", type=float, default=0.0, help="print only such rows")
    parser.add_argument("--json", type=Path, metavar="FILE")
    return parser.parse_args()


def _is_wanted(row: Row, starts: Sequence[str]) -> bool:
    return any(row.name.startswith(start) for start in starts)


def _measured(row: Row, dialects: Sequence[str], seconds: float, clock: Clock) -> dict[str, Any]:
    """A row's times in ms, and why there are none of a dialect."""
    args = [make() for make in row.inputs]
    expected = row.call(*args)
    calls: dict[str, Callable[..., Any]] = {EAGER: row.call}
    failures = dict[str, str]()
    for dialect in dialects:
        try:
            compiled = torch2mlir.compile(_AsModule(row.call), *args, output_type=dialect)
            _check(compiled(*args), expected)
            calls[dialect] = compiled
        except (Torch2MLIRError, AssertionError) as error:
            failures[dialect] = f"{type(error).__name__}: {str(error).strip().splitlines()[0]}"
    times = _in_turn(calls, args, seconds, clock)
    return {
        "op": row.name,
        "why": row.why,
        "lowest": {name: min(each) for name, each in times.items()},
        "median": {name: statistics.median(each) for name, each in times.items()},
        "failures": failures,
    }


class _AsModule(torch.nn.Module):
    """A function as what ``torch.export`` takes."""

    def __init__(self, call: Callable[..., Any]) -> None:
        super().__init__()
        self.call = call

    def forward(self, *args: torch.Tensor) -> Any:
        return self.call(*args)


def _check(result: Any, expected: Any) -> None:
    """Floats are compared; positions of equal elements and of ordered ones may differ.

    Raises:
        AssertionError: results are not what eager's are.
    """
    for one, other in zip(pytree.tree_leaves(result), pytree.tree_leaves(expected), strict=True):
        if other.is_floating_point():
            torch.testing.assert_close(one, other, rtol=1e-2, atol=1e-2)
        else:
            assert one.dtype is other.dtype and one.shape == other.shape


def _in_turn(
    calls: dict[str, Callable[..., Any]], args: list[Any], seconds: float, clock: Clock
) -> Times:
    """Milliseconds of calls, one of each column at a time."""
    times: Times = {name: [] for name in calls}
    with torch.no_grad():
        for call in calls.values():
            call(*args)
        stop = time.perf_counter() + seconds
        while time.perf_counter() < stop or len(times[EAGER]) < 5:
            for name, call in calls.items():
                start = clock()
                call(*args)
                times[name].append((clock() - start) * 1e3)
    return times


def _ratios(found: dict[str, Any], which: str) -> dict[str, float]:
    """How many times slower than eager each dialect is."""
    times = found[which]
    return {name: each / times[EAGER] for name, each in times.items() if name != EAGER}


def _worst(found: dict[str, Any]) -> float:
    return max(_ratios(found, "lowest").values(), default=0.0)


def _print_table(found: list[dict[str, Any]], options: argparse.Namespace) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("op", "eager ms", *options.dialects, "size of", title="times slower than eager")
    for each in sorted(found, key=_worst, reverse=True):
        if _worst(each) < options.slower_than and not each["failures"]:
            continue
        lowest, median = _ratios(each, "lowest"), _ratios(each, "median")
        cells = [
            f"{lowest[d]:.2f} ({median[d]:.2f})" if d in lowest else each["failures"][d][:40]
            for d in options.dialects
        ]
        table.add_row(each["op"], f"{each['lowest'][EAGER]:.3f}", *cells, each["why"])
    Console(width=None if Console().is_terminal else 200).print(table)


if __name__ == "__main__":
    raise SystemExit(main())
