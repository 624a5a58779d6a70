"""Whether two traces of one function are the same graph, at the sizes that the second was made with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy
import torch
from torch.fx import GraphModule, Node
from torch.utils import _pytree as pytree

from torch2mlir.transforms.semantics.example_world import simplified

_SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)
_SIZES = (
    torch.ops.aten.sym_size.int,
    torch.ops.aten.sym_stride.int,
    torch.ops.aten.sym_numel.default,
    torch.ops.aten.sym_storage_offset.default,
)


def are_same(graph: GraphModule, again: GraphModule, examples: Mapping[sympy.Symbol, int]) -> bool:
    """Whether a graph is one that was traced for other sizes.

    Numbers are compared by what they are at those sizes: the other trace may have taken one for a constant.

    Args:
        graph: the one whose symbols are to be replaced.
        again: the other one.
        examples: its sizes, by the symbol of the first one.
    """

    def same(one: Any, found: Any) -> bool:
        if isinstance(one, Node) and one in twins:
            return twins[one] is found
        one, found = (x.meta.get("val") if isinstance(x, Node) else x for x in (one, found))
        if isinstance(one, _SYMBOLIC):
            one = simplified(one).subs(examples)
            if one.free_symbols:  # elements decide it
                return True
        if isinstance(found, _SYMBOLIC):
            found = found.node.hint
        return bool(one == found or (one != one and found != found))

    steps = [[node for node in each.graph.nodes if _is_step(node)] for each in (graph, again)]
    twins: dict[Node, Node] = dict(zip(*steps, strict=False))
    if len(steps[0]) != len(steps[1]):
        return False
    for node, twin in twins.items():
        ours, theirs = (_said_by(each) for each in (node, twin))
        if len(ours) != len(theirs) or not all(map(same, ours, theirs)):
            return False
    return True


def _is_step(node: Node) -> bool:
    """Whether a node has to do with elements, not with sizes alone."""
    if node.op == "get_attr" or isinstance(node.meta.get("val"), torch.Tensor):
        return True
    return not (
        node.op == "placeholder"
        or node.target in _SIZES
        or all(map(_is_size, node.all_input_nodes))
    )


def _is_size(node: Node) -> bool:
    return isinstance(node.meta.get("val"), (int, float, *_SYMBOLIC))


def _said_by(node: Node) -> list[Any]:
    """What a node says: its op, its operands and the shapes of its results."""
    results = pytree.tree_leaves(node.meta.get("val"))
    shapes = [size for each in results if isinstance(each, torch.Tensor) for size in each.shape]
    return [node.op, str(node.target), *pytree.tree_leaves((node.args, node.kwargs)), *shapes]
