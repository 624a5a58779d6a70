"""Short ways for calls: what a call is known by, and a graph of one cluster without the graph."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import torch
from torch.fx import GraphModule

from torch2mlir.hybrid.cluster import Cluster

_PLAIN = (torch.Tensor, torch.nn.Parameter)
_STRIDED = torch.strided


def kind_of_call(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Hashable | None:
    """All that decides whether a capture takes a call, if the arguments are plain tensors and none wants a gradient.

    Taking a call's structure apart and looking at the guards of a capture costs more than a small model.
    """
    grad = torch.is_grad_enabled()
    kind = list[Hashable]()
    for tensor in (*args, *kwargs.values()):
        if type(tensor) not in _PLAIN or (grad and tensor.requires_grad):
            return None
        if tensor.layout is not _STRIDED or tensor.is_conj() or tensor.is_neg() or tensor.is_nested:
            return None
        device = None if tensor.is_cpu else tensor.device
        kind.append((tensor.dtype, tensor.shape, tensor.stride(), device))
    return len(args), tuple(kwargs), tuple(kind)


def direct_call(module: GraphModule) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """A graph's function of a list; where all the graph does is to call one cluster, that cluster's."""
    inputs = [n for n in module.graph.nodes if n.op == "placeholder"]
    calls = [n for n in module.graph.nodes if n.op == "call_module"]
    others = [n for n in module.graph.nodes if n.op not in ("placeholder", "call_module", "output")]
    cluster = module.get_submodule(str(calls[0].target)) if len(calls) == 1 else None
    output = module.graph.output_node().args[0]
    results = list(output) if isinstance(output, list | tuple) else []
    is_whole = all(n.target is operator.getitem and n.args[0] is calls[0] for n in others if calls)
    if (
        not isinstance(cluster, Cluster)
        or not (others and is_whole)
        or not all(n in inputs for n in calls[0].args)
        or not all(n in others for n in results)
    ):
        return lambda leaves: module.forward(*leaves)
    taken = [inputs.index(n) for n in calls[0].args]
    given = [n.args[1] for n in results]
    is_plain = taken == list(range(len(inputs)))
    forward: Callable[..., Any] = cluster.forward

    def call(leaves: Sequence[Any]) -> Sequence[Any]:
        found = forward(*leaves) if is_plain else forward(*[leaves[i] for i in taken])
        return [found[i] for i in given]

    return call
