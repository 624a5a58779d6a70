"""Run PyTorch's operator database through the dialects and print, or check in, what became of it.

python -m tests.opdb                      # everything, two samples each
python -m tests.opdb 'fft.*' sort --failures
python -m tests.opdb --write              # and check the results in
python -m tests.opdb --dtype uint8 bool --targets stablehlo linalg-on-tensors:reference --failures
"""

from __future__ import annotations

import argparse
import os
from fnmatch import fnmatchcase

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from tests.opdb import table
from tests.opdb.outcome import OK, SKIPPED, Outcome
from tests.opdb.pool import run
from tests.opdb.programs import DTYPES, FURTHER, Entry, entries


def main() -> int:
    """Run what was asked for; 0 unless something differs from what is checked in."""
    options = _parse()
    wanted = [
        entry
        for entry in entries(options.dtype)
        if not options.operator or any(fnmatchcase(entry.operator, p) for p in options.operator)
    ]
    targets = tuple(options.targets)
    console = Console(stderr=True)
    with Progress(console=console) as progress:
        task = progress.add_task("", total=len(wanted))

        def done(entry: Entry, found: dict[str, Outcome]) -> None:
            progress.update(task, description=str(entry), advance=1)

        results = run(wanted, targets, options.samples, options.workers, done)
    if options.write:
        known = table.read() if table.PATH.exists() else {}
        known.update(results)
        table.write({entry: known[entry] for entry in entries() if entry in known})
    shown = Table(highlight=False)
    for column in ("entry", *targets):
        shown.add_column(column, overflow="fold")
    for entry, found in results.items():
        if options.failures and all(o.kind in (OK, SKIPPED) for o in found.values()):
            continue
        cells = [f"{o.kind}: {o.reason}" if o.reason else o.kind for o in found.values()]
        shown.add_row(str(entry), *(cell.replace("[", "\\[") for cell in cells))
    output = Console(width=max(Console().width, 200))
    output.print(shown)
    for target, (good, of) in table.totals(results, targets).items():
        output.print(f"{target}: {good} of {of} agree with eager ({good / max(of, 1):.1%})")
    return 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.opdb",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("operator", nargs="*", help="patterns of names")
    parser.add_argument("--dtype", nargs="+", choices=(*DTYPES, *FURTHER), default=DTYPES)
    parser.add_argument(
        "--targets",
        nargs="+",
        default=table.TARGETS,
        metavar="DIALECT[:ENGINE]",
        help=f"one of {', '.join(table.TARGETS)}, or any dialect with the engine that runs it",
    )
    parser.add_argument("--samples", type=int, default=2)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--failures", action="store_true", help="show only what fails")
    parser.add_argument("--write", action="store_true", help="check the results in")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
