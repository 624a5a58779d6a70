"""Whether an op of a graph may go into a cluster: first by what is known of it, then by lowering it alone."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
from torch.utils import _pytree as pytree

from torch2mlir.contract.op_name import OpName
from torch2mlir.conversion.registry import lowering_functions
from torch2mlir.errors import Torch2MLIRError
from torch2mlir.frontends.fx.control_flow import HIGHER_ORDER
from torch2mlir.frontends.fx.shared_memory import is_tensor_node
from torch2mlir.hybrid.config import Config
from torch2mlir.hybrid.ways import Way
from torch2mlir.transforms.decompositions import find_decomposition

_COMPOSITE = torch._C.DispatchKey.CompositeImplicitAutograd
_PYTORCHS = ("aten", "prims", "quantized_decomposed", "higher_order")

_LONGEST = 200

Check = Callable[[GraphModule], None]
"""Raises a Torch2MLIRError if a graph cannot be compiled."""


def reason_against(node: Node, config: Config, way: Way) -> str | None:
    """Why an op stays in PyTorch, by its name and schema alone; None if it may be tried."""
    target = node.target
    if isinstance(target, torch._ops.HigherOrderOperator):
        known = target.name() in HIGHER_ORDER
        return None if known else f"the higher-order operator '{target.name()}' has no lowering"
    if not isinstance(target, torch._ops.OpOverload):
        return "not an operator of PyTorch's registry"
    name, overload = target._schema.name, target._schema.overload_name
    if config.refuses(name, overload):
        return "on the black list"
    if way.engine.needs_static_shapes and _has_sizes_from_data(node):
        return f"a size that depends on elements, for each of which {way.name} would compile anew"
    if torch.Tag.data_dependent_output in target.tags and not is_tensor_node(node):
        return "its result is a Python number computed from a tensor"
    if place := _elsewhere(node):
        return place
    if config.wants(name, overload) or target.namespace in _PYTORCHS:
        return None
    if OpName.of_schema(target._schema) in lowering_functions(way.dialect):
        return None
    if find_decomposition(target) or target.has_kernel_for_dispatch_key(_COMPOSITE):
        return None
    return f"no lowering to {way.dialect} and no decomposition is known"


def _has_sizes_from_data(node: Node) -> bool:
    """Whether a tensor that a node takes or gives has a size that only its elements decide."""
    values = [item.meta.get("val") for item in (node, *node.all_input_nodes)]
    tensors = [leaf for leaf in pytree.tree_leaves(values) if isinstance(leaf, torch.Tensor)]
    return any(free_unbacked_symbols(tensor) for tensor in tensors)


def _elsewhere(node: Node) -> str | None:
    """Engines read dense tensors in CPU memory."""
    for item in (node, *node.all_input_nodes):
        for leaf in pytree.tree_leaves(item.meta.get("val")):
            if isinstance(leaf, torch.Tensor):
                if leaf.device.type != "cpu":
                    return f"its tensors are on {leaf.device}"
                if leaf.layout is not torch.strided:
                    return f"its tensors are of layout {leaf.layout}"
                if type(leaf) not in (torch.Tensor, torch._subclasses.FakeTensor):
                    return f"its tensors are {type(leaf).__name__}"
    return None


class LoneOps:
    """Which ops can be lowered by themselves; each kind of call is tried once.

    Args:
        check: tries a graph.
    """

    def __init__(self, check: Check) -> None:
        self._check = check
        self._known: dict[Hashable, str | None] = {}

    def problem(self, graph_module: GraphModule, node: Node) -> str | None:
        """Why the op cannot be compiled even alone, or None; ``graph_module`` holds nothing but this op.

        A failure without a message of ours is one of ours: it is told as such, and the op stays in PyTorch.
        """
        key = _signature(node)
        if key not in self._known:
            self._known[key] = problem_of(lambda: self._check(graph_module))
        return self._known[key]


def problem_of(action: Callable[[], object]) -> str | None:
    """What an action fails with, in one line; None if it succeeds."""
    try:
        action()
    except Torch2MLIRError as error:
        return shortened(error.message)
    except Exception as error:  # whatever happens, the program runs in PyTorch
        return shortened(f"{type(error).__name__}: {str(error).strip() or 'no message'}")
    return None


def shortened(message: str) -> str:
    """The first line of a message, and not all of a long one."""
    line = message.strip().splitlines()[0]
    return line if len(line) <= _LONGEST else line[:_LONGEST] + " ..."


def _signature(node: Node) -> Hashable:
    """What decides whether a call can be lowered: the op, its operands' types and its constants."""

    def of(value: Any) -> str:
        if isinstance(value, Node):
            fake = value.meta.get("val")
            return str([(str(t.dtype), str(t.shape)) if isinstance(t, torch.Tensor) else str(type(t))
                        for t in pytree.tree_leaves(fake)])  # fmt: skip
        return repr(value)

    arguments, spec = pytree.tree_flatten((node.args, dict(node.kwargs)))
    return str(node.target), str(spec), tuple(of(argument) for argument in arguments)


def own_nodes(graph: Graph) -> list[Node]:
    """The nodes of a graph that compute: neither inputs nor the output."""
    return [n for n in graph.nodes if n.op not in ("placeholder", "get_attr", "output")]
