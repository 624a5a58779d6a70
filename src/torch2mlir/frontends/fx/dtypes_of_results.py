"""``torch.sum(x, 0, out=y)``: PyTorch computes in the dtype of ``y``, and forgets it where it says writes as values.

``sum`` of float16 into float32 was the float16 sum, infinite beyond 65504.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.fx import Graph

aten = torch.ops.aten

_TAKE_A_DTYPE = (aten.sum, aten.nansum, aten.prod, aten.mean, aten.cumsum, aten.cumprod)
_TAKE_NONE = (aten.logsumexp, aten.var, aten.std)
"""Ops that compute in the dtype of their operand if nothing is given to write to."""


def say_dtypes_of_results(graph: Graph) -> None:
    """Gives the calls of a graph that write to a tensor the dtype that they compute in."""
    for node in list(graph.nodes):
        if not isinstance(node.target, OpOverload) or "out" not in node.kwargs:
            continue
        packet = node.target.overloadpacket
        dtype, given = (_dtype(each) for each in (node.kwargs["out"], node.args[0]))
        if dtype is None or dtype == given:
            continue
        if packet in _TAKE_A_DTYPE and node.kwargs.get("dtype") is None:
            node.kwargs = {**node.kwargs, "dtype": dtype}
        elif packet in _TAKE_NONE and given is not None and not given.is_complex:
            operand: Any = node.args[0]
            with graph.inserting_before(node):
                converted = graph.call_function(aten.to.dtype, (operand, dtype))
            value = operand.meta["val"]
            with value.fake_mode:
                converted.meta = {**node.meta, "val": value.to(dtype)}
            node.update_arg(0, converted)


def _dtype(node: Any) -> torch.dtype | None:
    value = getattr(node, "meta", {}).get("val")
    return value.dtype if isinstance(value, Tensor) else None
