"""Sizes that an op needs to be the same, and that its kernel for fake tensors does not compare: of keys and values.

A capture gives each size that may vary a symbol of its own, until an op compares two. Where its decomposition does, and
not PyTorch's fake kernel, the sizes are compared here: they have one symbol then, in all nodes, and calls are asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import torch
from torch._ops import OpOverload
from torch.fx import Graph, Node

aten = torch.ops.aten
_Place = tuple[int, int]
_QUERY, _KEY, _VALUE = range(3)
_OF_ATTENTION: Sequence[tuple[_Place, _Place]] = (
    ((_QUERY, -1), (_KEY, -1)),
    ((_KEY, -2), (_VALUE, -2)),
)
_MOST_DIMS = 8
_SAME: Mapping[OpOverload, Sequence[tuple[_Place, _Place]]] = {
    aten.masked_select.default: [((0, -dim), (1, -dim)) for dim in range(1, _MOST_DIMS + 1)],
    aten.scaled_dot_product_attention.default: _OF_ATTENTION,
    aten._scaled_dot_product_attention_math.default: _OF_ATTENTION,
    aten._scaled_dot_product_flash_attention_for_cpu.default: _OF_ATTENTION,
}
"""Op -> pairs of operands and dimensions, from the end, that are of one size, unless one of the two is 1."""


_SELECT_SCATTER = aten.select_scatter.default


def _pairs(node: Node) -> Iterator[tuple[_Place, _Place]]:
    """The operands and dimensions of a node that are of one size."""
    yield from _SAME.get(node.target, ())  # type: ignore[call-overload]
    if node.target is not _SELECT_SCATTER:
        return
    whole, dim = node.args[0], node.args[2]
    shape = whole.meta["val"].shape if isinstance(whole, Node) and "val" in whole.meta else ()
    for axis in range(len(shape)):
        if isinstance(dim, int) and axis != dim % len(shape):
            from_end = axis - len(shape)
            yield (0, from_end), (1, from_end + (axis < dim % len(shape)))


def compare_sizes(graphs: Iterable[Graph]) -> None:
    """Has PyTorch compare what the ops of some graphs need to be the same; the symbols become one."""
    for graph in graphs:
        for node in graph.nodes:
            for one, other in _pairs(node) if node.op == "call_function" else ():
                _compare(_size(node, one), _size(node, other))


def _size(node: Node, place: _Place) -> int | torch.SymInt | None:
    operand, dim = place
    source = node.args[operand] if operand < len(node.args) else None
    value = source.meta.get("val") if isinstance(source, Node) else None
    return value.shape[dim] if isinstance(value, torch.Tensor) and -dim <= value.dim() else None


def _compare(one: int | torch.SymInt | None, other: int | torch.SymInt | None) -> None:
    if not isinstance(one, torch.SymInt) or not isinstance(other, torch.SymInt):
        return
    have_hints = one.node.has_hint() and other.node.has_hint()
    if have_hints and one.node.expr != other.node.expr and one.node.hint == other.node.hint:
        bool(one == other)
