"""What runs compiled, what runs in PyTorch and why: as a table, and as a picture."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.table import Table

from torch2mlir.errors import InputError
from torch2mlir.files import write_whole
from torch2mlir.hybrid.choice import Trial
from torch2mlir.hybrid.partition import Partition
from torch2mlir.hybrid.selection import Selection
from torch2mlir.hybrid.tune import Segment

_SUFFIXES = (".html", ".htm", ".svg")


@dataclass(frozen=True)
class ClusterRow:
    """One cluster: how many ops, who runs it and by which rule, how often."""

    name: str
    ops: int
    engine: str
    dialect: str
    rule: str
    calls: int
    fallbacks: int
    is_compiled: bool
    reason: str | None


@dataclass(frozen=True)
class KeptRow:
    """Ops of one name that run in PyTorch for one reason; the first line of the model with one."""

    op: str
    count: int
    reason: str
    location: str | None


@dataclass
class Report:
    """What ``optimize`` has made of a model.

    Attributes:
        capture: how the graphs were captured, one line each.
        clusters: the clusters of all graphs.
        kept: what runs in PyTorch besides.
        segments: the parts of a measured run, in order; empty if none was measured.
        trials: the ways that clusters were measured in, if they were tuned.
        tuning: what that took, a line for each graph.
        calls: how often the module has been called.
        pytorch_calls: the calls that ran in PyTorch as a whole, by reason.
    """

    capture: list[str] = field(default_factory=list)
    clusters: list[ClusterRow] = field(default_factory=list)
    kept: list[KeptRow] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    trials: list[Trial] = field(default_factory=list)
    tuning: list[str] = field(default_factory=list)
    calls: int = 0
    pytorch_calls: Counter[str] = field(default_factory=Counter)

    @property
    def compiled_ops(self) -> int:
        """The ops that run compiled."""
        return sum(row.ops for row in self.clusters if row.is_compiled)

    @property
    def pytorch_ops(self) -> int:
        """The ops that run in PyTorch, those of clusters left to it included."""
        left = sum(row.ops for row in self.clusters if not row.is_compiled)
        return left + sum(row.count for row in self.kept)

    @property
    def compiled_share(self) -> float | None:
        """The share of the time of the measured run that was compiled code; None if none was measured."""
        total = sum(segment.seconds for segment in self.segments)
        if not total:
            return None
        return sum(s.seconds for s in self.segments if s.is_compiled) / total

    def summary(self) -> list[str]:
        """The report in a few lines."""
        compiled = sum(row.is_compiled for row in self.clusters)
        lines = [
            *self.capture,
            f"{self.compiled_ops} ops compiled in {compiled} cluster{'s' * (compiled != 1)}, "
            f"{self.pytorch_ops} in PyTorch",
        ]
        if self.compiled_share is not None:
            total = sum(segment.seconds for segment in self.segments)
            share = f"{self.compiled_share:.0%} of {total * 1e3:.3g} ms"
            lines.append(f"{share} of a captured call runs compiled")
        lines += self.tuning
        lines.append(f"{self.calls} calls, {self.pytorch_calls.total()} of them all in PyTorch")
        lines += [f"  {count} x {reason}" for reason, count in self.pytorch_calls.most_common()]
        return lines

    def tables(self) -> list[Table]:
        """The clusters, the ways they were measured in, and what runs in PyTorch."""
        clusters = Table(title="clusters", title_justify="left")
        for heading in ("cluster", "ops", "runs", "calls", "ms", "PyTorch ms"):
            clusters.add_column(heading)
        times = {segment.name: segment for segment in self.segments}
        for row in self.clusters:
            runs = f"{row.dialect} on {row.engine}, {row.rule}" if row.is_compiled else "PyTorch"
            runs += f": {row.reason}" if row.reason else ""
            calls = f"{row.calls}" + (f" ({row.fallbacks} in PyTorch)" if row.fallbacks else "")
            time = times.get(row.name)
            taken = (time.seconds, time.pytorch_seconds) if time else (None, None)
            clusters.add_row(row.name, str(row.ops), runs, calls, *map(_ms, taken))
        kept = Table(title="in PyTorch", title_justify="left")
        for heading in ("op", "times", "reason", "first at"):
            kept.add_column(heading)
        for item in self.kept:
            kept.add_row(item.op, str(item.count), item.reason, item.location or "")
        shown = ((clusters, self.clusters), (self._trials_table(), self.trials), (kept, self.kept))
        return [table for table, rows in shown if rows]

    def _trials_table(self) -> Table:
        trials = Table(title="ways measured", title_justify="left")
        for heading in ("cluster", "way", "ms", "outcome"):
            trials.add_column(heading)
        for trial in self.trials:
            trials.add_row(trial.cluster, trial.way, _ms(trial.seconds), trial.outcome)
        return trials

    def add_parts(self, parts: Partition, prefix: str) -> None:
        """Adds a graph in parts, whose clusters are named with the prefix."""
        for index, cluster in enumerate(parts.clusters):
            self.clusters.append(
                ClusterRow(
                    f"{prefix}cluster_{index}",
                    len(cluster.ops),
                    cluster.way.name,
                    cluster.way.dialect,
                    cluster.rule,
                    cluster.calls,
                    cluster.fallbacks,
                    cluster.compiled is not None,
                    cluster.reason,
                )
            )
        first = {(item.op, item.reason): item.location for item in reversed(parts.kept)}
        self.kept += [
            KeptRow(op, count, reason, first[op, reason])
            for (op, reason), count in parts.reasons().most_common()
        ]

    def add_selection(self, selection: Selection | None, graph: str) -> None:
        """Adds how the clusters of a graph were tuned."""
        if selection is None or not selection.trials:
            return
        self.trials += [replace(t, cluster=graph + t.cluster) for t in selection.trials]
        self.tuning.append(selection.summary())

    def __str__(self) -> str:
        text = StringIO()
        self._print(Console(file=text, width=120, highlight=False))
        return text.getvalue()

    def print(self) -> None:
        """Prints it to the terminal."""
        self._print(Console(highlight=False))

    def _print(self, console: Console) -> None:
        console.print(*self.summary(), sep="\n", markup=False)
        for table in self.tables():
            console.print(table)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the picture: a file ending in ``.svg``, or a page of HTML with the tables too.

        Raises:
            InputError: its name ends otherwise.
        """
        target = picture_file(path)
        text = picture(self.segments)
        if target.suffix != ".svg":
            text = self._page(text)
        write_whole(target, lambda stream: stream.write(text.encode()))
        return target

    def _page(self, svg: str) -> str:
        body = "".join(f"<p>{escape(line)}</p>" for line in self.summary())
        tables = "".join(_html(table) for table in self.tables())
        return (
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>torch2mlir.optimize</title>'
            "<style>body{font:14px system-ui,sans-serif;margin:2em;max-width:70em}"
            "table{border-collapse:collapse;margin:1em 0}td,th{border:1px solid #ccc;padding:.3em .6em;"
            "text-align:left;vertical-align:top}caption{text-align:left;font-weight:bold}</style>"
            f"<h1>What runs compiled</h1>{body}{svg}{tables}</html>"
        )


