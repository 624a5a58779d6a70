"""Strides at the border of a compiled graph: programs know dense values only, PyTorch's tensors lie in any order.

A tensor whose dimensions lie in another order (channels last, a transposed weight) crosses the border as the dense
tensor it is a permutation of, without a copy; the graph begins or ends with the permutation. What leaves has the
strides that PyTorch's own run of the graph would give it: views of it are made outside by their strides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.experimental.symbolic_shapes import statically_known_true

aten = torch.ops.aten

Order = tuple[int, ...]
Restore = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class Border:
    """How the tensors of a graph cross its border.

    Attributes:
        entering: the order of dimensions in which an argument is dense, where it is not its own.
        leaving: what gives a result its strides, where it has none but the dense ones.
    """

    entering: dict[int, Order]
    leaving: dict[int, Restore]


def dense_at_border(module: GraphModule) -> Border:
    """Makes a graph take and give dense tensors; in place."""
    graph = module.graph
    entering = dict[int, Order]()
    for position, node in enumerate(graph.find_nodes(op="placeholder")):
        value = node.meta.get("val")
        order = _dense_order(value) if isinstance(value, torch.Tensor) else None
        if order is not None and order != tuple(range(len(order))):
            entering[position] = order
            _permute_argument(node, value, order)
    leaving = dict[int, Restore]()
    output = next(iter(graph.find_nodes(op="output")))
    results = list(output.args[0])
    for position, node in enumerate(results):
        value = node.meta.get("val") if isinstance(node, Node) else None
        if isinstance(value, torch.Tensor):
            results[position], restore = _leave(node, value)
            if restore is not None:
                leaving[position] = restore
    output.args = (tuple(results),)
    return Border(entering, leaving)


def _permute_argument(node: Node, value: torch.Tensor, order: Order) -> None:
    node.meta = {**node.meta, "val": value.permute(order)}
    with node.graph.inserting_after(node):
        back = node.graph.call_function(aten.permute.default, (node, list(_inverse(order))))
    back.meta = {**node.meta, "val": value}
    node.replace_all_uses_with(back, delete_user_cb=lambda user: user is not back)


def _leave(node: Node, value: torch.Tensor) -> tuple[Node, Restore | None]:
    """The dense tensor to return in place of a result, and what makes the result of it."""
    repeated = [axis for axis, stride in enumerate(value.stride()) if _is(stride, 0)]
    if repeated:
        repeated = [axis for axis in repeated if not _is(value.shape[axis], 1)]
    distinct = value
    for axis in repeated:
        distinct = distinct.narrow(axis, 0, 1)
    order = _dense_order(distinct)
    if order is None:
        return node, _restride(value)
    if repeated:
        order = (*repeated, *(axis for axis in order if axis not in repeated))
    elif order == tuple(range(len(order))):
        return node, None
    inverse = _inverse(order)
    with node.graph.inserting_before(node.graph.output_node()):
        permuted = node.graph.call_function(aten.permute.default, (node, list(order)))
    permuted.meta = {**node.meta, "val": value.permute(order)}

    def restore(result: torch.Tensor) -> torch.Tensor:
        shape = result.shape
        for axis in range(len(repeated)):
            if shape[axis] > 1:
                result = result.narrow(axis, 0, 1)
        return result.expand(shape).permute(inverse)

    return permuted, restore


def _restride(value: torch.Tensor) -> Restore | None:
    """Copies into memory with gaps; not where the gaps depend on sizes."""
    shape, strides = tuple(value.shape), value.stride()
    if not all(isinstance(number, int) for number in (*shape, *strides)):
        return None
    return lambda result: torch.empty_strided(shape, strides, dtype=result.dtype).copy_(result)


def _inverse(order: Sequence[int]) -> Order:
    return tuple(sorted(range(len(order)), key=order.__getitem__))


def _dense_order(value: torch.Tensor) -> Order | None:
    """The order in which the dimensions of a tensor without gaps lie in memory; None if it has gaps or overlaps."""
    if value.layout is not torch.strided:
        return tuple(range(value.dim()))
    if any(_is(size, 0) for size in value.shape):
        return tuple(range(value.dim()))
    sizes, strides = value.shape, value.stride()
    hints = [_hint(stride) for stride in strides]
    if None in hints:
        return tuple(range(value.dim())) if _is_dense(sizes, strides) else None
    # dimensions of size 1 lie anywhere: they stay with the one that follows them
    for axis in reversed(range(value.dim())):
        if _is(sizes[axis], 1):
            following = (
                hints[axis + 1] * (_hint(sizes[axis + 1]) or 1) if axis + 1 < value.dim() else 1  # type: ignore[operator]
            )
            hints[axis] = following
    order = tuple(sorted(range(value.dim()), key=lambda axis: (-hints[axis], axis)))  # type: ignore[operator]
    ordered = [(sizes[axis], strides[axis]) for axis in order]
    if _is_dense(sizes, strides):
        return tuple(range(value.dim()))
    return order if _is_dense(*zip(*ordered, strict=True)) else None


def _is_dense(sizes: Sequence[Any], strides: Sequence[Any]) -> bool:
    expected: Any = 1
    for size, stride in zip(reversed(sizes), reversed(strides), strict=True):
        if _is(size, 1):
            continue
        if not _is(stride, expected):
            return False
        expected = expected * size
    return True


def _is(value: Any, expected: Any) -> bool:
    return bool(statically_known_true(value == expected))


def _hint(value: Any) -> int | None:
    if isinstance(value, int):
        return value
    hint = value.node.hint
    return hint if isinstance(hint, int) else None
