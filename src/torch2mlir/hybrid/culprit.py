"""Which op makes a cluster differ from PyTorch: the end of its shortest beginning that does."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import partial
from typing import Any

from torch.fx import Node

from torch2mlir.errors import Torch2MLIRError
from torch2mlir.hybrid.cluster import Cluster
from torch2mlir.hybrid.clustering import is_size
from torch2mlir.hybrid.difference import difference
from torch2mlir.hybrid.region import Regions


def culprit_of(cluster: Cluster, args: Sequence[Any]) -> dict[str, str]:
    """The name of the node that makes a cluster differ, and how it differs; nothing if no beginning does.

    Every value that leaves a beginning is compared, so what a later op would hide is seen too. It takes as many
    compilations as the number of ops has binary digits.
    """
    graph = cluster.region.graph
    inputs = dict(zip(graph.find_nodes(op="placeholder"), args, strict=True))
    nodes = [n for n in graph.nodes if n.op == "call_function" and not is_size(n)]
    ops = [n for n in nodes if n.target is not operator.getitem]
    beginnings = _Beginnings(cluster, nodes, inputs)
    good, bad, problem = 0, len(ops), beginnings.problem(ops)
    if problem is None:
        return {}
    while bad - good > 1:
        middle = (good + bad) // 2
        found = beginnings.problem(ops[:middle])
        good, bad = (middle, bad) if found is None else (good, middle)
        problem = found or problem
    return {ops[bad - 1].name: f"differs from PyTorch: {problem}"}


class _Beginnings:
    """Compiles and runs the first ops of a cluster."""

    def __init__(self, cluster: Cluster, nodes: Sequence[Node], inputs: dict[Node, Any]) -> None:
        self._cluster = cluster
        self._nodes = nodes
        self._inputs = inputs
        self._regions = Regions(cluster.region, frozenset())

    def problem(self, ops: Sequence[Node]) -> str | None:
        """How the compiled ops differ from PyTorch; None if they do not, or cannot be compiled by themselves."""
        chosen = set(ops)
        chosen |= {n for n in self._nodes if n.target is operator.getitem and n.args[0] in chosen}
        region = self._regions.cut([n for n in self._nodes if n in chosen])
        args = [self._inputs[node] for node in region.inputs]
        try:
            compiled = self._cluster.compile_again(region.graph_module)
            again = partial(region.graph_module, *args)
            return difference(compiled(*args), again(), region.graph_module.graph, again)
        except Torch2MLIRError:
            return None
