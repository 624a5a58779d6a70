"""Random numbers that a program draws and does not use: those drawn after them are others without them.

Eager mode draws what an auxiliary branch with dropout takes, used or not. AOTAutograd drops calls that nothing uses and
that PyTorch does not count as impure, and those of operators that draw it does not (PyTorch 2.13).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import torch._library.utils as library_utils
from torch._ops import OpOverload
from torch.fx import GraphModule, Node

from torch2mlir.frontends import drawing_ops
from torch2mlir.frontends.dynamo.random_draws import draws

_Partition = Callable[..., tuple[GraphModule, GraphModule]]
_IS_IMPURE = "is_impure"


@contextmanager
def unused_draws_stay(stay: bool = True) -> Iterator[None]:
    """While it holds, PyTorch drops no call that draws.

    Args:
        stay: False where it may for a while.
    """
    current = getattr(library_utils, _IS_IMPURE)
    pytorchs = getattr(current, "pytorchs", current)

    def is_impure(op: Any, *, args: Any = None, kwargs: Any = None, **options: Any) -> bool:
        if isinstance(op, OpOverload) and drawing_ops.draws(op, args or (), kwargs or {}):
            return True
        found: bool = pytorchs(op, args=args, kwargs=kwargs, **options)
        return found

    is_impure.pytorchs = pytorchs  # type: ignore[attr-defined]
    setattr(library_utils, _IS_IMPURE, is_impure if stay else pytorchs)
    try:
        yield
    finally:
        setattr(library_utils, _IS_IMPURE, current)


def drawn_forward(partition: _Partition) -> _Partition:
    """A partition of a joint graph whose forward part draws what nothing uses, and whose backward part does not."""

    def partitioned(
        joint: GraphModule, inputs: Sequence[Any], *, num_fwd_outputs: int, **options: Any
    ) -> tuple[GraphModule, GraphModule]:
        joint.graph.eliminate_dead_code()  # what uses a draw may be used by nothing
        unused = [node for node in joint.graph.nodes if not node.users and draws(node)]
        _replace_results(joint, num_fwd_outputs, 0, [_tensor_of(node) for node in unused])
        count = num_fwd_outputs + len(unused)
        with unused_draws_stay(False):
            forward, backward = partition(joint, inputs, num_fwd_outputs=count, **options)
        _replace_results(forward, num_fwd_outputs, len(unused), [])
        return forward, backward

    return partitioned


def _tensor_of(node: Node) -> Node:
    """A result of a call, the first if it has several."""
    value = node.meta["val"]
    if isinstance(value, torch.Tensor):
        return node
    with node.graph.inserting_after(node):
        first = node.graph.call_function(operator.getitem, (node, 0))
    first.meta = {**node.meta, "val": value[0]}
    return first


def _replace_results(module: GraphModule, place: int, count: int, others: Sequence[Node]) -> None:
    """Puts results of a graph in the place of some; what computes those stays."""
    output = module.graph.output_node()
    results, descriptions = list(output.args[0]), output.meta.get("desc")  # type: ignore[arg-type]
    results[place : place + count] = others
    output.args = (tuple(results),)
    if descriptions is not None:
        output.meta["desc"] = [*descriptions]
        output.meta["desc"][place : place + count] = [None] * len(others)
    module.recompile()
