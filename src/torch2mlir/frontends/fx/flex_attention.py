"""``torch.nn.attention.flex_attention`` as the ops that it comes to.

PyTorch keeps it as one operator with the functions that change and mask its scores beside it, for a kernel that is made
for a graphics card. What it computes is attention over all positions, in ops: those are traced here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import torch
from torch._subclasses.functional_tensor import FunctionalTensorMode
from torch.fx import Graph
from torch.overrides import TorchFunctionMode

from torch2mlir.turns import in_turn

_ATTENTION = torch.ops.higher_order.flex_attention


class _NumbersInOps(TorchFunctionMode):
    """Tensors of one number are computed: PyTorch forgets constants that come up while it traces through a program."""

    def __torch_function__(
        self, function: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        if function is torch.tensor and isinstance(args[0], bool | int | float):
            return torch.full((), args[0], **(kwargs or {}))
        return function(*args, **(kwargs or {}))


def has_flex_attention(graph: Graph) -> bool:
    """Whether it is called in a graph."""
    return bool(graph.find_nodes(op="call_function", target=_ATTENTION))


@contextmanager
def flex_attention_as_ops() -> Iterator[None]:
    """Around a trace of PyTorch's that says writes as values: calls of it become the ops that it comes to.

    Other threads wait, since PyTorch keeps one such table of the process.
    """
    # the package has the operator itself under the module's name
    in_ops = import_module("torch._higher_order_ops.flex_attention").math_attention
    kernels = _ATTENTION.python_key_table

    def traced(mode: FunctionalTensorMode, *args: Any, **kwargs: Any) -> Any:
        with mode, _NumbersInOps():
            return in_ops(*args, **kwargs)

    with in_turn():
        kept = kernels[FunctionalTensorMode]
        kernels[FunctionalTensorMode] = traced
        try:
            yield
        finally:
            kernels[FunctionalTensorMode] = kept
