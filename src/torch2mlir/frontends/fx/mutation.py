"""In-place operators in a captured graph: when renaming is enough and when the graph must be functionalized.

A write ``t.add_(1)`` becomes ``add`` and every later use of ``t`` uses the result. That is the whole truth only if no
other view of the same memory is read afterwards; :func:`needs_functionalization` finds the graphs where one is.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import torch
from torch.fx import Graph, Node

from torch2mlir.contract.op_name import OpName
from torch2mlir.dialects.torch.functional_variants import (
    SHAPE_CHANGES,
    Variant,
    functional_variant,
)
from torch2mlir.dialects.torch.schema import UNDECLARED_VIEWS, find_schema
from torch2mlir.errors import CaptureError
from torch2mlir.frontends.fx.calls_by_layout import SHARING_OR_COPYING_OPS
from torch2mlir.frontends.fx.shared_memory import aliased_arguments, written_arguments

_WRITES_UNDECLARED = {"aten::batch_norm", "aten::instance_norm", "aten::rrelu"}
"""Ops that update running statistics (or draw noise) in training without declaring it: argument 5 is the flag.

The statistics are arguments 3 and 4; without any, nothing is written.
"""


_TRANSFORMS = "torch._functorch.predispatch"

_READS_MEMORY = {torch.ops.aten.as_strided.default, torch.ops.aten.as_strided_copy.default}
"""Ops that may read elements of the memory that are not in their operand."""


@cache
def _written_index(target: torch._ops.OpOverload) -> int | None:
    written = [
        index
        for index, argument in enumerate(target._schema.arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    ]
    return written[0] if written else None


@cache
def is_pure(target: object) -> bool:
    """Whether calls of what a node's target is write to nothing, and are no function transforms (``torch.vmap``)."""
    if not isinstance(target, torch._ops.OpOverload):
        return getattr(target, "__module__", None) != _TRANSFORMS
    return target._schema.name not in _WRITES_UNDECLARED and _written_index(target) is None


def is_functional(graph: Graph) -> bool:
    """Whether nothing in a graph writes, as in most of them: what shares memory with what does not matter then."""
    return all(is_pure(node.target) for node in graph.nodes)


def written_argument(target: torch._ops.OpOverload, node: Node) -> Node | None:
    """The node an in-place op writes to, or None for a functional op."""
    index = _written_index(target)
    if index is None:
        return None
    name = target._schema.arguments[index].name
    argument = node.args[index] if index < len(node.args) else node.kwargs.get(name)
    if not isinstance(argument, Node):
        raise CaptureError(f"'{target}' writes to several tensors at once")
    return argument


def functional_form(op_name: str) -> Variant:
    """``torch.aten.add.Tensor`` for ``torch.aten.add_.Tensor``, and the view for ``torch.aten.squeeze_``.

    Raises:
        CaptureError: the in-place op has no functional form.
    """
    variant = functional_variant(op_name) if OpName(op_name).base.endswith("_") else None
    if variant is None and (view := find_schema(SHAPE_CHANGES.get(op_name, ""))) is not None:
        return Variant(view.name, tuple(range(len(view.arguments))), ((0, 0),), ((0, 0),))
    if variant is None:
        raise CaptureError(f"the in-place operator '{op_name}' has no functional form")
    return variant


def has_transforms(graph: Graph) -> bool:
    """Whether function transforms (``torch.vmap``) are still calls in the graph."""
    return any(getattr(node.target, "__module__", None) == _TRANSFORMS for node in graph.nodes)


def needs_functionalization(graph: Graph) -> bool:
    """Whether some write is seen through another view, or cannot be seen in the graph at all."""
    if is_functional(graph):
        return False
    for node in graph.nodes:
        if isinstance(node.target, torch._ops.OpOverload) and (
            _writes_undeclared(node)
            or (_written_index(node.target) is not None and not _is_simple_write(node.target))
        ):
            return True
    memory = _Memory(graph)
    if any(node.target in _READS_MEMORY and memory.is_written(node) for node in graph.nodes):
        return True
    position = {node: index for index, node in enumerate(graph.nodes)}
    for node, written in memory.writes:
        own = memory.same.members(written)
        others = [n for n in memory.alias.members(written) if n not in own]
        if any(n.op in ("placeholder", "get_attr") for n in others):
            return True
        if any(position[user] > position[node] for n in others for user in n.users):
            return True
    return False


def written_if_shared(graph: Graph) -> list[Node]:
    """The calls in a graph that share memory with their operand or copy it, by its strides, where that is written."""
    memory = _Memory(graph)
    return [n for n in graph.nodes if n.target in SHARING_OR_COPYING_OPS and memory.is_written(n)]


def written_nodes(graph: Graph) -> list[Node]:
    """The nodes in a graph that something writes to."""
    return [written for _, written in _Memory(graph).writes]


class _Memory:
    """Which nodes of a graph may be views of the same memory, and what writes to it.

    Attributes:
        alias: the nodes that may share memory.
        same: the nodes that are one tensor, before and after writes.
        writes: what writes, and to which node.
    """

    def __init__(self, graph: Graph) -> None:
        nodes = list(graph.nodes)
        self.alias, self.same = _Groups(nodes), _Groups(nodes)
        self.writes = list[tuple[Node, Node]]()
        for node in nodes:
            for base in aliased_arguments(node):
                self.alias.join(node, base)
            if not isinstance(node.target, torch._ops.OpOverload):
                continue
            for written in written_arguments(node):
                self.writes.append((node, written))
                if _is_simple_write(node.target):
                    self.same.join(node, written)

    def is_written(self, node: Node) -> bool:
        """Whether something writes to what may be the memory of a node."""
        return any(written in self.alias.members(node) for _, written in self.writes)


def _is_simple_write(target: torch._ops.OpOverload) -> bool:
    schema = target._schema
    if len(schema.returns) != 1:
        return False
    try:
        functional_form(OpName.of_schema(schema))
    except CaptureError:
        return False
    return True


def _writes_undeclared(node: Node) -> bool:
    name = node.target._schema.name  # type: ignore[union-attr]
    if name not in _WRITES_UNDECLARED or len(node.args) <= 5 or node.args[5] is not True:
        return False
    return any(statistics is not None for statistics in node.args[3:5])


def undeclared_views(graph: Graph) -> set[torch._ops.OpOverload]:
    """The ops in a graph that give views there although their schemas do not say so."""
    return {
        node.target
        for node in graph.nodes
        if isinstance(node.target, torch._ops.OpOverload)
        and node.target._schema.name in UNDECLARED_VIEWS
        and aliased_arguments(node)
    }


class _Groups:
    """Disjoint sets of nodes."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._group: dict[Node, list[Node]] = {node: [node] for node in nodes}

    def join(self, a: Node, b: Node) -> None:
        """Puts two nodes into one set."""
        first, second = self._group[a], self._group[b]
        if first is not second:
            first.extend(second)
            for node in second:
                self._group[node] = first

    def members(self, node: Node) -> list[Node]:
        """All nodes in the set of ``node``."""
        return self._group[node]
