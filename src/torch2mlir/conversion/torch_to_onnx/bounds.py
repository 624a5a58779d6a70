"""What is known of the values of a tensor from the operators that it comes from."""

from __future__ import annotations

import math
from typing import Any

from xdsl.dialects.builtin import AnyFloat, DenseIntOrFPElementsAttr, IntegerType
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
    name, operands = _made_by(value)
    if name in _BOUNDED_BELOW:
        return True
    if name == "Clip":
        numbers = numbers_of(operands[1]) if len(operands) > 1 else None
        return numbers is not None and all(map(math.isfinite, numbers))
    if name not in _PARTS or depth == 0:
        return False
    return all(is_bounded_below(part, depth - 1) for part in operands[_PARTS[name]])


_NEVER_NEGATIVE = frozenset(
    (
        *("Abs", "Exp", "HardSigmoid", "ReduceL2", "ReduceSumSquare", "Relu", "Shape", "Sigmoid"),
        *("Size", "Softmax", "Softplus", "Sqrt"),
    )
)
_COMBINED = {
    **dict.fromkeys(("Add", "Div", "MatMul", "Min", "Mul", "Sum"), slice(None)),
    **dict.fromkeys(("ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum", "CumSum"), slice(0, 1)),
    **dict.fromkeys(("Cast", "Expand", "Gather", "Identity", "Squeeze"), slice(0, 1)),
    **_PARTS,
}
"""Operators whose results are not negative where these operands are not."""


def is_nonnegative(value: SSAValue, depth: int = _MOST) -> bool:
    """Whether no element is below 0; NaN it may be."""
    name, operands = _made_by(value)
    numbers = numbers_of(value)
    if numbers is not None:
        return all(number >= 0 or math.isnan(number) for number in numbers)
    if _may_wrap_around(value, depth):
        return False
    if name in _NEVER_NEGATIVE:
        return True
    if depth == 0:
        return False
    if name == "Mul" and operands[0] is operands[1]:
        return True
    if name == "Pow":
        exponents = numbers_of(operands[1]) or (0.5,)
        return all(each % 2 == 0 for each in exponents) or is_nonnegative(operands[0], depth - 1)
    if name == "Clip":
        bounds = (operands[:2], operands[2:])
        return all(any(is_nonnegative(x, depth - 1) for x in each) for each in bounds if each)
    if name == "Max":
        return any(is_nonnegative(each, depth - 1) for each in operands)
    return name in _COMBINED and all(
        is_nonnegative(x, depth - 1) for x in operands[_COMBINED[name]]
    )


def is_positive(value: SSAValue, depth: int = _MOST) -> bool:
    """Whether no element is 0 or below it, of tensors with elements, as long as nothing underflows; NaN it may be."""
    name, operands = _made_by(value)
    numbers = numbers_of(value)
    if numbers is not None:
        return all(number > 0 or math.isnan(number) for number in numbers)
    if _may_wrap_around(value, depth):
        return False
    if name in ("Exp", "Shape", "Sigmoid", "Size", "Softmax", "Softplus"):
        return True
    if depth == 0:
        return False
    if name in ("Add", "Sum"):
        is_any = any(is_positive(each, depth - 1) for each in operands)
        return is_any and all(is_nonnegative(each, depth - 1) for each in operands)
    if name == "Clip":
        bounds = (operands[:2], operands[2:])
        return all(any(is_positive(x, depth - 1) for x in each) for each in bounds if each)
    if name == "Max":
        return any(is_positive(each, depth - 1) for each in operands)
    if name in ("Sqrt", "Abs", "Pow"):
        return is_positive(operands[0], depth - 1)
    is_combined = name in _COMBINED and name != "MatMul"
    return is_combined and all(is_positive(x, depth - 1) for x in operands[_COMBINED[name]])


def _may_wrap_around(value: SSAValue, depth: int) -> bool:
    """Whether integers are others than of sizes, whose products and sums leave what 64 bits hold."""
    type: Any = value.type
    element = getattr(type, "element_type", None)
    if not isinstance(element, IntegerType) or element.width.data == 1:
        return False
    name, operands = _made_by(value)
    if name in ("Shape", "Size") or numbers_of(value) is not None:
        return False
    if depth == 0 or name not in {*_COMBINED, "Max"}:
        return True
    parts = operands[_COMBINED.get(name, slice(None))]
    return any(_may_wrap_around(each, depth - 1) or _is_float(each) for each in parts)


def _is_float(value: SSAValue) -> bool:
    return isinstance(getattr(value.type, "element_type", None), AnyFloat)


def _made_by(value: SSAValue) -> tuple[str, tuple[SSAValue, ...]]:
    """The operator that a value comes from, and its operands."""
    name = getattr(value.owner, "name", "").removeprefix("onnx.")
    return name, tuple(getattr(value.owner, "operands", ()))


def numbers_of(value: SSAValue) -> tuple[float, ...] | None:
    """The elements of a constant; None of what is none."""
    constant = getattr(value.owner, "properties", {}).get("value")
    if not isinstance(constant, DenseIntOrFPElementsAttr):
        return None
    return tuple(map(float, constant.get_values()))
