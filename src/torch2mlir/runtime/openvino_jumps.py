"""Arithmetic whose results become integers or truths: OpenVINO is to round it as it is written.

OpenVINO 2026.4 multiplies with the inverse of a divisor, and joins sums and products with constants: ``(x + a) + b`` is
``x + (a + b)``, ``(x + a) * b`` is ``x * b + a * b``. Such results are a unit in the last place off, which floats may
be, and ``floor(x / 0.3)`` of 9 was 30, not 29. Where an integer or a truth comes of it, a division is marked as one
that may not be converted, as OpenVINO's own passes mark those that compute shapes, and a sum or product is chosen among
itself and NaN, by whether it is equal to itself, which nothing is joined with.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torch2mlir.conversion.jumps import Leading
from torch2mlir.runtime.openvino_fusions import graphs
from torch2mlir.runtime.openvino_import import openvino as ov

_MARK = "nonconvertable_divide_0"
"""What OpenVINO's ``NonconvertibleDivide`` is called in a node's information, misspelled there."""
_ROUNDINGS = {"Ceiling", "Floor", "FloorMod", "Mod", "Round", "Sign"}
_COMPARISONS = {"Equal", "Greater", "GreaterEqual", "Less", "LessEqual", "NotEqual"}
_JOINED = {"Add", "Multiply", "Subtract"}
_EXACT = _JOINED | {
    *("Abs", "Broadcast", "Clamp", "Concat", "Convert", "Divide", "Gather", "GatherElements"),
    *("GatherND", "Maximum", "Minimum", "Negative", "Pad", "ReduceMax", "ReduceMin", "Relu"),
    *("Exp", "Log", "Power", "Sqrt"),
    *("Reshape", "Select", "Slice", "Split", "Squeeze", "StridedSlice", "Tile", "Transpose"),
    *("Unsqueeze", "VariadicSplit"),
}
ops = ov.opset13


def round_where_results_jump(model: ov.Model) -> None:
    """Has floats that become integers or truths computed as they are written.

    Args:
        model: is changed; its branches and loops too.
    """
    for graph in list(graphs(model)):
        nodes = {node.get_name(): node for node in graph.get_ordered_ops()}
        leading = _leading(nodes)
        for name, node in nodes.items():
            kind = node.get_type_name()
            if kind not in _JOINED and kind != "Divide":
                continue
            if not node.get_output_element_type(0).is_real() or not leading.leads(name):
                continue
            if kind == "Divide":
                node.get_rt_info()[_MARK] = True
            elif any(reader.get_type_name() in _JOINED for reader in _readers(node)):
                _keep(node)


def _readers(node: Any) -> list[Any]:
    return [reader.get_node() for output in node.outputs() for reader in output.get_target_inputs()]


def _leading(nodes: dict[str, Any]) -> Leading[str]:
    """Which nodes' results become integers or truths, by name."""
    kinds = {name: node.get_type_name() for name, node in nodes.items()}
    following = {
        name: [each for each in map(_name, _readers(node)) if each in nodes]
        for name, node in nodes.items()
    }

    def ends(each: str, read: str) -> bool:
        node, kind = nodes[each], kinds[each]
        if kind in _COMPARISONS:
            return not _is_with_itself(node) and not _chooses_its_own(node)
        is_converted = kind == "Convert" and not node.get_output_element_type(0).is_real()
        return is_converted or kind in _ROUNDINGS

    return Leading(following.__getitem__, ends, lambda each: kinds[each] in _EXACT)


def _name(node: Any) -> str:
    return str(node.get_name())


def _sources(node: Any) -> list[Any]:
    return [given.get_source_output().get_node() for given in node.inputs()]


def _is_with_itself(comparison: Any) -> bool:
    one, other = _sources(comparison)
    return bool(one.get_name() == other.get_name())


def _chooses_its_own(comparison: Any) -> bool:
    """Whether all that a comparison with zero decides is whether a value is taken as it is."""
    compared = [source for source in _sources(comparison) if not _is_zero(source)]
    if len(compared) != 1:
        return False
    return all(
        reader.get_type_name() == "Select"
        and any(source.get_name() == compared[0].get_name() for source in _sources(reader)[1:])
        for reader in _readers(comparison)
    )


def _is_zero(node: Any) -> bool:
    return node.get_type_name() == "Constant" and not node.get_data().any()


def _keep(node: Any) -> None:
    readers = list(node.output(0).get_target_inputs())
    same = ops.equal(node.output(0), node.output(0))
    kind = node.get_output_element_type(0).to_dtype()
    chosen = ops.select(same, node.output(0), ops.constant(np.array(np.nan, kind)), "numpy")
    for reader in readers:
        reader.replace_source_output(chosen.output(0))
