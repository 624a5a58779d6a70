"""PyTorch's deferred runtime asserts, written for integers of floats too.

What an ``assert`` or ``torch._check`` asks of a number that elements decide PyTorch remembers as an expression of its
symbols, and writes into the graph where they are read. It leaves out, in silence, what converts between integers and
floats: ``assert int(x.sum()) > 3``, ``assert n * 0.5 > 2``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

from torch.fx import Proxy
from torch.fx.experimental import symbolic_shapes
from torch.utils._sympy.reference import PythonReferenceAnalysis


@contextmanager
def all_asserts_written() -> Iterator[None]:
    """While it holds, PyTorch has Python's functions for every conversion and leaves no assert out."""
    with ExitStack() as stack:
        for function in (math.trunc, math.floor, math.ceil, round):
            name, method = f"__{function.__name__}__", _in_graph(function)
            stack.enter_context(mock.patch.object(Proxy, name, method, create=True))
        in_python = staticmethod(lambda number, dtype: math.trunc(number))
        stack.enter_context(mock.patch.object(PythonReferenceAnalysis, "trunc_to_int", in_python))
        leaves_out = "_has_uninterpretable_sympy_function"
        stack.enter_context(
            mock.patch.object(symbolic_shapes, leaves_out, lambda expression: False)
        )
        yield


def _in_graph(function: Callable[..., Any]) -> Callable[[Proxy], Proxy]:
    """What makes a node of a function's call."""

    def call(self: Proxy) -> Proxy:
        return self.tracer.create_proxy("call_function", function, (self,), {})

    return call
