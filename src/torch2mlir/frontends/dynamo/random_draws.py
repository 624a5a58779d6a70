"""Random numbers of a captured graph: drawn by PyTorch's own generator, so that they are eager mode's under one seed.

PyTorch's generator on the CPU is sequential: only PyTorch itself can draw its next numbers. Ops that draw stay calls
of PyTorch, in their order. Most of them look at the shape of their operand only (``bernoulli.p``, ``uniform``); these
get an empty tensor of the same shape and strides instead, so that they can run before everything that is compiled.
Dropout is its mask, drawn so, and a product.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import sympy
import torch
from torch._ops import HigherOrderOperator, OpOverload
from torch.fx import Graph, GraphModule, Node, Proxy
from torch.fx.proxy import GraphAppendingTracer
from torch.utils._sympy.interp import sympy_interp
from torch.utils._sympy.reference import PythonReferenceAnalysis

from torch2mlir.frontends import drawing_ops

aten = torch.ops.aten

_SHAPE_ONLY = frozenset(
    {
        aten.bernoulli.p,
        aten.cauchy.default,
        aten.exponential.default,
        aten.geometric.default,
        aten.log_normal.default,
        aten.normal_functional.default,
        aten.rand_like.default,
        aten.randint_like.default,
        aten.randint_like.low_dtype,
        aten.randn_like.default,
        aten.random.default,
        getattr(aten.random, "from"),
        aten.random.to,
        aten.uniform.default,
    }
)
"""Ops that read the shape, strides and dtype of their operand, and not its elements."""

_LIBRARY = torch.library.Library("torch2mlir", "FRAGMENT")
_LIBRARY.define(
    "drawn_mask(Tensor like, float p) -> Tensor", tags=(torch.Tag.nondeterministic_seeded,)
)


@torch.library.impl(_LIBRARY, "drawn_mask", "CompositeExplicitAutograd")
def _drawn_mask(like: torch.Tensor, p: float) -> torch.Tensor:
    """As dropout draws it: in the order in which elements lie, and ``bernoulli.p`` in that of their indices."""
    return torch.empty_like(like, dtype=torch.bool).bernoulli_(p)


def _dropout_of_everything(
    x: torch.Tensor, p: float, train: bool | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Where nothing is kept ``torch.nn.functional.dropout`` draws nothing, and PyTorch's operator below it would."""
    if p != 1 or train is False:
        return NotImplemented
    return x * 0.0, torch.zeros_like(x, dtype=torch.bool)


DECOMPOSITIONS: dict[OpOverload, Callable[..., Any]] = {
    aten.native_dropout.default: _dropout_of_everything
}
"""What AOTAutograd is to write for ops, so that a graph draws as eager mode does."""

_DRAWN_MASK = torch.ops.torch2mlir.drawn_mask.default

_KEEP_STATE = {"run_and_save_rng_state": 1, "run_with_rng_state": 2}
"""Higher-order operators of activation checkpointing -> where the operands of the op they run begin."""


def draws(node: Node) -> bool:
    """Whether a node takes numbers from PyTorch's generator."""
    if isinstance(node.target, HigherOrderOperator):
        return node.target.name() in _KEEP_STATE
    if not isinstance(node.target, OpOverload):
        return False
    return drawing_ops.draws(node.target, node.args, node.kwargs)


def draw_from_shapes(module: GraphModule) -> None:
    """Makes draws independent of tensors that are computed, where only their shapes matter; in place."""
    shapes = _Shapes(module)
    for node in list(module.graph.nodes):
        if node.op != "call_function" or not draws(node):
            continue
        if node.target is aten.native_dropout.default:
            _split_dropout(node, shapes)
        elif node.target in _SHAPE_ONLY:
            _detach_operand(node, 0, shapes)
        elif isinstance(node.target, HigherOrderOperator):
            _split_kept_draw(node, shapes)
    module.graph.eliminate_dead_code(is_impure_node=lambda n: n.is_impure() or draws(n))


