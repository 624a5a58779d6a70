"""Rows of attention whose keys are all masked, in a model that OpenVINO has read from ONNX."""

from __future__ import annotations

import math
from typing import Any

from torch2mlir.runtime.openvino_import import openvino as ov

ops = ov.opset13
_ATTENTION = "ScaledDotProductAttention"


def tell_masked_rows_by_mask(model: Any) -> None:
    """Has the mask say which rows are zeros, in place, where OpenVINO makes zeros of all NaNs of the result.

    So a NaN that the program has computed stays one. It is quicker too: a mask is looked at once, and not the result of
    every layer.
    """
    rows = dict[tuple[str, int], Any]()
    for select in model.get_ordered_ops():
        attention = _cleared_of_nans(select)
        if attention is None:
            continue
        mask = attention.input_value(3)
        key = mask.get_node().get_name(), mask.get_index()
        if key not in rows:
            rows[key] = _has_keys(mask)
        zeros = select.input_value(1)
        select.output(0).replace(
            ops.select(rows[key], attention.output(0), zeros, "numpy").output(0)
        )


def _cleared_of_nans(node: Any) -> Any:
    """The attention that ``Select(IsNaN(attention), 0, attention)`` is of; None for another operator."""
    if node.get_type_name() != "Select":
        return None
    asked, attention = (node.input_value(place).get_node() for place in (0, 2))
    if asked.get_type_name() != "IsNaN" or attention.get_type_name() != _ATTENTION:
        return None
    is_of_it = asked.input_value(0).get_node().get_name() == attention.get_name()
    return attention if is_of_it and attention.get_input_size() > 3 else None


def _has_keys(mask: Any) -> Any:
    """For each row of a mask, whether a key is left."""
    is_key = mask
    if mask.get_element_type().is_real():  # OpenVINO's largest of nothing but -inf is no -inf
        nothing = ops.constant(-math.inf, dtype=mask.get_element_type())
        is_key = ops.not_equal(mask, nothing)
    return ops.reduce_logical_or(is_key, [-1], True)
