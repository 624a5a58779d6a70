"""One run of a graph in parts, looked at closely: is a cluster right, what does it cost, and what does PyTorch."""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node

from torch2mlir.hybrid.cluster import Cluster
from torch2mlir.hybrid.config import Config
from torch2mlir.hybrid.culprit import culprit_of
from torch2mlir.hybrid.difference import difference
from torch2mlir.hybrid.partition import Partition
from torch2mlir.hybrid.selection import Selection

_RUNS = 3
MOST_ROUNDS = 6
"""How often clusters may differ from PyTorch until those that still do are left to it whole."""


@dataclass
class Segment:
    """A part of a run.

    Attributes:
        name: of a cluster, or of a run of ops in PyTorch.
        is_compiled: whether it was compiled code that ran.
        ops: how many ops it has.
        seconds: what it took.
        pytorch_seconds: what PyTorch takes for a cluster.
        who: the engine, or PyTorch.
    """

    name: str
    is_compiled: bool
    ops: int
    seconds: float
    pytorch_seconds: float | None = None
    who: str = "PyTorch"

    def within(self, graph: str) -> Segment:
        """The same, with the name its cluster has among those of several graphs."""
        return replace(self, name=graph + self.name) if self.name.startswith("cluster_") else self


@dataclass
class Examination:
    """What one run of a graph showed.

    Attributes:
        results: what the graph returned.
        segments: its parts in the order they ran.
        selection: how clusters were tuned, if they were.
        culprits: ops that make clusters differ from PyTorch, by the names of their nodes, and how.
    """

    results: Any = None
    segments: list[Segment] = field(default_factory=list)
    selection: Selection | None = None
    culprits: dict[str, str] = field(default_factory=dict)


def examine(module: GraphModule, inputs: Sequence[Any], config: Config) -> Examination:
    """Runs a graph in parts. Clusters that differ from PyTorch are left to it; with ``tune`` each gets its fastest way.

    Args:
        module: of ``partition``.
        inputs: its arguments; it may write to them.
        config: whether to verify and to tune.
    """
    examiner = _Examiner(module, config)
    with torch.no_grad():
        results = examiner.run(*inputs)
    return Examination(results, examiner.segments, examiner.selection, examiner.culprits)


def examined(
    parts: Partition,
    run: Callable[[Partition], Examination],
    without: Callable[[Mapping[str, str]], Partition],
) -> tuple[Partition, Examination]:
    """Examines a graph in parts; where a cluster differs from PyTorch, the op that makes it so leaves it.

    Args:
        parts: of ``partition``.
        run: examines parts, always from the same state.
        without: the graph in parts again, with nodes of these names in PyTorch, and why.
    """
    culprits = dict[str, str]()
    examination = run(parts)
    for _ in range(MOST_ROUNDS - 1):
        if not examination.culprits:
            break
        culprits |= examination.culprits
        parts = without(culprits)
        examination = run(parts)
    return parts, examination


class _Examiner(Interpreter):
    def __init__(self, module: GraphModule, config: Config) -> None:
        super().__init__(module)
        self.config = config
        self.segments = list[Segment]()
        self.culprits = dict[str, str]()
        clusters = [m for m in module.children() if isinstance(m, Cluster)]
        ops = sum(len(cluster.ops) for cluster in clusters)
        self.selection = Selection(config, ops) if config.tune else None

    def run_node(self, n: Node) -> Any:
        if n.op == "call_module":
            cluster = self.fetch_attr(str(n.target))
            if isinstance(cluster, Cluster):
                args, _ = self.fetch_args_kwargs_from_env(n)
                return self._cluster(str(n.target), cluster, args)
        start = time.perf_counter()
        result = super().run_node(n)
        if n.op == "call_function" and n.target is not operator.getitem:
            self._in_pytorch(str(n.target), time.perf_counter() - start)
        return result

    def _in_pytorch(self, name: str, seconds: float) -> None:
        if self.segments and not self.segments[-1].is_compiled:
            last = self.segments[-1]
            last.ops, last.seconds = last.ops + 1, last.seconds + seconds
            last.name = last.name if name in last.name else f"{last.name}, {name}"
        else:
            self.segments.append(Segment(name, False, 1, seconds))

    def _cluster(self, name: str, cluster: Cluster, args: Sequence[Any]) -> Any:
        args = cluster.as_captured(args)
        results = cluster(*args)
        if self.selection is not None and cluster.compiled is not None:
            taken, pytorch = self.selection.choose(name, cluster, args)
            results = cluster(*args)
        else:
            if cluster.compiled is not None and self.config.verify:
                again = partial(cluster.region, *args)
                problem = difference(results, again(), cluster.region.graph, again)
                if problem is not None:
                    self.culprits |= culprit_of(cluster, args, problem)
                    cluster.leave_to_pytorch(f"differs from PyTorch: {problem}")
            taken = pytorch = _seconds(lambda: cluster(*args))
            if cluster.compiled is not None:
                pytorch = _seconds(lambda: cluster.region(*args))
            else:
                results = cluster.region(*args)
        is_compiled = cluster.compiled is not None
        who = cluster.way.name if is_compiled else "PyTorch"
        self.segments.append(Segment(name, is_compiled, len(cluster.ops), taken, pytorch, who))
        cluster.calls = cluster.fallbacks = 0
        return results


def _seconds(call: Callable[[], Any]) -> float:
    """The shortest of a few runs."""
    best = float("inf")
    for _ in range(_RUNS):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best
