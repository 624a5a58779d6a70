"""Write ``docs/coverage.md``: every core op on every dialect, static and dynamic, and the way of every other op.

    python scripts/update_coverage.py            # takes minutes: every end-to-end case is lowered
    python scripts/update_coverage.py --check    # only whether the file names the ops as the code does

Whether a core op lowers statically and dynamically is found by lowering the end-to-end cases; the rest is what
``torch2mlir coverage --all`` prints.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import torch
from rich.progress import track
from xdsl.dialects.builtin import ModuleOp

from tests.e2e.registry import Case, load_cases
from torch2mlir.contract.core_ops import CORE_OPS, FAMILIES, REASONS
from torch2mlir.contract.target import get_target, lowered_targets
from torch2mlir.conversion.driver import convert_module
from torch2mlir.dialects.torch.core import OperatorOp
from torch2mlir.errors import Torch2MLIRError, UnsupportedOpError
from torch2mlir.frontends.capture import capture
from torch2mlir.pipeline import Pipeline, run_passes
from torch2mlir.tools.coverage import coverage, markdown, totals
from torch2mlir.tools.registry_ways import UNSUPPORTED, ways

PATH = Path(__file__).resolve().parent.parent / "docs" / "coverage.md"
MODES = ("static", "dynamic")
NOTE = """# Coverage

Written by `make coverage` from the code; not edited by hand.

A core op is lowered by every dialect that can say it; everything else becomes core ops first, or is a clear error.
Of each core op: whether its cases of `tests/e2e` lower, with static and with dynamic shapes; a number is how many of
them do, and a footnote says what stops the others.
"""


@dataclass
class Tally:
    """How many cases of an op lower to a target in a mode, and what the others say."""

    good: int = 0
    all: int = 0
    reasons: set[str] = field(default_factory=set)


Tallies = dict[tuple[str, str, str], Tally]


def main() -> int:
    """Write the file, or check it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="only compare the names of ops")
    if parser.parse_args().check:
        missing = [line for line in registry_section() if line not in PATH.read_text()]
        print("\n".join(missing[:10]) or f"{PATH.name} is up to date")
        return 1 if missing else 0
    tallies = tally(load_cases())
    lines = [NOTE, *core_section(tallies), "", *registry_section()]
    PATH.write_text("\n".join(lines) + "\n")
    return 0


def tally(cases: dict[str, Case]) -> Tallies:
    """Lowers every case to every target in every mode."""
    tallies: Tallies = defaultdict(Tally)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    for case in track(list(cases.values()), description="lowering the cases"):
        for mode in MODES if case.dynamic else MODES[:1]:
            try:
                program = Pipeline.to("torch").lower(
                    capture(case.export(dynamic=mode == "dynamic"))
                )
            except Torch2MLIRError:
                continue  # an expected failure, which has nothing core to show
            module = program.module
            names = {op.op_name if isinstance(op, OperatorOp) else op.name for op in module.walk()}
            for target in lowered_targets():
                _count(tallies, names & CORE_OPS, target, mode, _failure(module, target))
    return tallies


def _failure(module: ModuleOp, target: str) -> UnsupportedOpError | None:
    prepared = module.clone()
    run_passes(get_target(target).preparation, prepared)
    try:
        convert_module(prepared, target)
    except UnsupportedOpError as error:
        return error
    return None


def _count(
    tallies: Tallies, names: set[str], target: str, mode: str, failure: UnsupportedOpError | None
) -> None:
    """A failure is that of the op it names; the other ops of the program have shown nothing."""
    culprit = str(failure.op).split(" ")[0] if failure else ""
    for name in names:
        entry = tallies[name, target, mode]
        if failure is None:
            entry.good += 1
            entry.all += 1
        elif name == culprit:
            entry.all += 1
            entry.reasons.add(failure.message.partition(f"to {target}: ")[2] or failure.message)


def core_section(tallies: Tallies) -> Iterator[str]:
    """The table of core ops, and its footnotes."""
    footnotes: dict[str, int] = {}
    yield f"## {len(CORE_OPS)} core ops"
    yield ""
    titles = [f"{target}, {mode}" for target in lowered_targets() for mode in MODES]
    yield "| op | family | " + " | ".join(titles) + " |"
    yield "|---" * (2 + len(titles)) + "|"
    for family, ops in FAMILIES.items():
        for op in sorted(ops):
            cells = [_cell(tallies[op, t, m], footnotes) for t in lowered_targets() for m in MODES]
            yield f"| {op.removeprefix('torch.')} | {family} | " + " | ".join(cells) + " |"
    yield ""
    yield from (f"{number}. {reason}" for reason, number in footnotes.items())
    yield ""
    yield "### Why these are core"
    yield ""
    yield "Members that are not Core ATen, or that PyTorch could decompose:"
    yield ""
    yield from (f"- {op.removeprefix('torch.')}: {reason}" for op, reason in REASONS.items())


def _cell(entry: Tally, footnotes: dict[str, int]) -> str:
    notes = [footnotes.setdefault(reason, len(footnotes) + 1) for reason in sorted(entry.reasons)]
    marks = f" ({', '.join(map(str, sorted(notes)))})" if notes else ""
    if not entry.all:
        return ""
    return ("yes" if entry.good == entry.all else f"{entry.good} of {entry.all}") + marks


def registry_section() -> Iterator[str]:
    """What ``torch2mlir coverage --all`` says of everything that is not core."""
    rows = [row for row in coverage(everything=True) if row.way not in FAMILIES]
    yield "## Everything else in PyTorch's registry"
    yield ""
    yield from (f"- {line}" for line in totals(rows) if not line.startswith("0 core"))
    yield ""
    yield "### Unsupported, by reason"
    yield ""
    by_reason = defaultdict(list)
    for way in ways():
        if way.kind == UNSUPPORTED:
            by_reason[way.detail].append(way.op.removeprefix("torch."))
    for reason, ops in sorted(by_reason.items(), key=lambda item: -len(item[1])):
        yield f"- **{reason}** ({len(ops)}): {', '.join(ops)}"
    yield ""
    yield "### Covered"
    yield ""
    yield from markdown([row for row in rows if "yes" in row.cells])


if __name__ == "__main__":
    raise SystemExit(main())
