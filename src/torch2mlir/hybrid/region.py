"""A cluster's nodes as a graph of their own, with what it takes and gives."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy
import torch
from torch.fx import Graph, GraphModule, Node
from torch.utils import _pytree as pytree

from torch2mlir.frontends.fx import symbols
from torch2mlir.hybrid.clustering import is_size

_SIZE = torch.ops.aten.sym_size.int
_SIZE_OPS = (
    _SIZE,
    torch.ops.aten.sym_stride.int,
    torch.ops.aten.sym_numel.default,
    torch.ops.aten.sym_storage_offset.default,
)


@dataclass(frozen=True)
class Region:
    """Some nodes of a graph, as a graph.

    Attributes:
        nodes: the nodes, in order.
        inputs: nodes whose values it takes, in order.
        outputs: those of the nodes whose values others use, in order.
        graph_module: takes the inputs and returns the outputs as a tuple.
    """

    nodes: Sequence[Node]
    inputs: Sequence[Node]
    outputs: Sequence[Node]
    graph_module: GraphModule


class Regions:
    """Cuts regions out of one graph.

    Args:
        graph_module: the graph.
        written: tensors that are written to: they are inputs of a region, never its weights.
    """

    def __init__(self, graph_module: GraphModule, written: AbstractSet[Node]) -> None:
        self.root = graph_module
        self.written = written
        self._made = dict[Node, bool]()

    @cached_property
    def carriers(self) -> Mapping[sympy.Symbol, tuple[Node, int]]:
        """For each symbol an input of the graph, and its dimension, whose size it is."""
        found = dict[sympy.Symbol, tuple[Node, int]]()
        for node in self.root.graph.nodes:
            if node.op == "placeholder":
                for symbol, axis in bare_symbols(node.meta.get("val")):
                    found.setdefault(symbol, (node, axis))
        return found

    def sizes_can_be_made(self, node: Node) -> bool:
        """Whether the numbers a node takes can be computed inside of a region, from sizes of tensors."""
        return all(
            self._can_be_made(argument) for argument in node.all_input_nodes if is_size(argument)
        ) and all(
            self._can_be_made(argument)
            for argument in node.all_input_nodes
            if argument.op == "placeholder" and is_number(argument)
        )

    def _can_be_made(self, node: Node) -> bool:
        if node not in self._made:  # there may be many ways to one
            self._made[node] = self._is_made(node)
        return self._made[node]

    def _is_made(self, node: Node) -> bool:
        if node.op == "placeholder":
            return symbol_of(node) in self.carriers
        if node.target in _SIZE_OPS:
            return True
        if isinstance(node.target, torch._ops.OpOverload) or not is_size(node):
            return False
        return all(self._can_be_made(argument) for argument in node.all_input_nodes)

    def cut(self, nodes: Sequence[Node]) -> Region:
        """The region of these nodes; what others use of them are its outputs."""
        members = set(nodes)
        outputs = [n for n in nodes if any(user not in members for user in _real_users(n, members))]
        return _Cut(self, nodes, outputs).region()

    def cut_open(self, nodes: Sequence[Node]) -> Region:
        """The region of these nodes, with every tensor that they compute among its outputs."""
        tensors = [n for n in nodes if isinstance(n.meta.get("val"), torch.Tensor)]
        return _Cut(self, nodes, tensors).region()


def is_number(node: Node) -> bool:
    """Whether a node's value is a Python number."""
    return isinstance(
        node.meta.get("val"), int | float | torch.SymInt | torch.SymFloat | torch.SymBool
    )


def symbol_of(node: Node) -> sympy.Symbol | None:
    """The symbol a node's value is, if it is just that."""
    value = node.meta.get("val")
    expression = value.node.expr if isinstance(value, torch.SymInt) else None
    return expression if isinstance(expression, sympy.Symbol) else None


def bare_symbols(value: Any) -> Iterable[tuple[sympy.Symbol, int]]:
    """The symbols that are sizes of a tensor by themselves, with their dimensions."""
    if isinstance(value, torch.Tensor):
        for axis, size in enumerate(value.shape):
            if isinstance(size, torch.SymInt) and isinstance(size.node.expr, sympy.Symbol):
                yield size.node.expr, axis


def symbols_of(value: Any) -> set[sympy.Symbol]:
    """The symbols in the sizes of the tensors of a value."""
    return {symbol for size in _symbolic_sizes(value) for symbol in size.node.expr.free_symbols}


