"""Sizes that elements decide which depend on no input: ``x[~torch.eye(3, dtype=torch.bool)]``.

PyTorch's capture makes a symbol of every such size. What a mask or a list of counts is made of is in the graph where it
is made of numbers, so it is computed here, the symbol becomes a number, and the program compiles for engines and
dialects in which no size may depend on elements. What is made of tensors that a model holds may change: it is computed
where there is no other way, and the program asks at every call whether it is as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from math import prod
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.fx import Graph, GraphModule, Node
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
from torch.fx.node import map_arg
from torch.utils import _pytree as pytree

from torch2mlir.frontends.fx.data_sizes import is_size
from torch2mlir.frontends.fx.functionalization import (
    WEIGHT_KINDS,
    state_tensor,
    with_module,
    written_placeholders,
)
from torch2mlir.frontends.fx.lifted_constants import Placeholders, with_constants
from torch2mlir.frontends.fx.quiet import quiet
from torch2mlir.frontends.fx.refused_writes import writes_elements_of
from torch2mlir.frontends.fx.shared_memory import memory_of

aten = torch.ops.aten
MOST_ELEMENTS = 1 << 20
"""Of tensors that are computed here."""
_CHANGED = "a tensor that the model holds decides sizes of the compiled program, and has changed: compile it again"
_MASKS = (torch.bool, torch.uint8)


def with_known_sizes(exported: ExportedProgram, keeps_state: bool = False) -> ExportedProgram:
    """The program with numbers for the sizes that can be computed, where elements decide any; its metadata is stale.

    Args:
        exported: the program.
        keeps_state: whether sizes that the model's own tensors decide are computed too.

    Returns:
        The same program if none can be.
    """
    if not any(map(_makes_size, exported.graph.nodes)):
        return exported
    graph, copies = Graph(), dict[Node, Node]()
    graph.output(graph.graph_copy(exported.graph, copies))
    for node, copy in copies.items():
        copy.name = node.name
    folding = _Folding(exported, graph)
    if keeps_state:
        folding.take_state()
    with quiet(), torch.no_grad():
        is_changed = folding.run()
    if not is_changed:
        return exported
    module = GraphModule(exported.graph_module, graph)
    if not folding.tensors:
        return with_module(exported, module, exported.graph_signature)
    return with_constants(exported, module, folding.tensors)


def _makes_size(node: Node) -> bool:
    """Whether a node may give a size, or a tensor of a size, that elements decide.

    Of what is computed twice PyTorch says only the first time that it makes a symbol.
    """
    if node.op != "call_function":
        return False
    if node.target is aten.index.Tensor:
        return any(map(_is_mask, node.all_input_nodes))
    if node.target is aten.repeat_interleave.self_Tensor or node.meta.get("unbacked_bindings"):
        return True
    return (
        isinstance(node.target, OpOverload) and torch.Tag.dynamic_output_shape in node.target.tags
    )


def _is_mask(node: Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, Tensor) and value.dtype in _MASKS


class _Folding:
    """Computes what depends on no input, in order, and puts it where it decides a size.

    Args:
        exported: the program.
        graph: a copy of its graph, which is changed.

    Attributes:
        tensors: what the graph's last placeholders are.
    """

    def __init__(self, exported: ExportedProgram, graph: Graph) -> None:
        self.tensors = list[Tensor]()
        self._exported = exported
        self._graph = graph
        self._placeholders = Placeholders(exported)
        self._held = held_tensors(exported)
        self._known = dict[Node, Any]()
        self._from_state = set[Node]()
        self._replaced = set[Node]()
        self._is_changed = False

    def take_state(self) -> None:
        """Has the tensors of the model that the program does not write known too."""
        written = {node.name for node in written_placeholders(self._exported)}
        for node in self._graph.find_nodes(op="placeholder"):
            tensor = self._held.get(node.name)
            if tensor is not None and node.name not in written:
                self._known[node] = tensor
                self._from_state.add(node)

    def run(self) -> bool:
        """Whether anything was changed."""
        for node in list(self._graph.nodes):
            if node.op != "call_function" or node in self._replaced:
                continue
            decides = _makes_size(node)
            if self._is_known(node):
                self._compute(node)
            if node not in self._known:
                self._forget_written(node)
            if not decides and node.target not in _UPDATES:
                continue
            if node not in self._known or node in self._from_state:  # whose values may change
                decides = not self._say_by_positions(node)
            if decides and node in self._known:
                self._put(node, self._known[node])
        return self._is_changed

    def _is_known(self, node: Node) -> bool:
        """Whether a call takes numbers and known tensors of few elements only, and gives the same each time."""
        if node.target is aten.lift_fresh_copy.default:
            return node.all_input_nodes[0].name in self._held
        if not _gives_the_same(node.target) or not _is_small(node):
            return False
        if _written(node) and not self._from_state.isdisjoint(node.all_input_nodes):
            return False
        return all(given in self._known for given in node.all_input_nodes)

    def _compute(self, node: Node) -> None:
        if node.target is aten.lift_fresh_copy.default:
            self._known[node] = self._held[node.all_input_nodes[0].name].clone()
            return
        args, kwargs = map_arg((node.args, node.kwargs), self._known.__getitem__)
        with suppress(RuntimeError, IndexError, ValueError):  # the program's, of each call
            self._known[node] = node.target(*args, **kwargs)  # type: ignore[operator]
            if not self._from_state.isdisjoint(node.all_input_nodes):
                self._from_state.add(node)

    def _forget_written(self, node: Node) -> None:
        """What shares memory with what a call writes is not known any more."""
        memory = {memory_of(written) for written in _written(node)}
        if memory:
            known = self._known.items()
            self._known = {each: value for each, value in known if memory_of(each) not in memory}

    def _hold(self, node: Node, deciding: Iterable[Node]) -> None:
        """Has the program ask, before a call, whether tensors that depend on the model's own are what they are here."""
        for given in deciding:
            value = self._known[given]
            if given in self._from_state and isinstance(value, Tensor):
                is_same = self.before(node, aten.eq.Tensor, given, self.constant(value.clone()))
                holds = self.before(node, aten.all.default, is_same)
                self.before(node, aten._assert_async.msg, holds, _CHANGED)

    def _put(self, node: Node, value: Any) -> None:
        """A number or a tensor in place of a node that decides a size."""
        if isinstance(value, tuple | list):  # each of which is taken out
            self._hold(node, node.all_input_nodes)
            for user in list(node.users):
                self._put(user, value[user.args[1]])  # type: ignore[index]
        elif isinstance(value, Tensor):
            self._hold(node, node.all_input_nodes)
            made = self.before(node, aten.lift_fresh_copy.default, self.constant(value.clone()))
            node.replace_all_uses_with(made)
            name = node.name
            self._graph.erase_node(node)
            made.name = name  # which the signature may have for a result
            self._replaced.add(node)
            self._known[made] = value
            self._is_changed = True
        elif is_size(node) and not any(user.op == "output" for user in node.users):
            self._hold(node, node.all_input_nodes)
            for user in list(node.users):
                user.args = map_arg(user.args, lambda x: value if x is node else x)
                user.kwargs = map_arg(user.kwargs, lambda x: value if x is node else x)
            self._is_changed = True

    def _say_by_positions(self, node: Node) -> bool:
        """Has a call take positions in place of known masks or counts; whether it does."""
        rewrite, deciding = _BY_POSITIONS.get(node.target), list[Node]()
        with suppress(RuntimeError):  # the program's, of each call
            deciding = [] if rewrite is None else rewrite(self, node)
        if not deciding:
            return False
        self._hold(node, deciding)
        node.meta.pop("unbacked_bindings", None)
        self._is_changed = True
        return True

    def tensor(self, given: Any) -> Tensor | None:
        """The elements of an argument, if they are known."""
        value = self._known.get(given) if isinstance(given, Node) else None
        return value if isinstance(value, Tensor) else None

    def constant(self, value: Tensor) -> Node:
        """A tensor as a node."""
        self.tensors.append(value)
        return self._placeholders.add(self._graph, value)

    def before(self, node: Node, target: Any, *args: Any) -> Node:
        """A further call before a node."""
        with self._graph.inserting_before(node):
            call = self._graph.call_function(target, args)
        call.meta = {k: v for k, v in node.meta.items() if k != "unbacked_bindings"}
        return call


