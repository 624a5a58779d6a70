"""What Python computes with ``x[0].item()`` of floats: PyTorch's symbols take it for a real number.

There ``a - a`` is 0 and ``a == a`` true, of infinities and NaN too, ``(a + 1e20) - 1e20`` is ``a``, and the graph has
the constant. A symbol for every result leaves what Python does in the graph, operation by operation.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary

import sympy
import torch
from torch.fx.experimental.proxy_tensor import get_proxy_mode
from torch.fx.experimental.sym_node import SymNode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils._sympy.symbol import SymT, symbol_is_type

_NUMBERS = ("add", "sub", "mul", "mod", "float_truediv", "float_pow", "sym_min", "sym_max")
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_MESSAGE = "a number read from a tensor is not as the program needs it: a check of it does not hold"
_OWN_COMPARISON = "SymNodeVariable.create"


@contextmanager
def numbers_kept_apart() -> Iterator[None]:
    """While it holds, what is computed with numbers of elements is a number of its own.

    A check of them stands in the graph where the program makes it: PyTorch writes those it remembers behind the
    operations of ATen that give their symbols.
    """
    results = _Results()
    patches: dict[str, Callable[..., Any]] = {
        name: _computed(name, getattr(SymNode, name), results)
        for name in (*_NUMBERS, *_COMPARISONS)
    }
    patches["expect_true"] = _checked(SymNode.expect_true, results)
    originals = {name: getattr(SymNode, name) for name in patches}
    for name, patch in patches.items():
        setattr(SymNode, name, patch)
    try:
        yield
    finally:
        for name, original in originals.items():
            setattr(SymNode, name, original)


class _Results:
    """The symbols of what is computed: one for each operation and its operands."""

    def __init__(self) -> None:
        self._of = WeakKeyDictionary[ShapeEnv, dict[_Computation, SymNode]]()

    def of(self, environment: ShapeEnv, computation: _Computation) -> SymNode:
        nodes = self._of.setdefault(environment, {})
        if computation not in nodes:
            is_number = computation[0] in _NUMBERS
            with environment.ignore_fresh_unbacked_symbols():
                new = (
                    environment.create_unbacked_symfloat()
                    if is_number
                    else environment.create_unbacked_symbool()
                )
            nodes[computation] = new.node
        return nodes[computation]

    def decide(self, condition: SymNode) -> bool:
        """Whether a condition has one of the symbols."""
        environment = condition.shape_env
        nodes = {} if environment is None else self._of.get(environment, {})
        symbols = {symbol for node in nodes.values() for symbol in node.expr.free_symbols}
        return not symbols.isdisjoint(condition.expr.free_symbols)


_Computation = tuple[str, sympy.Basic, sympy.Basic]


def _computed(name: str, original: Callable[..., SymNode], results: _Results) -> Callable[..., Any]:
    def method(self: SymNode, other: SymNode) -> SymNode:
        result = original(self, other)
        environment = result.shape_env
        if environment is None or not (_is_of_elements(self) or _is_of_elements(other)):
            return result
        if name in ("eq", "ne") and _is_of_dynamo():
            return result
        return results.of(environment, (name, self.expr, other.expr))

    return method


def _is_of_dynamo() -> bool:
    """Whether Dynamo compares a number with itself, a few calls above, which is no question of the program's."""
    frame: FrameType | None = sys._getframe(2)
    for _ in range(4):
        if frame is None:
            return False
        if frame.f_code.co_qualname == _OWN_COMPARISON:
            return True
        frame = frame.f_back
    return False


def _checked(original: Callable[..., bool], results: _Results) -> Callable[..., bool]:
    def expect_true(self: SymNode, file: str, line: int) -> bool:
        if not results.decide(self):
            return original(self, file, line)
        if get_proxy_mode() is not None:
            torch.ops.aten._assert_scalar.default(torch.SymBool(self), _MESSAGE)
        return True

    return expect_true


def _is_of_elements(node: SymNode) -> bool:
    """Whether a number is a float that depends on one that only the program has."""
    return node.pytype is float and any(
        symbol_is_type(s, SymT.UNBACKED_FLOAT) for s in node.expr.free_symbols
    )
