"""Rows of attention whose keys are all masked, in a model that OpenVINO has read from ONNX."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from torch2mlir.runtime.openvino_fusions import graphs
from torch2mlir.runtime.openvino_import import openvino as ov

ops = ov.opset13
_ATTENTION = "ScaledDotProductAttention"


def tell_masked_rows_by_mask(model: Any) -> set[str]:
    """Has the mask say which rows are zeros, in place, where OpenVINO makes zeros of all NaNs of the result.

    So a NaN that the program has computed stays one. It is quicker too: a mask is looked at once, and not the result of
    every layer.

    Returns:
        The names of the operators that clear the rows, where the columns are known: their condition has all of them.
    """
    rows, clearing = dict[tuple[str, int, int], Any](), set[str]()
    for select in (node for graph in graphs(model) for node in graph.get_ordered_ops()):
        attention = _cleared_of_nans(select)
        if attention is None:
            continue
        mask = attention.input_value(3)
        size = attention.get_output_partial_shape(0)[-1]
        columns = 1 if size.is_dynamic else size.get_length()
        key = mask.get_node().get_name(), mask.get_index(), columns
        if key not in rows:
            rows[key] = _has_keys(mask, columns)
        zeros = select.input_value(1)
        cleared = ops.select(rows[key], attention.output(0), zeros, "numpy")
        if size.is_static:
            clearing.add(cleared.get_name())
        select.output(0).replace(cleared.output(0))
    return clearing


def _cleared_of_nans(node: Any) -> Any:
    """The attention that ``Select(IsNaN(attention), 0, attention)`` is of; None for another operator."""
    if node.get_type_name() != "Select":
        return None
    asked, attention = (node.input_value(place).get_node() for place in (0, 2))
    if asked.get_type_name() != "IsNaN" or attention.get_type_name() != _ATTENTION:
        return None
    is_of_it = asked.input_value(0).get_node().get_name() == attention.get_name()
    return attention if is_of_it and attention.get_input_size() > 3 else None


def _has_keys(mask: Any, columns: int) -> Any:
    """For each row of a mask, whether a key is left, so many times."""
    is_key = mask
    if mask.get_element_type().is_real():  # OpenVINO's largest of nothing but -inf is no -inf
        nothing = ops.constant(-math.inf, dtype=mask.get_element_type())
        is_key = ops.not_equal(mask, nothing)
    has_keys = ops.reduce_logical_or(is_key, [-1], True)
    return ops.tile(has_keys, np.array([1] * (len(mask.get_partial_shape()) - 1) + [columns]))
