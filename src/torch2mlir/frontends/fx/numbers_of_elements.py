"""What Python computes with ``x[0].item()`` of floats: PyTorch's symbols take it for a real number.

There ``a - a`` is 0 and ``a == a`` true, of infinities and NaN too, ``(a + 1e20) - 1e20`` is ``a``, and the graph has
the constant. A symbol for every result leaves what Python does in the graph, operation by operation.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any
from unittest import mock
from weakref import WeakKeyDictionary

import sympy
import torch
from torch.fx import Graph
from torch.fx.experimental.proxy_tensor import get_proxy_mode
from torch.fx.experimental.sym_node import SymNode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils._sympy.symbol import SymT, symbol_is_type

from torch2mlir.errors import CaptureError
from torch2mlir.frontends.fx.deferred_asserts import all_asserts_written

_NUMBERS = ("add", "sub", "mul", "mod", "float_truediv", "float_pow", "sym_min", "sym_max")
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_INTEGERS = ("trunc", "floor", "ceil", "round")
_MESSAGE = "a number read from a tensor is not as the program needs it: a check of it does not hold"
_OWN_COMPARISON = "SymNodeVariable.create"
"""Where Dynamo compares a number with itself, which is no question of the program's."""
_POWERS = ("SymFloat.__pow__", "SymFloat.__rpow__")
"""Where PyTorch asks for numbers that are not negative; the importer asks for what Python does."""


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
    patches |= {name: _rounded(name, getattr(SymNode, name), results) for name in _INTEGERS}
    patches["expect_true"] = _checked(SymNode.expect_true, results)
    with ExitStack() as stack:
        stack.enter_context(all_asserts_written())
        for name, patch in patches.items():
            stack.enter_context(mock.patch.object(SymNode, name, patch))
        yield


def forget_results(graph: Graph) -> None:
    """Takes out that Python's operations have given numbers of their own: only operators read them from tensors."""
    for node in graph.nodes:
        if not isinstance(node.target, torch._ops.OperatorBase):
            node.meta.pop("unbacked_bindings", None)


class _Results:
    """The symbols of what is computed: one for each operation and its operands."""

    def __init__(self) -> None:
        self._of = WeakKeyDictionary[ShapeEnv, dict[_Computation, SymNode]]()
        self._said = WeakKeyDictionary[ShapeEnv, dict[sympy.Basic, sympy.Basic]]()
        self._integers = WeakKeyDictionary[ShapeEnv, set[sympy.Basic]]()

    def of(self, environment: ShapeEnv, computation: _Computation, real: sympy.Basic) -> SymNode:
        """The symbol of a computation, of which PyTorch's own expression is ``real``."""
        nodes = self._of.setdefault(environment, {})
        if computation not in nodes:
            name = computation[0]
            with environment.ignore_fresh_unbacked_symbols():
                if name in _NUMBERS:
                    new: SymNode = environment.create_unbacked_symfloat().node
                elif name in _COMPARISONS:
                    new = environment.create_unbacked_symbool().node
                else:
                    new = environment.create_unbacked_symint().node
            nodes[computation] = new
            said = self._said.setdefault(environment, {})
            said[new.expr] = real
            if name in _COMPARISONS:
                said[sympy.Not(new.expr)] = sympy.Not(real)
            elif name in _INTEGERS:
                self._integers.setdefault(environment, set()).add(new.expr)
        return nodes[computation]

    def has_integer(self, condition: SymNode) -> bool:
        """Whether a condition is about one of the integers."""
        environment = condition.shape_env
        integers = set() if environment is None else self._integers.get(environment, set())
        return not integers.isdisjoint(condition.expr.free_symbols)

    def said_of(self, condition: SymNode) -> sympy.Basic | None:
        """A condition in PyTorch's own words if it has one of the symbols, or None."""
        environment = condition.shape_env
        said = None if environment is None else self._said.get(environment)
        expression = condition.expr
        while said and (new := expression.xreplace(said)) != expression:
            expression = new
        return None if expression == condition.expr else expression


_Computation = tuple[str, sympy.Basic, sympy.Basic]


def _computed(name: str, original: Callable[..., SymNode], results: _Results) -> Callable[..., Any]:
    def method(self: SymNode, other: SymNode) -> SymNode:
        result = original(self, other)
        environment = result.shape_env
        if environment is None or not (_is_of_elements(self) or _is_of_elements(other)):
            return result
        if name in ("eq", "ne") and _calls_from(_OWN_COMPARISON, calls=4):
            return result
        return results.of(environment, (name, self.expr, other.expr), result.expr)

    return method


def _rounded(name: str, original: Callable[..., SymNode], results: _Results) -> Callable[..., Any]:
    def method(self: SymNode, *digits: int | None) -> SymNode:
        result = original(self, *digits)
        environment = result.shape_env
        if environment is None or result.pytype is not int or not _is_of_elements(self):
            return result
        return results.of(environment, (name, self.expr, self.expr), result.expr)

    return method


def _calls_from(name: str, calls: int) -> bool:
    """Whether a function of PyTorch's is up to so many calls above."""
    frame: FrameType | None = sys._getframe(2)
    for _ in range(calls):
        if frame is None:
            return False
        if frame.f_code.co_qualname == name:
            return True
        frame = frame.f_back
    return False


def _checked(original: Callable[..., bool], results: _Results) -> Callable[..., bool]:
    """``expect_true``; where nothing is traced Dynamo looks on, and remembers the check in PyTorch's words."""

    def expect_true(self: SymNode, file: str, line: int) -> bool:
        said = results.said_of(self)
        if said is None:
            return original(self, file, line)
        if any(_calls_from(power, calls=8) for power in _POWERS):
            return True
        if results.has_integer(self):  # a size, which PyTorch has to know the bounds of
            original(self, file, line)
        if get_proxy_mode() is not None:
            torch.ops.aten._assert_scalar.default(torch.SymBool(self), _MESSAGE)
            return True
        if not said.free_symbols:
            raise CaptureError(
                "the program checks a number read from a tensor in a way that only tells NaN or infinities apart",
                hint="compare tensors, x != x or x.isfinite(), and check what they are with torch._assert_async",
            )
        assert self.shape_env is not None
        return self.shape_env.guard_or_defer_runtime_assert(said, f"{file}:{line}")

    return expect_true


def _is_of_elements(node: SymNode) -> bool:
    """Whether a number is a float that depends on one that only the program has."""
    return node.pytype is float and any(
        symbol_is_type(s, SymT.UNBACKED_FLOAT) for s in node.expr.free_symbols
    )