def picture_file(path: str | os.PathLike[str]) -> Path:
    """The file that a report goes to.

    Raises:
        InputError: it is neither a picture nor a page, by the ending of its name.
    """
    target = Path(path)
    if target.suffix not in _SUFFIXES:
        raise InputError(
            f"a report is a picture or a page, and {target} is neither",
            hint=f"name a file that ends in {' or '.join(_SUFFIXES)}",
        )
    return target


def _ms(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds * 1e3:.3g}"


def _html(table: Table) -> str:
    columns = [list(column.cells) for column in table.columns]
    head = "".join(f"<th>{escape(str(column.header))}</th>" for column in table.columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>"
        for row in zip(*columns)
    )
    return f"<table><caption>{escape(str(table.title))}</caption><tr>{head}</tr>{rows}</table>"


_WIDTH, _HEIGHT = 960, 40
_COMPILED, _PYTORCH = "#2a7f62", "#d98032"


def picture(segments: Sequence[Segment]) -> str:
    """An SVG bar of a measured run, from left to right: compiled parts green, PyTorch orange, as wide as they take."""
    total = sum(segment.seconds for segment in segments) or 1.0
    x, parts = 0.0, list[str]()
    for segment in segments:
        width = segment.seconds / total * _WIDTH
        color = _COMPILED if segment.is_compiled else _PYTORCH
        who = f"compiled, {segment.who}" if segment.is_compiled else "PyTorch"
        title = f"{segment.name} ({who}): {segment.ops} ops, {segment.seconds * 1e3:.3g} ms"
        label = segment.name if width > 8 * len(segment.name) else ""
        parts.append(
            f'<g><title>{escape(title)}</title><rect x="{x:.2f}" y="0" width="{max(width, 0.5):.2f}" '
            f'height="{_HEIGHT}" fill="{color}" stroke="white" stroke-width="0.5"/>'
            f'<text x="{x + 4:.2f}" y="24" fill="white">{escape(label)}</text></g>'
        )
        x += width
    legend = (
        f'<rect x="0" y="52" width="12" height="12" fill="{_COMPILED}"/><text x="18" y="63">compiled</text>'
        f'<rect x="100" y="52" width="12" height="12" fill="{_PYTORCH}"/><text x="118" y="63">PyTorch</text>'
        f'<text x="200" y="63">{total * 1e3 if segments else 0:.3g} ms in all</text>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} 72" width="{_WIDTH}" height="72" '
        f'font-family="sans-serif" font-size="12">{"".join(parts)}{legend}</svg>'
    )
