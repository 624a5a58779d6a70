"""A captured graph in segments that take turns: PyTorch runs one, the compiler has the next.

Segment 0 is PyTorch's, segment 1 the compiler's, and so on; each takes its values from the graph's inputs and from the
segments before it. There are no more of them than the dependencies between the two kinds of nodes ask for.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node

from torch2mlir.frontends.dynamo.random_draws import draws


@dataclass(frozen=True)
class Segment:
    """Part of a graph.

    Attributes:
        nodes: of the whole graph.
        module: takes ``inputs`` and returns a tuple, the values of ``outputs``.
        inputs: nodes of the whole graph.
        outputs: nodes of the whole graph.
        is_compiled: whether it is for the compiler.
    """

    nodes: list[Node]
    module: GraphModule
    inputs: list[Node]
    outputs: list[Node]
    is_compiled: bool


def split(module: GraphModule, in_pytorch: Callable[[Node], bool]) -> list[Segment]:
    """The segments of a graph, in the order they run.

    Args:
        module: a graph of functional ATen calls.
        in_pytorch: whether PyTorch runs a node.
    """
    return _Split(module, in_pytorch).segments()


def view_results_in_pytorch(module: GraphModule) -> set[Node]:
    """Makes results that are views calls of their own, which PyTorch makes without a copy; returns them.

    They are views of inputs, of other results, and of what another result is a view of too. AOTAutograd gives users
    views of what these become, with the sizes, strides and the place in memory of the result that it gets, and expects
    results to share memory as the graph says.
    """
    output = module.graph.output_node()
    results: Sequence[Any] = output.args[0]  # type: ignore[assignment]
    written = [node.args[1] for node in module.graph.find_nodes(op="call_function", target=_COPY)]
    tensors = {item for item in (*results, *written) if isinstance(item, Node)}
    shares = Counter(_memory(node) for node in tensors)
    copies = dict[Node, Node]()

    def is_view(item: Any) -> bool:
        if not isinstance(item, Node) or _viewed(item) is None:
            return False
        memory = _memory(item)
        return memory.op == "placeholder" or shares[memory] > 1

    def copied(node: Node) -> Node:
        if _viewed(node) is None:
            return node
        if node not in copies:
            copies[node] = node.graph.node_copy(node, copied)
        return copies[node]

    with module.graph.inserting_before(output):
        output.args = (tuple(copied(item) if is_view(item) else item for item in results),)
    module.graph.eliminate_dead_code(is_impure_node=lambda n: n.is_impure() or draws(n))
    return set(copies.values())


def detached_results(module: GraphModule) -> set[Node]:
    """Takes what ``detach`` is called of in its place, but for results: those calls PyTorch makes, without a copy."""
    output, found = module.graph.output_node(), set[Node]()
    for node in module.graph.find_nodes(op="call_function", target=torch.ops.aten.detach.default):
        source = node.all_input_nodes[0]
        node.replace_all_uses_with(source, delete_user_cb=lambda user: user is not output)
        if node.users:
            found.add(node)
        else:
            module.graph.erase_node(node)
    return found


def _memory(node: Node) -> Node:
    """The tensor that the memory of another was made by."""
    source = _viewed(node)
    return node if source is None else _memory(source)


_COPY = torch.ops.aten.copy_.default


def _viewed(node: Node) -> Node | None:
    """The tensor that a call, or an item of what it returns, is a view of."""
    if node.target is operator.getitem:
        return _viewed(node.args[0]) if isinstance(node.args[0], Node) else None
    if not isinstance(node.target, torch._ops.OpOverload):
        return None
    if not node.target.is_view and node.target is not torch.ops.aten._unsafe_view.default:
        return None
    source = node.args[0]
    return source if isinstance(source, Node) else None


class _Split:
    def __init__(self, module: GraphModule, in_pytorch: Callable[[Node], bool]) -> None:
        self._module = module
        self._order = {node: index for index, node in enumerate(module.graph.nodes)}
        self._output = module.graph.output_node()
        self._anywhere = self._nodes_for_anywhere()
        self._level = self._levels(in_pytorch)

    def _nodes_for_anywhere(self) -> set[Node]:
        """Attributes, and sizes computed from the sizes of inputs: copied to wherever they are used."""
        found = set[Node]()
        for node in self._module.graph.nodes:
            if node.op == "get_attr":
                found.add(node)
            elif node.op == "call_function" and _is_number(node):
                inputs = node.all_input_nodes
                if all(n.op == "placeholder" or (n in found and _is_number(n)) for n in inputs):
                    found.add(node)
        return found

    def _levels(self, in_pytorch: Callable[[Node], bool]) -> dict[Node, int]:
        """Even numbers are PyTorch's segments, odd ones the compiler's."""
        level = dict[Node, int]()
        last_draw = 0
        for node in self._module.graph.nodes:
            if node.op != "call_function" or node in self._anywhere:
                continue
            before = max((level[n] for n in node.all_input_nodes if n in level), default=0)
            if node.target is operator.getitem and node.args[0] in level:
                level[node] = level[node.args[0]]
                continue
            kind = 0 if in_pytorch(node) else 1
            level[node] = before if before % 2 == kind else before + 1
            if draws(node):
                level[node] = last_draw = max(level[node], last_draw)
        for node in self._results():
            if node in self._anywhere:
                level[node] = 0
                for source in self._closure(node):
                    level.setdefault(source, 0)
        return level

    def _results(self) -> list[Node]:
        return [item for item in self._output.args[0] if isinstance(item, Node)]  # type: ignore[union-attr]

    def _closure(self, node: Node) -> Iterable[Node]:
        pending = [node]
        while pending:
            node = pending.pop()
            if node in self._anywhere:
                yield node
                pending += node.all_input_nodes

    def segments(self) -> list[Segment]:
        """See :func:`split`."""
        count = max(self._level.values(), default=-1) + 1
        groups: list[list[Node]] = [[] for _ in range(count)]
        for node in self._module.graph.nodes:
            if node in self._level:
                groups[self._level[node]].append(node)
        return [
            self._segment(nodes, bool(index % 2)) for index, nodes in enumerate(groups) if nodes
        ]

    def _segment(self, nodes: Sequence[Node], is_compiled: bool) -> Segment:
        own = set(nodes)
        for node in nodes:
            for source in node.all_input_nodes:
                own.update(self._closure(source))
        members = sorted(own, key=self._order.__getitem__)
        inputs = dict.fromkeys(
            source for node in members for source in node.all_input_nodes if source not in own
        )
        results = set(self._results())
        outputs = [
            node
            for node in nodes
            if node in results or any(self._leaves(node, user) for user in node.users)
        ]
        graph, copies = Graph(), dict[Node, Node]()
        ordered = sorted(inputs, key=self._order.__getitem__)
        for node in ordered:
            copies[node] = graph.placeholder(node.name)
            copies[node].meta = dict(node.meta)
        for node in members:
            copies[node] = graph.node_copy(node, copies.__getitem__)
        graph.output(tuple(copies[node] for node in outputs))
        return Segment(list(nodes), GraphModule(self._module, graph), ordered, outputs, is_compiled)

    def _leaves(self, node: Node, user: Node) -> bool:
        """Whether another segment uses a value of this one; attributes and sizes are its own affair."""
        if node in self._anywhere or user not in self._level:
            return False
        return self._level[user] != self._level[node]


def _is_number(node: Node) -> bool:
    return isinstance(
        node.meta.get("val"), int | float | bool | torch.SymInt | torch.SymFloat | torch.SymBool
    )
