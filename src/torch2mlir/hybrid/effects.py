"""What of a graph has an effect besides its value: writes, views of what is written, random numbers, checks.

Clusters compute values. A graph's order of effects, and which tensors share memory, are PyTorch's: what writes stays in
PyTorch, and so do the views whose elements change under them. Whatever else reads written memory may go into a
cluster, which then runs on the right side of the write.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node
from torch.utils import _pytree as pytree

from torch2mlir.frontends import drawing_ops
from torch2mlir.frontends.fx.shared_memory import (
    aliased_arguments,
    is_tensor_node,
    written_arguments,
)

WRITES = "writes to a tensor"
VIEW_OF_WRITTEN = "a view of memory that is written to"
RANDOM = "draws random numbers, which are PyTorch's own"
UNKNOWN = "not an operator of PyTorch's registry: its effects are unknown"
OUTPUT_VIEW = "a result that shares memory with another tensor"


@dataclass
class Effects:
    """The effects of a graph.

    Attributes:
        kept: nodes that only PyTorch may run, and why.
        before: for a node, those that have to come before it although it takes none of their values.
        written: nodes whose memory is written to by some node.
    """

    kept: dict[Node, str] = field(default_factory=dict)
    before: dict[Node, set[Node]] = field(default_factory=lambda: defaultdict(set))
    written: set[Node] = field(default_factory=set)


def effects(graph_module: GraphModule) -> Effects:
    """What the nodes of a graph do besides computing values."""
    nodes = list(graph_module.graph.nodes)
    position = {node: index for index, node in enumerate(nodes)}
    memory = _Memory(nodes)
    found = Effects()
    writes = list[tuple[Node, Node]]()
    last: Node | None = None
    for node in nodes:
        reason, targets = _effect(node, graph_module)
        if reason is None:
            continue
        found.kept[node] = reason
        if last is not None:
            found.before[node].add(last)
        last = node
        writes += [(node, target) for target in targets]
    _order_around_writes(found, writes, memory, position)
    return found


def _effect(node: Node, root: GraphModule) -> tuple[str | None, list[Node]]:
    """Why a node has an effect, and which tensors it writes to."""
    target = node.target
    if node.op in ("placeholder", "get_attr", "output") or target is operator.getitem:
        return None, []
    if isinstance(target, torch._ops.OpOverload):
        if written := written_arguments(node):
            return WRITES, written
        return (RANDOM, []) if draws(node) else (None, [])
    if isinstance(target, torch._ops.HigherOrderOperator):
        inner = [r for body in _bodies(node, root) for r in _effects_within(body)]
        tensors = [n for n in node.all_input_nodes if n.op != "get_attr"]
        return (inner[0], tensors if WRITES in inner else []) if inner else (None, [])
    if not is_tensor_node(node) and node.op == "call_function":
        return None, []  # arithmetic on sizes
    return UNKNOWN, [n for n in node.all_input_nodes if is_tensor_node(n)]


def _bodies(node: Node, root: GraphModule) -> Iterator[GraphModule]:
    for argument in node.all_input_nodes:
        if argument.op == "get_attr":
            value: Any = root
            for part in str(argument.target).split("."):
                value = getattr(value, part)
            if isinstance(value, GraphModule):
                yield value


def _effects_within(body: GraphModule) -> list[str]:
    """What the nodes of a body do, but for writes to what the body itself has made."""
    memory, found = _Memory(list(body.graph.nodes)), list[str]()
    for node in body.graph.nodes:
        reason, written = _effect(node, body)
        groups = (memory.group(target) for target in written)
        are_own = all(m.op not in ("placeholder", "get_attr") for group in groups for m in group)
        if reason is not None and not (reason == WRITES and are_own):
            found.append(reason)
    return found


def draws(node: Node) -> bool:
    """Whether an op, called like this, draws random numbers."""
    assert isinstance(node.target, torch._ops.OpOverload)
    return drawing_ops.draws(node.target, node.args, node.kwargs)


class _Memory:
    """Sets of nodes that may share memory."""

    def __init__(self, nodes: list[Node]) -> None:
        self._group = {node: [node] for node in nodes}
        self.aliases = {node: aliased_arguments(node) for node in nodes}
        for node, bases in self.aliases.items():
            for base in bases:
                self._join(node, base)

    def _join(self, a: Node, b: Node) -> None:
        first, second = self._group[a], self._group[b]
        if first is not second:
            first.extend(second)
            for node in second:
                self._group[node] = first

    def group(self, node: Node) -> list[Node]:
        return self._group[node]


def returns_views_of_written(graph: Graph) -> bool:
    """Whether a result is a part of an argument or a buffer that is written to, or has it in another order.

    Decomposed, such a program returns parts of the new value, which it then copies to the argument.
    """
    nodes = list(graph.nodes)
    memory = _Memory(nodes)
    calls = (node for node in nodes if isinstance(node.target, torch._ops.OpOverload))
    groups = [memory.group(target) for node in calls for target in written_arguments(node)]
    outer = {n for group in groups if any(m.op == "placeholder" for m in group) for n in group}
    return any(node in outer and not _is_whole(node) for node in nodes[-1].all_input_nodes)


def _is_whole(node: Node) -> bool:
    """Whether a node is an argument, or what an update of it in place returns."""
    while isinstance(node.target, torch._ops.OpOverload) and (written := written_arguments(node)):
        node = written[0]
    return node.op == "placeholder"


def _order_around_writes(
    found: Effects, writes: list[tuple[Node, Node]], memory: _Memory, position: dict[Node, int]
) -> None:
    """Puts readers of written memory on their side of each write; keeps views it goes through and views it changes."""
    for write, target in writes:
        group = memory.group(target)
        found.written.update(group)
        readers = {user for member in group for user in member.users} | set(group)
        for reader in readers - {write}:
            if reader.op in ("placeholder", "get_attr", "output"):
                continue
            first, second = sorted((reader, write), key=position.__getitem__)
            found.before[second].add(first)
        for member in group:
            if not memory.aliases[member] or member in found.kept:
                continue
            if position[member] < position[write] <= _last_use(member, memory, position):
                found.kept[member] = VIEW_OF_WRITTEN


def _last_use(node: Node, memory: _Memory, position: dict[Node, int]) -> int:
    """Where memory that a view shows is read last through it."""
    last, todo, seen = position[node], [node], set[Node]()
    while todo:
        current = todo.pop()
        if current in seen:
            continue
        seen.add(current)
        for user in current.users:
            last = max(last, position[user])
            if current in memory.aliases[user]:
                todo.append(user)
    return last


def keep_views_of_results(graph: Graph, found: Effects) -> None:
    """Gives every result that is a view of another tensor a chain of view ops of its own, which PyTorch runs.

    A cluster's results share memory with nothing; a caller may write to a view, or look at its strides.
    """
    output = next(node for node in reversed(graph.nodes) if node.op == "output")
    clones = dict[Node, Node]()

    def cloned(node: Node) -> Node:
        bases = aliased_arguments(node)
        if node in found.kept or not bases:
            return node
        if node in found.written:  # a copy before the output might come after a write
            found.kept[node] = OUTPUT_VIEW
            for base in bases:
                cloned(base)
            return node
        if node not in clones:
            mapping = {base: cloned(base) for base in bases}
            with graph.inserting_before(output):
                clones[node] = graph.node_copy(node, lambda n: mapping.get(n, n))
            found.kept[clones[node]] = OUTPUT_VIEW
        return clones[node]

    output.args = pytree.tree_map(
        lambda value: cloned(value) if isinstance(value, Node) else value, output.args
    )
    erased = set[Node]()
    for node in reversed(list(graph.nodes)):
        if not node.users and node not in found.kept and _is_pure_view(node):
            graph.erase_node(node)
            erased.add(node)
    for earlier in found.before.values():
        earlier -= erased


def _is_pure_view(node: Node) -> bool:
    return node.op == "call_function" and bool(aliased_arguments(node))
