"""Inputs that a graph writes to: results that replace their elements, where nobody reads these any more in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch.fx import GraphModule, Node

from torch2mlir.frontends.dynamo.segments import Segment

_COPY = torch.ops.aten.copy_.default


def writes_as_results(module: GraphModule) -> list[int]:
    """Makes what AOTAutograd copies into inputs at the end of a graph further results.

    Returns the positions of the inputs, in the order of the results.
    """
    graph = module.graph
    places = {node: place for place, node in enumerate(graph.find_nodes(op="placeholder"))}
    written, values = list[int](), list[Node]()
    for node in list(graph.find_nodes(op="call_function", target=_COPY)):
        target, value = node.args[:2]
        if target in places and isinstance(value, Node):
            node.replace_all_uses_with(value)
            graph.erase_node(node)
            written.append(places[target])
            values.append(value)
    output = graph.output_node()
    output.args = ((*output.args[0], *values),)  # type: ignore[misc]
    return written


def updates_in_place(
    module: GraphModule, segments: Sequence[Segment], written: Sequence[int]
) -> list[Mapping[int, int]]:
    """For each segment, its inputs that may be overwritten by its outputs.

    These are inputs of the graph that only this segment reads, and outputs that have no other use.

    Args:
        module: the graph, whose last results are those for ``written``.
        segments: of the graph.
        written: positions of inputs.
    """
    inputs = list(module.graph.find_nodes(op="placeholder"))
    results = list(module.graph.output_node().args[0])  # type: ignore[arg-type]
    found = list[Mapping[int, int]]()
    for segment in segments:
        elsewhere = {node for other in segments if other is not segment for node in other.inputs}
        pairs = dict[int, int]()
        for place, value in zip(written, results[len(results) - len(written) :], strict=True):
            target = inputs[place]
            is_own = segment.is_compiled and value in segment.outputs and target in segment.inputs
            is_used = target in results or results.count(value) > 1 or {target, value} & elsewhere
            if is_own and not is_used and _are_alike(target, value):
                pairs[segment.inputs.index(target)] = segment.outputs.index(value)
        found.append(pairs)
    return found


def _are_alike(target: Node, value: object) -> bool:
    """Whether two values have one shape and dtype."""
    one, other = target.meta.get("val"), getattr(value, "meta", {}).get("val")
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return False
    return one.dtype == other.dtype and one.shape == other.shape
