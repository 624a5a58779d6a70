"""TorchScript's ops on Python values, as Python says them: arithmetic, comparisons, lists of constants, strings."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

NUMBERS = ("", ".int", ".float", ".int_float", ".float_int", ".bool")
"""Overloads that differ in the kinds of numbers they take; the empty one takes any."""


def _overloads(
    namespace: str, suffixes: Iterable[str], functions: Mapping[str, Callable[..., Any]]
) -> dict[str, Callable[..., Any]]:
    return {
        f"torch.{namespace}.{name}{suffix}": function
        for name, function in functions.items()
        for suffix in suffixes
    }


_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "floordiv": operator.floordiv,
    "remainder": operator.mod,
    "neg": operator.neg,
}
_COMPARISONS: dict[str, Callable[..., Any]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
_LOGIC: dict[str, Callable[..., Any]] = {
    "__and__": operator.and_,
    "__or__": operator.or_,
    "__xor__": operator.xor,
}
_SHIFTS: dict[str, Callable[..., Any]] = {
    "__lshift__": operator.lshift,
    "__rshift__": operator.rshift,
}
_MATH = "sqrt exp log log2 log10 log1p expm1 sin cos tan asin acos atan sinh cosh tanh"
_FUNCTIONS: dict[str, Callable[..., Any]] = {name: getattr(math, name) for name in _MATH.split()}
_ROUNDING: dict[str, Callable[..., Any]] = {"ceil": math.ceil, "floor": math.floor}


def _power(base: Any, exponent: Any) -> Any:
    """Ints give an int for ``pow.int_to_int`` only; ``pow.int`` and all others are floats."""
    return math.pow(base, exponent)


def _format(template: str, *values: Any) -> str:
    return template.format(*values)


_MODES = ("torch.aten.is_grad_enabled", "torch.aten.is_autocast_enabled")
"""Ops that ask for a mode of PyTorch's: a compiled program is run in none of them."""

PYTHON_OPS: dict[str, Callable[..., Any]] = {
    **_overloads("aten", NUMBERS, _ARITHMETIC),
    **_overloads("aten", (*NUMBERS, ".str", ".device"), _COMPARISONS),
    **_overloads("aten", (".bool", ".int"), _LOGIC),
    **_overloads("aten", (".int",), _SHIFTS),
    **_overloads("aten", (".int", ".float", ".Scalar"), _FUNCTIONS),
    **_overloads("aten", (".int", ".float", ".Scalar"), _ROUNDING),
    **_overloads("aten", (".int", ".float", ".int_float", ".float_int"), {"pow": _power}),
    **_overloads("prim", NUMBERS, {"max": max, "min": min}),
    **_overloads("prim", (".self_int", ".self_float", ".self_bool"), {"max": max, "min": min}),
    **_overloads("prim", (".Scalar", ".int", ".float"), {"abs": abs}),
    **_overloads("aten", (".int_list", ".float_list", ".str_list", ".bool_list"), _COMPARISONS),
    **_overloads(
        "aten", (".int_list", ".float_list", ".str_list"), {"__contains__": operator.contains}
    ),
    **_overloads("aten", (".bool", ".int", ".float"), {"any": any, "all": all, "sum": sum}),
    "torch.aten.pow.int_to_int": operator.pow,
    "torch.aten.__not__": operator.not_,
    "torch.aten.Int.Scalar": int,
    "torch.aten.Int.float": int,
    "torch.aten.Int.bool": int,
    "torch.aten.Int.str": int,
    "torch.aten.Float.Scalar": float,
    "torch.aten.Float.int": float,
    "torch.aten.Float.bool": float,
    "torch.aten.Float.str": float,
    "torch.aten.Bool.int": bool,
    "torch.aten.Bool.float": bool,
    "torch.aten.len.str": len,
    "torch.aten.len.t": len,
    "torch.aten.__range_length": lambda low, high, step: len(range(low, high, step)),
    "torch.aten.__derive_index": lambda index, start, step: start + index * step,
    "torch.aten.format": _format,
    "torch.aten.add.str": operator.add,
    "torch.aten.str": str,
    "torch.aten.join": lambda separator, parts: separator.join(parts),
    "torch.aten.lower": str.lower,
    "torch.aten.upper": str.upper,
    "torch.aten.__getitem__.str": operator.getitem,
    "torch.prim.type": lambda device: device.partition(":")[0],
    **dict.fromkeys(_MODES, lambda: False),
}
"""Op -> what it gives for constants; errors of Python's (a division by zero) are those of the program."""

FAILURES = (ArithmeticError, ValueError, TypeError, LookupError)
"""What evaluating an op of the table may raise: then the program does so too, when it runs."""

LARGEST, SMALLEST = 2**63 - 1, -(2**63)


def is_constant(value: Any) -> bool:
    """Whether a value is one that a constant of the dialect can hold."""
    if isinstance(value, bool | float | str) or value is None:
        return True
    return isinstance(value, int) and SMALLEST <= value <= LARGEST
