"""What is known of the sizes of a program: what it was captured for, and what its ops need."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import sympy
import torch
from torch.fx import Graph, Node
from torch.utils._sympy.functions import Mod, PythonMod

from torch2mlir.dialects.locations import describe
from torch2mlir.frontends.fx.locations import of_node
from torch2mlir.frontends.fx.mutation import written_if_shared
from torch2mlir.frontends.fx.questions import Asked, by_capture, by_model
from torch2mlir.program import Decision

_LAYOUTS = os.path.join("torch", "_prims_common", "__init__.py")
"""Where PyTorch asks whether a tensor is contiguous."""
_NOTES: ContextVar[list[Decision] | None] = ContextVar("notes", default=None)


def decisions_of(exported: torch.export.ExportedProgram) -> list[Decision]:
    """What PyTorch remembers of its tracing: what the model's code asked, and what ops need of sizes."""
    return [question.decision() for question in _guards(exported)]


def fixed_sizes(nodes: Iterable[Node]) -> dict[sympy.Expr, int]:
    """The expressions of sizes that tracing took for a number, and which; where one is not, it is another program.

    The sizes of values have them still: ``x[:, 4::2] + torch.arange(2)`` is of one row of ``(n - 3) // 2`` elements and
    one of 2, and nothing but the guard says whether the first is repeated or as long as the second.
    """
    return {
        expression: int(number)
        for guard in _all_guards(nodes)
        if isinstance(guard.expr, sympy.Eq)
        for expression, number in (guard.expr.args, guard.expr.args[::-1])
        if isinstance(number, sympy.Integer) and expression.free_symbols
    }


def decisions_on_layouts(graph: Graph) -> list[Decision]:
    """What decides whether calls in a graph share memory with their operand or copy it, where that memory is written.

    A transposed matrix of one row lies in memory as its elements are read, and ``x.t().reshape(-1)`` is a view of it;
    PyTorch traces sizes that vary as if none were 1.
    """
    found, nodes = list[Decision](), written_if_shared(graph)
    for node in nodes:
        value = node.args[0].meta.get("val") if isinstance(node.args[0], Node) else None
        if not isinstance(value, torch.Tensor):
            continue
        expressions = {
            n.node.expr for n in (*value.shape, *value.stride()) if isinstance(n, torch.SymInt)
        }
        expressions |= {symbol for each in expressions for symbol in each.free_symbols}
        place = describe(of_node(node.meta)) or ""
        found += [
            Asked(each >= 2, True, place).decision() for each in expressions if each.free_symbols
        ]
    if found:
        found += [Asked(guard.expr, True, "").decision() for guard in _all_guards(nodes)]
    return list(dict.fromkeys(found))


def _all_guards(nodes: Iterable[Node]) -> Sequence[Any]:
    """What PyTorch remembers of the tracing of a graph."""
    sizes: Iterator[Any] = (
        size
        for node in nodes
        if isinstance(fake := node.meta.get("val"), torch.Tensor)
        for size in fake.shape
        if isinstance(size, torch.SymInt)
    )
    first = next(sizes, None)
    return () if first is None else first.node.shape_env.guards


def _guards(exported: torch.export.ExportedProgram) -> Iterator[Asked]:
    """What PyTorch remembers of its tracing, less what it asks about layouts, which values do not have."""
    for guard in _all_guards(exported.graph.nodes):
        frame = guard.sloc.framework_loc
        asked_by_model = frame is not None and by_model(frame.filename)
        asked_by_op = frame is not None and by_capture(frame.filename)
        if asked_by_model or asked_by_op or _is_needed(guard.expr, guard):
            place = f"{frame.filename}:{frame.lineno}" if asked_by_model else ""
            yield Asked(guard.expr, True, place)


def _is_needed(expression: sympy.Basic, guard: Any) -> bool:
    """Whether an op needs it: sizes that are equal, that divide others, or that are inside of others."""
    if isinstance(expression, sympy.Eq) or expression.has(Mod, PythonMod):
        return True
    is_order = isinstance(expression, sympy.Ge | sympy.Gt | sympy.Le | sympy.Lt)
    return is_order and guard.sloc.framework_loc is not None and not is_about_layouts(guard)


def is_about_layouts(guard: Any) -> bool:
    """Whether PyTorch asked for the layout of a tensor, which values do not have."""
    frame = guard.sloc.framework_loc
    return frame is not None and frame.filename.endswith(_LAYOUTS)


@contextmanager
def noted(decisions: list[Decision]) -> Iterator[None]:
    """While this lasts, passes add what decompositions asked to ``decisions``."""
    token = _NOTES.set(decisions)
    try:
        yield
    finally:
        _NOTES.reset(token)


def known() -> Sequence[Decision]:
    """What is known of the sizes of the program that is lowered."""
    return _NOTES.get() or ()


def note(decision: Decision) -> None:
    """Adds a decision to those of the program that is lowered."""
    if (notes := _NOTES.get()) is not None:
        notes.append(decision)