def _symbolic_sizes(value: Any) -> Iterator[torch.SymInt]:
    for leaf in pytree.tree_leaves(value):
        sizes: Sequence[Any] = leaf.shape if isinstance(leaf, torch.Tensor) else ()
        yield from (size for size in sizes if isinstance(size, torch.SymInt))


def _sizes_in(graph: Graph) -> Iterator[torch.SymInt]:
    return (size for node in graph.nodes for size in _symbolic_sizes(node.meta.get("val")))


def ranges_of(graph: Graph) -> dict[str, tuple[int, int]]:
    """The smallest and largest value of every symbol of a graph, as PyTorch knows them."""
    found = dict[str, tuple[int, int]]()
    for size in _sizes_in(graph):
        known = size.node.shape_env.var_to_range if size.node.shape_env is not None else {}
        for symbol in size.node.expr.free_symbols:
            if symbol in known and symbol.name not in found:
                found[symbol.name] = symbols.bounds(known[symbol])
    return found


def hints_of(graph: Graph) -> dict[str, int]:
    """The values that symbols had at capture, as far as PyTorch knows them."""
    return {
        size.node.expr.name: int(size.node.hint)
        for size in _sizes_in(graph)
        if isinstance(size.node.expr, sympy.Symbol) and size.node.hint is not None
    }


def _real_users(node: Node, members: AbstractSet[Node]) -> Iterable[Node]:
    """Who uses a value outside of the region; its parts are looked at one by one."""
    return (u for u in node.users if not (u.target is operator.getitem and u in members))


class _Cut:
    """One region being built."""

    def __init__(self, regions: Regions, nodes: Sequence[Node], outputs: Sequence[Node]) -> None:
        self.regions = regions
        self.nodes = nodes
        self.outputs = outputs
        self.graph = Graph()
        self.inputs = list[Node]()
        self.attributes = dict[str, Any]()
        self.copies = dict[Node, Node]()
        self._last_input: Node | None = None

    def region(self) -> Region:
        for node in self.nodes:
            self._copy(node)
        self._carry_symbols()
        self.graph.output(tuple(self.copies[node] for node in self.outputs))
        module = GraphModule(self.attributes, self.graph)
        return Region(self.nodes, self.inputs, self.outputs, module)

    def _copy(self, node: Node) -> Node:
        self.copies[node] = copy = self.graph.node_copy(node, self._operand)
        return copy

    def _operand(self, node: Node) -> Node:
        """What stands in the region for a value its nodes take."""
        known = self.copies.get(node)
        if known is not None:
            return known
        if node.op == "get_attr" and node not in self.regions.written:
            return self._attribute(node)
        if node.op == "placeholder" and is_number(node):
            return self._carried(node)
        return self._copy(node) if is_size(node) else self._input(node)

    def _input(self, node: Node) -> Node:
        with self._at_the_inputs():
            copy = self.graph.placeholder(node.name)
        copy.meta = dict(node.meta)
        self.inputs.append(node)
        self.copies[node] = self._last_input = copy
        return copy

    def _at_the_inputs(self) -> Any:
        if self._last_input is not None:
            return self.graph.inserting_after(self._last_input)
        first = next(iter(self.graph.nodes), None)
        return (
            self.graph.inserting_before(first)
            if first is not None
            else self.graph.inserting_before()
        )

    def _attribute(self, node: Node) -> Node:
        target = str(node.target)
        value: Any = self.regions.root
        for part in target.split("."):
            value = getattr(value, part)
        self.attributes[target] = value
        copy = self.graph.get_attr(target)
        copy.meta = dict(node.meta)
        self.copies[node] = copy
        return copy

    def _carried(self, node: Node) -> Node:
        """A symbol that is an argument of the graph, as the size of a tensor."""
        symbol = symbol_of(node)
        carrier = None if symbol is None else self.regions.carriers.get(symbol)
        if carrier is None:
            return self._input(node)
        tensor, axis = carrier
        copy = self.graph.call_function(_SIZE, (self._operand(tensor), axis))
        copy.meta = dict(node.meta)
        self.copies[node] = copy
        return copy

    def _carry_symbols(self) -> None:
        """Takes a further input for every symbol in a shape that no input shows."""
        values = [node.meta.get("val") for node in (*self.inputs, *self.nodes)]
        needed = symbols_of(values)
        shown = {s for node in self.inputs for s, _ in bare_symbols(node.meta.get("val"))}
        for symbol in sorted(needed - shown, key=str):
            carrier = self.regions.carriers.get(symbol)
            if carrier is not None and carrier[0] not in self.copies:
                self._input(carrier[0])
