"""Tensors of one double are no numbers of Python's, whose handling by PyTorch 2.13 loses what is written to them.

TorchDynamo hands numbers over as tensors of one double. A number that AOTAutograd cannot keep a tensor is made a
constant: the analysis begins anew, and drops the calls that have the tensor as their result and that nothing but
``item`` uses. It does the same with what has been a tensor from the start, as a counter in a buffer, and drops
``counter.add_(1)``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch._functorch._aot_autograd.graph_compile as aot
from torch._dynamo.exc import TensorifyScalarRestartAnalysis
from torch._dynamo.source import FloatTensorSource
from torch._dynamo.symbolic_convert import TensorifyState
from torch.fx import GraphModule

_PASS = "_apply_tensorify_python_scalars"


@contextmanager
def tensors_stay(module: GraphModule) -> Iterator[None]:
    """While it holds, AOTAutograd makes constants of numbers only.

    Args:
        module: a graph of TorchDynamo's, which is about to be compiled.
    """
    symbols = _of_tensors(module)
    if not symbols:
        yield
        return
    numbers_to_tensors = getattr(aot, _PASS)

    def of_numbers_only(graph: GraphModule) -> None:
        before = set(TensorifyState.force_specializations)
        try:
            numbers_to_tensors(graph)
        except TensorifyScalarRestartAnalysis:  # once the graph is done
            TensorifyState.force_specializations -= symbols - before
            if TensorifyState.force_specializations != before:
                raise

    setattr(aot, _PASS, of_numbers_only)
    try:
        yield
    finally:
        setattr(aot, _PASS, numbers_to_tensors)


def _of_tensors(module: GraphModule) -> set[str]:
    """The names of what stands for the elements of tensors among the arguments of a graph."""
    found = set[str]()
    for node in module.graph.find_nodes(op="placeholder"):
        source = getattr(node.meta.get("grapharg"), "source", None)
        element = getattr(node.meta.get("example_value"), "item_memo", None)
        name = getattr(getattr(getattr(element, "node", None), "_expr", None), "name", None)
        if name is not None and not isinstance(source, FloatTensorSource):
            found.add(name)
    return found