class _Shapes:
    """Makes empty tensors of the shapes of others, from what the graph is given only."""

    def __init__(self, module: GraphModule) -> None:
        self._graph: Graph = module.graph
        self._tracer = GraphAppendingTracer(self._graph)
        self._sources: dict[sympy.Symbol, Callable[[], Node]] = {}
        self._symbols: dict[sympy.Symbol, Node] = {}
        for node in self._graph.find_nodes(op="placeholder"):
            self._find_symbols(node)

    def _find_symbols(self, node: Node) -> None:
        value = node.meta.get("val")
        if isinstance(value, torch.SymInt) and isinstance(value.node.expr, sympy.Symbol):
            self._symbols[value.node.expr] = node
        if isinstance(value, torch.Tensor):
            for axis, size in enumerate(value.shape):
                if isinstance(size, torch.SymInt) and isinstance(size.node.expr, sympy.Symbol):
                    self._sources.setdefault(size.node.expr, self._size_of(node, axis, size))

    def _size_of(self, node: Node, axis: int, size: torch.SymInt) -> Callable[[], Node]:
        def make() -> Node:
            made = self._graph.call_function(aten.sym_size.int, (node, axis))
            made.meta["val"] = size
            return made

        return make

    def empty_like(self, value: torch.Tensor) -> Node | None:
        """A node at the insertion point, empty and of the shape and strides of a fake tensor.

        None if these cannot be computed from what the graph is given.
        """
        sizes = [self._number(size) for size in value.shape]
        strides = [self._number(stride) for stride in value.stride()]
        if None in sizes or None in strides:
            return None
        options: dict[str, Any] = {"dtype": value.dtype, "device": value.device}
        node = self._graph.call_function(aten.empty_strided.default, (sizes, strides), options)
        node.meta["val"] = value
        return node

    def _number(self, value: int | torch.SymInt) -> int | Node | None:
        if isinstance(value, int):
            return value
        expression = value.node.expr
        proxies = dict[sympy.Symbol, Proxy]()
        for symbol in expression.free_symbols:
            if symbol not in self._symbols:
                if symbol not in self._sources:
                    return None
                self._symbols[symbol] = self._sources[symbol]()
            proxies[symbol] = Proxy(self._symbols[symbol], self._tracer)
        result = sympy_interp(PythonReferenceAnalysis, proxies, expression)
        if isinstance(result, Proxy):
            result.node.meta.setdefault("val", value)
            return result.node
        return int(result)


def _detach_operand(node: Node, index: int, shapes: _Shapes) -> None:
    operand = node.args[index]
    if not isinstance(operand, Node) or operand.op == "placeholder":
        return
    with node.graph.inserting_before(node):
        empty = shapes.empty_like(operand.meta["val"])
    if empty is not None:
        node.update_arg(index, empty)


def _split_dropout(node: Node, shapes: _Shapes) -> None:
    """``x * mask * scale``, as PyTorch's kernel computes it; the mask is drawn."""
    x, p = _operand_and_probability(node.args)
    drawn = _mask_arguments(node, x, p, shapes)
    if drawn is not None:
        with node.graph.inserting_before(node):
            mask = _call(node, _DRAWN_MASK, drawn, _mask_of(x))
        _replace_dropout(node, x, mask, p)


def _split_kept_draw(node: Node, shapes: _Shapes) -> None:
    """The same for a draw whose generator state is kept for, or taken from, another computation of it."""
    first = _KEEP_STATE[node.target.name()]  # type: ignore[union-attr]
    target, operands = node.args[first - 1], node.args[first:]
    if target in _SHAPE_ONLY:
        _detach_operand(node, first, shapes)
    if target is not aten.native_dropout.default:
        return
    x, p = _operand_and_probability(operands)
    drawn = _mask_arguments(node, x, p, shapes)
    if drawn is None:
        return
    arguments = (*node.args[: first - 1], _DRAWN_MASK, *drawn)
    graph = node.graph
    with graph.inserting_before(node):
        if first == 2:
            _replace_dropout(node, x, _call(node, node.target, arguments, _mask_of(x)), p)
            return
        both = _call(node, node.target, arguments, None)
        mask = _call(node, operator.getitem, (both, 1), _mask_of(x))
        for item in list(node.users):
            if item.args[1] == 1:
                _replace_dropout(item, x, mask, p)
            else:
                state = _call(item, operator.getitem, (both, 0), item.meta["val"])
                item.replace_all_uses_with(state)
                graph.erase_node(item)
        graph.erase_node(node)


def _operand_and_probability(arguments: Sequence[Any]) -> tuple[Node, float]:
    x, p, *_ = arguments
    return x, p


def _mask_arguments(node: Node, x: Node, p: float, shapes: _Shapes) -> tuple[Any, ...] | None:
    """What the mask of dropout is drawn from; None where that is not known."""
    sizes = x.meta["val"].shape
    if not isinstance(p, float | int) or any(isinstance(size, int) and not size for size in sizes):
        return None
    with node.graph.inserting_before(node):
        empty = shapes.empty_like(_mask_of(x))
    return None if empty is None else (empty, 1.0 - p)


def _mask_of(x: Node) -> torch.Tensor:
    return torch.empty_like(x.meta["val"], dtype=torch.bool)


def _replace_dropout(node: Node, x: Node, mask: Node, p: float) -> None:
    """Makes the parts of a dropout's result those computed from its mask."""
    graph, value = node.graph, torch.empty_like(x.meta["val"])  # laid out without gaps
    with graph.inserting_before(node):
        kept = _call(node, aten.mul.Tensor, (x, mask), value)
        scaled = _call(node, aten.mul.Tensor, (kept, 1 / (1 - p) if p < 1 else 0.0), value)
    for item in list(node.users):
        item.replace_all_uses_with(mask if item.args[1] == 1 else scaled)
        graph.erase_node(item)
    graph.erase_node(node)


def _call(like: Node, target: Any, arguments: tuple[Any, ...], value: Any) -> Node:
    """A call at the insertion point, with the source line of another one."""
    node = like.graph.call_function(target, arguments)
    node.meta = {**like.meta, "val": value}
    return node