def held_tensors(exported: ExportedProgram) -> dict[str, Tensor]:
    """The tensors of few elements that a program holds, by the names of their placeholders."""
    held = dict[str, Tensor]()
    for spec in exported.graph_signature.input_specs:
        tensor = state_tensor(exported, spec) if spec.kind in WEIGHT_KINDS else None
        if tensor is None or type(tensor) not in (Tensor, torch.nn.Parameter):
            continue
        is_known = tensor.device.type == "cpu" and not tensor.is_quantized
        if is_known and tensor.numel() <= MOST_ELEMENTS and not tensor.isnan().any():
            held[str(spec.arg.name)] = tensor.detach()
    return held


def _gives_the_same(target: Any) -> bool:
    """Whether a function of PyTorch's or an operator of Python's gives the same for the same, wherever it is called."""
    if not isinstance(target, OpOverload):
        return getattr(target, "__module__", None) == "_operator"
    is_random = torch.Tag.nondeterministic_seeded in target.tags
    return target.namespace == "aten" and not is_random and "empty" not in target.name()


def _written(node: Node) -> list[Node]:
    """The operands whose elements a call writes."""
    if not isinstance(node.target, OpOverload) or not node.target._schema.is_mutable:
        return []
    written = pytree.tree_leaves([*writes_elements_of(node.target, node.args, node.kwargs)])
    return [operand for operand in written if isinstance(operand, Node)]


