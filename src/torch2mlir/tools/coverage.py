"""Show which op lowers to which dialect, read from the registered conversions themselves.

Without a pattern: the core ops. With patterns: every op of PyTorch's registry whose name contains
one of them; those that are not core decompose, or have no lowering. (What an op decomposes into
depends on its operands' types, so only compiling a program shows that all of it is covered.)

    torch2mlir coverage
    torch2mlir coverage softmax conv
    torch2mlir coverage --missing --markdown
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from torch2mlir.conversion.registry import TARGETS, lowering_functions
from torch2mlir.transforms.core_ops import CORE_OPS, FAMILIES

SUMMARY = "show which op lowers to which dialect"
ABSENT = "no lowering"
DECOMPOSES = "decomposes"


@dataclass(frozen=True)
class Row:
    """How one op is handled: its family or other kind, and the targets that have a lowering of it."""

    op: str
    kind: str
    targets: frozenset[str]

    @property
    def is_covered(self) -> bool:
        """Whether the op reaches every dialect."""
        return self.kind == DECOMPOSES or len(self.targets) == len(TARGETS)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``torch2mlir coverage``."""
    parser.add_argument("pattern", nargs="*", help="only ops whose name contains one of these")
    parser.add_argument(
        "--missing", action="store_true", help="only ops that do not reach every dialect"
    )
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Do what ``torch2mlir coverage`` was asked for."""
    rows = list(coverage(tuple(options.pattern)))
    shown = [row for row in rows if not (options.missing and row.is_covered)]
    if options.markdown:
        print("\n".join(_markdown(shown)))
    else:
        console = Console(highlight=False, width=max(Console().width, 110))
        console.print(_table(shown))
        console.print(_totals(rows))
    return 0


def coverage(patterns: tuple[str, ...] = ()) -> Iterator[Row]:
    """The rows of the table: core ops by family, then ops of users, then, on request, the rest."""
    functions = {target: lowering_functions(target) for target in TARGETS}

    def row(op: str, kind: str) -> Row:
        return Row(op, kind, frozenset(t for t in TARGETS if op in functions[t]))

    def wanted(op: str) -> bool:
        return not patterns or any(pattern in op for pattern in patterns)

    for family, ops in FAMILIES.items():
        yield from (row(op, family) for op in sorted(ops) if wanted(op))
    kept = set().union(*functions.values()) - CORE_OPS
    yield from (row(op, "kept on request") for op in sorted(kept) if wanted(op))
    if patterns:
        yield from (Row(op, kind, frozenset()) for op, kind in _others(kept) if wanted(op))


def _others(kept: set[str]) -> Iterator[tuple[str, str]]:
    """Ops of the registry that are neither core nor lowered themselves; needs PyTorch."""
    from torch2mlir.dialects.torch.schema import find_schema, op_names
    from torch2mlir.transforms.decompositions import find_decomposition, find_overload

    for op in op_names():
        if not op.startswith(("torch.aten.", "torch.prims.", "torch.quantized_decomposed.")):
            continue  # the rest is TorchScript's own
        schema = find_schema(op)
        if op in CORE_OPS or op in kept or schema is None or schema.is_mutating:
            continue
        overload = find_overload(op)
        if overload is None:
            continue
        try:
            yield op, DECOMPOSES if find_decomposition(overload) else ABSENT
        except RuntimeError:  # known to TorchScript alone, like aten::Bool.Tensor
            continue


def _marks(row: Row) -> list[str]:
    if row.kind == DECOMPOSES:
        return [DECOMPOSES] * len(TARGETS)
    return ["yes" if target in row.targets else "-" for target in TARGETS]


def _table(rows: list[Row]) -> Table:
    table = Table()
    table.add_column("op", no_wrap=True)
    table.add_column("family")
    for target in TARGETS:
        table.add_column(target, no_wrap=True)
    for row in rows:
        table.add_row(row.op.removeprefix("torch."), row.kind, *_marks(row))
    return table


def _markdown(rows: list[Row]) -> Iterator[str]:
    yield "| " + " | ".join(["op", "family", *TARGETS]) + " |"
    yield "|---" * (2 + len(TARGETS)) + "|"
    for row in rows:
        yield "| " + " | ".join([row.op.removeprefix("torch."), row.kind, *_marks(row)]) + " |"


def _totals(rows: list[Row]) -> str:
    core = [row for row in rows if row.kind in FAMILIES]
    counts = [f"{target} {sum(target in row.targets for row in core)}" for target in TARGETS]
    return f"{len(core)} core ops: {', '.join(counts)}"
