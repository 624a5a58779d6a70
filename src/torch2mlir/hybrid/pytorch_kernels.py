"""Calls that PyTorch's own kernels run faster than the engine that compiles what is around them.

For ``torch.compile`` without a named engine, in training steps: XLA computes convolutions and positions of maxima
slowly on CPUs, and no other engine can prepare weights that change with every step. ResNet-50, batch 8, on two cores:
1.5 s a step whole on XLA, 0.95 s with these.
"""

from __future__ import annotations

from math import prod
from typing import Any

import torch
from torch.fx import Graph, Node

aten = torch.ops.aten

_RESULT_AND_WEIGHT = {
    aten.convolution.default: (None, 1),
    aten.convolution_backward.default: (0, 2),
}
"""Convolution -> the arguments that are its result, None where it is the node's own, and its weight."""
_POOLED = {
    aten.max_pool2d_with_indices.default: 0,
    aten.max_pool2d_with_indices_backward.default: 1,
}
"""Pooling -> the argument that is pooled."""
_MULTIPLICATIONS = 1 << 24
"""Of a convolution, from which its own time matters more than that of two programs in place of one."""
_ELEMENTS = 1 << 18
"""The same for pooling."""

_REASON = "its convolutions and poolings of f32 are faster in training than XLA's"


def faster_in_pytorch(graph: Graph) -> tuple[set[Node], str]:
    """The calls of a graph of a training step that are better left to PyTorch's kernels, and why."""
    found = {
        node
        for targets, is_large in (
            (_RESULT_AND_WEIGHT, _is_large_convolution),
            (_POOLED, _is_large_pooling),
        )
        for target in targets
        for node in graph.find_nodes(op="call_function", target=target)
        if is_large(node)
    }
    return found, _REASON


def _is_large_convolution(node: Node) -> bool:
    place, of_weight = _RESULT_AND_WEIGHT[node.target]  # type: ignore[index]
    result, weight = (
        _sizes(node if place is None else node.args[place]),
        _sizes(node.args[of_weight]),
    )
    return bool(result and weight) and prod([*result, *weight[1:]]) >= _MULTIPLICATIONS


def _is_large_pooling(node: Node) -> bool:
    sizes = _sizes(node.args[_POOLED[node.target]])  # type: ignore[index]
    return bool(sizes) and prod(sizes) >= _ELEMENTS


def _sizes(node: Any) -> list[int]:
    """Of a tensor of f32 whose sizes are known; else none."""
    value = node.meta.get("val") if isinstance(node, Node) else None
    known = isinstance(value, torch.Tensor) and value.dtype is torch.float32
    sizes = list(value.shape) if known else []  # type: ignore[union-attr]
    return sizes if all(isinstance(size, int) for size in sizes) else []
