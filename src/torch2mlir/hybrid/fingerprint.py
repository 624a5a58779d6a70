"""What a graph computes, as text: equal for graphs that an engine compiles alike, whatever their weights hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node
from torch.utils import _pytree as pytree


def fingerprint(module: GraphModule, args: Sequence[Any]) -> str:
    """The ops of a graph with their constants and the types of its weights; dtypes, sizes and strides of arguments."""
    return "\n".join([*_lines(module, module.graph), *map(_described, args)])


def _lines(module: torch.nn.Module, graph: Graph) -> list[str]:
    numbers = {node: f"%{index}" for index, node in enumerate(graph.nodes)}
    lines = list[str]()
    for node in graph.nodes:
        operands = torch.fx.node.map_arg((node.args, dict(node.kwargs)), numbers.__getitem__)
        value = pytree.tree_leaves(node.meta.get("val"))
        what = _attribute(module, node) if node.op == "get_attr" else [str(node.target)]
        if node.op == "placeholder":
            what = []
        types = " ".join(map(_described, value))
        lines.append(f"{numbers[node]} = {node.op} {' '.join(what)} {operands!r} : {types}")
    return lines


def _attribute(module: torch.nn.Module, node: Node) -> list[str]:
    value: Any = module
    for part in str(node.target).split("."):
        value = getattr(value, part)
    if isinstance(value, GraphModule):
        return ["{", *_lines(value, value.graph), "}"]
    return [_described(value)]


def _described(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{value.dtype}{list(value.shape)}{list(value.stride())}"
    return repr(value) if isinstance(value, int | float | bool | str) else str(value)
