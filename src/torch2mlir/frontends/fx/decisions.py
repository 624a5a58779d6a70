"""What Python code asks of sizes while PyTorch traces it, and which answer it went on with.

PyTorch traces sizes that vary as if they were 2 or more, and takes an answer that all such sizes give for a fact:
nothing in the traced program says that ``if x.shape[0] > 1`` was there. Its own machinery asks all the time (is this
contiguous?) and is right about 0 and 1; the code of a model or of a decomposition is another program for them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock
from types import FrameType
from typing import Any

import sympy
import torch
from torch.utils._sympy.functions import Mod, PythonMod
from torch.utils._sympy.printers import PythonPrinter

from torch2mlir.program import Decision

_PYTORCH = os.path.dirname(torch.__file__) + os.sep
_MODELS = tuple(_PYTORCH + name for name in ("nn" + os.sep, "functional.py"))
"""The part of PyTorch that is written as models are."""
_LAYOUTS = os.path.join("torch", "_prims_common", "__init__.py")
"""Where PyTorch asks whether a tensor is contiguous."""
_FORMULAS = (_PYTORCH + "_decomp" + os.sep, os.sep.join(("torch2mlir", "transforms", "decomp")))


def by_model(file: str) -> bool:
    """Whether code in a file is part of models."""
    return file.startswith(_MODELS) or not file.startswith((_PYTORCH, __file__))


def by_decomposition(file: str) -> bool:
    """Whether code in a file says what an op is made of."""
    return any(part in file for part in _FORMULAS)


@dataclass(frozen=True)
class Asked:
    """A question about sizes.

    Attributes:
        expression: of sympy, over symbols.
        answer: what the code went on with.
        place: the line that asked.
    """

    expression: Any
    answer: bool
    place: str

    @property
    def is_about_nothing(self) -> bool:
        """Whether it tells empty tensors from others: for them, code returns early what is empty anyway."""
        return isinstance(self.expression, sympy.Eq | sympy.Ne) and 0 in self.expression.args

    def decision(self) -> Decision:
        """It for the program of the model that asked."""
        return self._decision({s: s.name for s in self.expression.free_symbols}, self.place, True)

    def decision_of_op(self, names: Mapping[sympy.Symbol, str], place: str | None) -> Decision:
        """It for a program with an op whose decomposition asked.

        Args:
            names: what the program calls symbols.
            place: the line of the op.
        """
        return self._decision(names, place or self.place, False)

    def _decision(self, names: Mapping[sympy.Symbol, str], place: str, of_model: bool) -> Decision:
        known = {s: names.get(s, s.name) for s in self.expression.free_symbols}
        named = self.expression.xreplace({s: _integer(name) for s, name in known.items()})
        shown = _Printer().doprint(named)
        return Decision(shown, self.answer, tuple(sorted(known.values())), place, of_model)


class _Printer(PythonPrinter):
    """Writes expressions with Python's functions where PyTorch's printer takes its own, of symbolic numbers."""

    def _print_ToFloat(self, expression: sympy.Expr) -> str:
        return f"float({self._print(expression.args[0])})"

    def _helper_sqrt(self, expression: sympy.Expr) -> str:
        return f"math.sqrt({self._print(expression)})"


def _integer(name: str) -> sympy.Symbol:
    return sympy.Symbol(name, integer=True)


def decisions_of(exported: torch.export.ExportedProgram) -> list[Decision]:
    """What PyTorch remembers of its tracing: what the model's code asked, and what ops need of sizes."""
    return [question.decision() for question in _guards(exported)]


def _guards(exported: torch.export.ExportedProgram) -> Iterator[Asked]:
    """What PyTorch remembers of its tracing, less what it asks about layouts, which values do not have."""
    sizes: Iterator[Any] = (
        size
        for node in exported.graph.nodes
        if isinstance(fake := node.meta.get("val"), torch.Tensor)
        for size in fake.shape
        if isinstance(size, torch.SymInt)
    )
    first = next(sizes, None)
    for guard in () if first is None else first.node.shape_env.guards:
        frame = guard.sloc.framework_loc
        asked_by_model = frame is not None and by_model(frame.filename)
        if asked_by_model or _is_needed(guard.expr, frame):
            place = f"{frame.filename}:{frame.lineno}" if asked_by_model else ""
            yield Asked(guard.expr, True, place)


def _is_needed(expression: sympy.Basic, frame: Any) -> bool:
    """Whether an op needs it: sizes that are equal, that divide others, or that are inside of others."""
    if isinstance(expression, sympy.Eq) or expression.has(Mod, PythonMod):
        return True
    is_order = isinstance(expression, sympy.Ge | sympy.Gt | sympy.Le | sympy.Lt)
    return is_order and frame is not None and not frame.filename.endswith(_LAYOUTS)


@dataclass(frozen=True)
class _Recorder:
    wants: Callable[[str], bool]
    found: dict[tuple[Any, str], Asked]


_RECORDER: ContextVar[_Recorder | None] = ContextVar("recorder", default=None)
_NOTES: ContextVar[list[Decision] | None] = ContextVar("notes", default=None)


@contextmanager
def asked_by(wants: Callable[[str], bool]) -> Iterator[dict[tuple[Any, str], Asked]]:
    """While this lasts, what is asked by code in files that are wanted is collected, each question once."""
    global _recorders
    recorder = _Recorder(wants, {})
    token = _RECORDER.set(recorder)
    with _LOCK:
        _recorders += 1
        torch.SymBool.__bool__ = _telling  # type: ignore[method-assign]
    try:
        yield recorder.found
    finally:
        _RECORDER.reset(token)
        with _LOCK:
            _recorders -= 1
            if not _recorders:
                torch.SymBool.__bool__ = _TRUTH  # type: ignore[method-assign]


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


_TRUTH = torch.SymBool.__bool__
_LOCK = Lock()
_recorders = 0
"""How many there are in all threads: PyTorch's symbolic truth values tell as long as there is one."""


def _telling(asked: torch.SymBool) -> bool:
    answer = _TRUTH(asked)
    recorder = _RECORDER.get()
    if recorder is not None:
        _record(recorder, asked, answer, sys._getframe(1))
    return answer


def _record(
    recorder: _Recorder, asked: torch.SymBool, answer: bool, frame: FrameType | None
) -> None:
    while frame is not None and frame.f_code.co_filename == torch.__file__:
        frame = frame.f_back  # SymInt.__bool__ asks on behalf of its caller
    if frame is None or not recorder.wants(frame.f_code.co_filename):
        return
    expression = asked.node.expr
    if isinstance(expression, sympy.Basic) and expression.free_symbols:
        place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        recorder.found.setdefault((expression, place), Asked(expression, answer, place))