def _is_small(node: Node) -> bool:
    """Whether what a call gives has few elements, where that is known before it."""
    tensors = [x for x in pytree.tree_leaves(node.meta.get("val")) if isinstance(x, Tensor)]
    sizes = [size for x in tensors for size in [prod(s for s in x.shape if isinstance(s, int))]]
    return all(size <= MOST_ELEMENTS for size in sizes)


def _index(folding: _Folding, node: Node) -> list[Node]:
    """``x[mask]``, and an update ``x[mask] = v`` of values whose number was decided by a mask."""
    indices, masks = list[Any](), list[Node]()
    values = [a.meta.get("val") for a in node.args[2:3] if isinstance(a, Node)]
    if node.target in _UPDATES and not any(map(_has_unknown_size, values)):
        return []
    for given in node.args[1]:  # type: ignore[union-attr]
        mask = folding.tensor(given)
        if mask is not None and _selects(mask) and isinstance(given, Node):
            indices += map(folding.constant, mask.nonzero(as_tuple=True))
            masks.append(given)
        else:
            indices.append(given)
    if masks:
        node.args = (node.args[0], indices, *node.args[2:])
    return masks


def _selects(mask: Tensor) -> bool:
    return mask.dtype in _MASKS and mask.dim() > 0


def _has_unknown_size(value: Any) -> bool:
    return isinstance(value, Tensor) and bool(free_unbacked_symbols(tuple(value.shape)))


def _masked_select(folding: _Folding, node: Node) -> list[Node]:
    given, decides = node.all_input_nodes[0], node.all_input_nodes[-1]
    mask = folding.tensor(decides)
    sizes = given.meta["val"].shape
    if mask is None or not all(isinstance(size, int) for size in sizes):
        return []
    whole = torch.broadcast_shapes(sizes, mask.shape)
    if not whole or prod(whole) > MOST_ELEMENTS:
        return []
    positions = mask.bool().expand(whole).nonzero(as_tuple=True)
    if whole != sizes:
        given = folding.before(node, aten.expand.default, given, list(whole))
    node.target, node.args = aten.index.Tensor, (given, [*map(folding.constant, positions)])
    return [decides]


def _repeat_interleave(folding: _Folding, node: Node) -> list[Node]:
    given, decides = node.all_input_nodes[0], node.all_input_nodes[-1]
    counts = folding.tensor(decides)
    dim = node.args[2] if len(node.args) > 2 else node.kwargs.get("dim")
    sizes = given.meta["val"].shape
    size = sizes[dim] if isinstance(dim, int) and sizes else prod(sizes)
    if counts is None or not isinstance(size, int) or counts.dim() > 1:
        return []
    counts = counts.expand(size)
    if int(counts.sum()) > MOST_ELEMENTS:
        return []
    if dim is None:
        given = folding.before(node, aten.flatten.using_ints, given)
    positions = folding.constant(torch.repeat_interleave(counts))
    node.target, node.args, node.kwargs = (
        aten.index_select.default,
        (given, dim or 0, positions),
        {},
    )
    return [decides]


_UPDATES = frozenset(
    {aten.index_put.default, aten.index_put_.default, aten._unsafe_index_put.default}
)
_BY_POSITIONS: Mapping[Any, Callable[[_Folding, Node], list[Node]]] = {
    aten.index.Tensor: _index,
    aten.masked_select.default: _masked_select,
    aten.repeat_interleave.self_Tensor: _repeat_interleave,
    **dict.fromkeys(_UPDATES, _index),
}
"""Ops that take what they do not know the size of by positions as well -> what has them do so, and by what."""
