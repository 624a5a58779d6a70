"""What is known of the values of a tensor from the operators that it comes from."""

from __future__ import annotations

import math

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import SSAValue

_BOUNDED_BELOW = frozenset(
    ("Abs", "Exp", "Gelu", "HardSigmoid", "Relu", "Sigmoid", "Softmax", "Softplus", "Sqrt", "Tanh")
)
"""Operators whose results have a lowest finite value, or are NaN."""
_PARTS = {
    "AveragePool": slice(0, 1),
    "Concat": slice(None),
    "MaxPool": slice(0, 1),
    "Reshape": slice(0, 1),
    "Slice": slice(0, 1),
    "Transpose": slice(0, 1),
    "Unsqueeze": slice(0, 1),
    "Where": slice(1, 3),
}
"""Operators whose results are between values of these operands."""
_MOST = 12
"""How many operators are looked back over."""


def is_bounded_below(value: SSAValue, depth: int = _MOST) -> bool:
    """Whether no element can be the negative infinity; NaN and the positive one it may be."""
    owner = value.owner
    name = getattr(owner, "name", "").removeprefix("onnx.")
    if name in _BOUNDED_BELOW:
        return True
    operands: tuple[SSAValue, ...] = tuple(getattr(owner, "operands", ()))
    if name == "Clip":
        return len(operands) > 1 and _is_finite_number(operands[1])
    if name not in _PARTS or depth == 0:
        return False
    return all(is_bounded_below(part, depth - 1) for part in operands[_PARTS[name]])


def _is_finite_number(value: SSAValue) -> bool:
    constant = getattr(value.owner, "properties", {}).get("value")
    if not isinstance(constant, DenseIntOrFPElementsAttr):
        return False
    return all(math.isfinite(number) for number in constant.get_values())
