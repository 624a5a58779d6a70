"""Which nodes of a graph form clusters: the largest convex ones, so few that PyTorch and clusters seldom take turns.

Every node gets a phase, as early as what it depends on allows. Even phases are compiled, odd ones run in PyTorch: a
node is in the phase of the latest node it depends on if both are of one kind, else in the next one of its kind. The
clusterable nodes of one phase are a cluster. A path that leaves it through PyTorch comes back in a later phase, so
clusters are convex and depend on each other without cycles; and there are no more phases than some path of the program
changes sides.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from torch.fx import Graph, Node

from torch2mlir.frontends.fx.shared_memory import aliased_arguments, is_tensor_node

_SOURCES = ("placeholder", "get_attr")


@dataclass(frozen=True)
class Phases:
    """When each node runs.

    Attributes:
        of: the phase of every node; that of inputs is 0.
        clusters: the nodes of each cluster in the graph's order, by phase.
    """

    of: Mapping[Node, int]
    clusters: Mapping[int, Sequence[Node]]


def find_phases(
    graph: Graph, clusterable: AbstractSet[Node], before: Mapping[Node, Iterable[Node]]
) -> Phases:
    """Puts the nodes of a graph into phases.

    Args:
        graph: the graph, in an order that can run.
        clusterable: nodes that may be compiled.
        before: further nodes that have to run before a node.
    """
    phase = dict[Node, int]()
    nodes = list(graph.nodes)
    for node in nodes:
        earliest = max(
            (phase[n] for n in (*node.all_input_nodes, *before.get(node, ()))), default=0
        )
        if node.op in _SOURCES:
            phase[node] = 0
        elif is_size(node) or node.target is operator.getitem:
            phase[node] = earliest
        elif node in clusterable:
            phase[node] = earliest + earliest % 2
        else:
            phase[node] = earliest + 1 - earliest % 2
    _sink_state(nodes, phase, clusterable, before)
    clusters = dict[int, list[Node]]()
    for node in nodes:
        if node in clusterable:
            clusters.setdefault(phase[node], []).append(node)
    return Phases(phase, clusters)


def is_size(node: Node) -> bool:
    """Whether a node is arithmetic on sizes: it costs nothing, and clusters compute their own."""
    return node.op == "call_function" and not is_tensor_node(node)


def compute_nodes(nodes: Iterable[Node]) -> list[Node]:
    """The nodes that compute elements: neither views nor parts of other results."""
    return [n for n in nodes if n.target is not operator.getitem and not aliased_arguments(n)]


def _sink_state(
    nodes: Sequence[Node],
    phase: dict[Node, int],
    clusterable: AbstractSet[Node],
    before: Mapping[Node, Iterable[Node]],
) -> None:
    """Moves what depends on weights alone into the phase that first needs it, where it can be prepared with them."""
    ordered = {n for node, others in before.items() for n in (node, *others)}
    of_state = set[Node]()
    for node in nodes:
        movable = node in clusterable and node not in ordered
        if movable and all(n.op == "get_attr" or n in of_state for n in node.all_input_nodes):
            of_state.add(node)
    for node in reversed(nodes):
        if node in of_state and node.users:
            latest = min(phase[user] for user in node.users)
            phase[node] = max(phase[node], latest - latest % 2)
