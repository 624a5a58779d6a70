"""Which op makes a cluster differ from PyTorch: the end of its shortest beginning that does."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch.fx import Node
from torch.utils import _pytree as pytree

from torch2mlir.errors import Torch2MLIRError
from torch2mlir.hybrid.cluster import Cluster
from torch2mlir.hybrid.clustering import is_size
from torch2mlir.hybrid.difference import described, first_difference
from torch2mlir.hybrid.region import Region, Regions

_MOST_BYTES = 2**30
"""Of the values of a cluster that are looked at together: PyTorch computes them once more in f64."""


def culprit_of(cluster: Cluster, args: Sequence[Any], problem: str) -> dict[str, str]:
    """The name of the node that makes a cluster differ, and how it differs; nothing if no beginning does.

    Every value that leaves a beginning is compared, so what a later op would hide is seen too. The first value that
    differs where all are results says where to look; an engine computes those in another way, so beginnings that end
    there are compiled to see whether it is so. If not, it takes as many compilations as the number of ops has binary
    digits.

    Args:
        cluster: it.
        args: of a call that differs.
        problem: how its results differ.
    """
    graph = cluster.region.graph
    inputs = dict(zip(graph.find_nodes(op="placeholder"), args, strict=True))
    nodes = [n for n in graph.nodes if n.op == "call_function" and not is_size(n)]
    ops = [n for n in nodes if n.target is not operator.getitem]
    beginnings = _Beginnings(cluster, nodes, inputs)
    good, bad = 0, len(ops)
    likely = beginnings.first_that_differs()
    suspected = () if likely is None else (ops.index(likely) + 1, ops.index(likely))
    while bad - good > 1:
        middle = next((end for end in suspected if good < end < bad), (good + bad) // 2)
        found = beginnings.problem(ops[:middle])
        good, bad = (middle, bad) if found is None else (good, middle)
        problem = found or problem
    if bad == len(ops) and beginnings.problem(ops) is None:
        return {}
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
        return described(self._difference(region))

    def first_that_differs(self) -> Node | None:
        """The first op with a value that differs where all values are results; None if there is none, or too many."""
        if sum(map(_bytes, self._nodes)) > _MOST_BYTES:
            return None
        region = self._regions.cut_open(self._nodes)
        found = self._difference(region)
        if found is None or found[0] < 0:
            return None
        node = region.outputs[found[0]]
        return node.all_input_nodes[0] if node.target is operator.getitem else node

    def _difference(self, region: Region) -> tuple[int, str] | None:
        args = [self._inputs[node] for node in region.inputs]
        try:
            compiled = self._cluster.compile_again(region.graph_module)
            again = partial(region.graph_module, *args)
            return first_difference(compiled(*args), again(), region.graph_module.graph, again)
        except Torch2MLIRError:
            return None


def _bytes(node: Node) -> int:
    """Of a node's value, for the sizes at capture."""
    values = [v for v in pytree.tree_leaves(node.meta.get("val")) if isinstance(v, torch.Tensor)]
    return sum(math.prod(map(_hint, v.shape)) * v.element_size() for v in values)


def _hint(size: Any) -> int:
    return int(size.node.hint or 1) if isinstance(size, torch.SymInt) else int(size)
