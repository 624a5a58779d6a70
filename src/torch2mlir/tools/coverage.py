"""Show which op lowers to which dialect, read from the registered conversions themselves.

Without a pattern: the core ops. With patterns, or with --all: the ops of PyTorch's registry, each with
the way it is covered, or the reason why it is not. (What an op decomposes into depends on its
operands' types, so only compiling a program shows that all of it is covered.)

    torch2mlir coverage
    torch2mlir coverage softmax conv
    torch2mlir coverage --all
    torch2mlir coverage --missing --markdown
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from torch2mlir.contract.core_ops import CONTROL_FLOW, CORE_OPS, FAMILIES
from torch2mlir.contract.op_name import OpName
from torch2mlir.contract.target import get_target, lowered_targets
from torch2mlir.conversion.registry import lowering_functions
from torch2mlir.errors import InputError

SUMMARY = "show which op lowers to which dialect"
UNSUPPORTED = "unsupported"


@dataclass(frozen=True)
class Row:
    """How one op is handled.

    Attributes:
        op: name in the dialect.
        way: its family if it is core, else the way it is covered.
        cells: what to say per target.
        reason: why it is not covered, if so.
    """

    op: str
    way: str
    cells: tuple[str, ...]
    reason: str = ""

    @property
    def is_covered(self) -> bool:
        """Whether the op reaches every dialect."""
        return "-" not in self.cells


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``torch2mlir coverage``."""
    parser.add_argument("pattern", nargs="*", help="only ops whose name contains one of these")
    parser.add_argument("--all", action="store_true", help="every op of PyTorch's registry")
    parser.add_argument(
        "--missing", action="store_true", help="only ops that do not reach every dialect"
    )
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Do what ``torch2mlir coverage`` was asked for."""
    rows = list(coverage(tuple(options.pattern), everything=options.all))
    if options.pattern and not rows:
        asked = " or ".join(map(repr, options.pattern))
        where = "PyTorch's registry" if options.all else "the core ops"
        raise InputError(
            f"no op of {where} has {asked} in its name", hint="--all looks at every op of PyTorch's"
        )
    shown = [row for row in rows if not (options.missing and row.is_covered)]
    if options.markdown:
        print("\n".join(markdown(shown)))
    else:
        console = Console(highlight=False, width=max(Console().width, 110))
        console.print(_table(shown))
        for line in totals(rows):
            console.print(line)
    return 0


def coverage(patterns: tuple[str, ...] = (), *, everything: bool = False) -> Iterator[Row]:
    """The rows of the table: core ops by family, then ops of users, then, on request, the rest."""
    functions = {target: lowering_functions(target) for target in lowered_targets()}

    def lowered(op: str, way: str) -> Row:
        return Row(op, way, tuple("yes" if op in functions[t] else "-" for t in lowered_targets()))

    def wanted(op: str) -> bool:
        return not patterns or any(pattern in op for pattern in patterns)

    for family, ops in FAMILIES.items():
        yield from (lowered(op, family) for op in sorted(ops) if wanted(op))
    yield from (lowered(op, "control_flow") for op in sorted(CONTROL_FLOW) if wanted(op))
    kept = set().union(*functions.values()) - CORE_OPS - CONTROL_FLOW
    words = frozenset[str]().union(*(get_target(target).kept_ops for target in functions))
    for op in filter(wanted, sorted(kept)):
        row = lowered(op, "kept on request")
        if op in words:  # what one dialect has a word for, the others get decomposed
            cells = tuple("yes" if cell == "yes" else "decomposed" for cell in row.cells)
            row = Row(op, "kept for a dialect", cells)
        yield row
    if patterns or everything:
        yield from (row for row in _others(kept) if wanted(row.op))


def _others(kept: set[str]) -> Iterator[Row]:
    """Ops of the registry that are neither core nor lowered themselves; needs PyTorch."""
    from torch2mlir.tools.registry_ways import ways

    for way in ways():
        if way.op not in CORE_OPS and way.op not in kept:
            missing = lowered_targets() if way.kind == UNSUPPORTED else way.missing
            cells = tuple("-" if target in missing else "yes" for target in lowered_targets())
            yield Row(way.op, way.kind, cells, way.detail)


def _table(rows: list[Row]) -> Table:
    table = Table()
    table.add_column("op", no_wrap=True)
    table.add_column("family, or way")
    for target in lowered_targets():
        table.add_column(target, no_wrap=True)
    reasons = any(row.reason for row in rows)
    if reasons:
        table.add_column("reason")
    for row in rows:
        table.add_row(OpName(row.op).dotted, row.way, *row.cells, *([row.reason] * reasons))
    return table


def markdown(rows: list[Row]) -> Iterator[str]:
    """The rows as a Markdown table."""
    reasons = any(row.reason for row in rows)
    titles = ["op", "family, or way", *lowered_targets(), *(["reason"] * reasons)]
    yield "| " + " | ".join(titles) + " |"
    yield "|---" * len(titles) + "|"
    for row in rows:
        cells = [OpName(row.op).dotted, row.way, *row.cells, *([row.reason] * reasons)]
        yield "| " + " | ".join(cells) + " |"


def totals(rows: list[Row]) -> Iterator[str]:
    """What the rows add up to, a line each."""
    core = [row for row in rows if row.way in FAMILIES]
    counts = [
        f"{target} {sum(row.cells[index] == 'yes' for row in core)}"
        for index, target in enumerate(lowered_targets())
    ]
    yield f"{len(core)} core ops: {', '.join(counts)}"
    rest = Counter(row.way for row in rows if row.way not in FAMILIES)
    yield from (f"{count} {way}" for way, count in rest.most_common())
