"""Sizes of a graph that only turn out to be equal where an op needs them to be: keys and values of attention.

TorchDynamo gives every size that varies a symbol of its own. PyTorch's kernels for fake tensors do not compare all of
them; an op's decomposition does. Run on the graph's own fake tensors, it makes TorchDynamo guard what it relies on, and
the symbols one, in the sizes of all nodes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch._ops import OpOverload
from torch._subclasses import FakeTensor
from torch.fx import Node

from torch2mlir.frontends.fx.quiet import quiet
from torch2mlir.transforms.decompositions import find_decomposition
from torch2mlir.transforms.decompositions.registry import op_name


def learn_equal_sizes(nodes: Iterable[Node], op: str | None) -> bool:
    """Runs the decompositions of the calls of an op, of the torch dialect's name; whether symbols have become one.

    Nothing happens once TorchDynamo has made its guards, as it has when a backward is compiled.
    """
    learned = False
    for node in nodes:
        if isinstance(node.target, OpOverload) and op_name(node.target) == op:
            learned |= _learn(node, node.target)
    return learned


def _learn(node: Node, target: OpOverload) -> bool:
    decomposition = find_decomposition(target)
    mode = _fake_mode(node)
    environment = None if mode is None else mode.shape_env
    if decomposition is None or environment is None or environment.frozen:
        return False
    before = len(environment.replacements)
    args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), lambda n: n.meta["val"])
    try:
        with quiet(), mode, torch.no_grad():
            decomposition(*args, **kwargs)
    except Exception:  # it says itself, where it is lowered, what is wrong
        return False
    return len(environment.replacements) > before


def _fake_mode(node: Node) -> Any:
    values = [source.meta.get("val") for source in node.all_input_nodes]
    return next((value.fake_mode for value in values if isinstance(value, FakeTensor)), None)
