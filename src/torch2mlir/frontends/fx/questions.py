"""What Python code asks of sizes while PyTorch traces it, and which answer it went on with.

PyTorch traces sizes that vary as if they were 2 or more, and takes an answer that all such sizes give for a fact:
nothing in the traced program says that ``if x.shape[0] > 1`` was there. Its own machinery asks all the time (is this
contiguous?) and is right about 0 and 1; the code of a model or of a decomposition is another program for them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from threading import Lock
from types import FrameType
from typing import Any

import sympy
import torch
from torch.utils._sympy.printers import PythonPrinter

from torch2mlir.program import Decision

_PYTORCH = os.path.dirname(torch.__file__) + os.sep
_OWN = os.path.dirname(os.path.dirname(os.path.dirname(__file__))) + os.sep
_MODELS = tuple(_PYTORCH + name for name in ("nn" + os.sep, "functional.py"))
"""The part of PyTorch that is written as models are."""
_TRACING = ("overrides.py", "_export" + os.sep, os.path.join("fx", "experimental", ""))
_BETWEEN = (torch.__file__, _OWN, *(_PYTORCH + name for name in _TRACING))
"""What stands between a function of PyTorch's that asks and the code that has called it."""
_FORMULAS = (_PYTORCH + "_decomp" + os.sep, os.sep.join(("torch2mlir", "transforms", "decomp")))


def by_model(file: str) -> bool:
    """Whether code in a file is part of models."""
    return file.startswith(_MODELS) or not file.startswith((_PYTORCH, _OWN))


def is_called_by_model(frame: FrameType | None) -> bool:
    """Whether a model has called a function, through what stands between the two while it is traced."""
    while frame is not None and frame.f_code.co_filename.startswith(_BETWEEN):
        frame = frame.f_back
    return frame is not None and by_model(frame.f_code.co_filename)


def by_capture(file: str) -> bool:
    """Whether code in a file calls ops on behalf of a model."""
    return file.startswith(_OWN)


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

    def decision_of_op(
        self, names: Mapping[sympy.Symbol, str], place: str | None, matters: bool = False
    ) -> Decision:
        """It for a program with an op whose decomposition asked.

        Args:
            names: what the program calls symbols.
            place: the line of the op.
            matters: whether nothing shows that the other answer leads to the same.
        """
        return self._decision(names, place or self.place, matters)

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


@dataclass(frozen=True)
class _Recorder:
    wants: Callable[[str], bool]
    found: dict[tuple[Any, str], Asked]
    with_settled: bool

    def record(self, expression: Any, answer: bool, frame: FrameType | None) -> None:
        """Notes a question that code asked in a frame, or code of PyTorch's on its behalf: ``torch.sym_max``."""
        if frame is not None and frame.f_code.co_filename == torch.__file__:
            while frame is not None and frame.f_code.co_filename.startswith(_BETWEEN):
                frame = frame.f_back
        if frame is None or not self.wants(frame.f_code.co_filename):
            return
        if isinstance(expression, sympy.Basic) and expression.free_symbols:
            place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
            self.found.setdefault((expression, place), Asked(expression, answer, place))


_RECORDER: ContextVar[_Recorder | None] = ContextVar("recorder", default=None)
_LOCK = Lock()
_recorders = 0
"""How many there are in all threads: PyTorch's symbolic numbers tell as long as there is one."""


@contextmanager
def asked_by(
    wants: Callable[[str], bool], with_settled: bool = False
) -> Iterator[dict[tuple[Any, str], Asked]]:
    """While this lasts, what is asked by code in files that are wanted is collected, each question once.

    Args:
        wants: whether a file is.
        with_settled: also what is no question for PyTorch, because no size is 0: ``max(n - 1, 0)``.
    """
    global _recorders
    recorder = _Recorder(wants, {}, with_settled)
    token = _RECORDER.set(recorder)
    with _LOCK:
        _recorders += 1
        _install(_TELLING)
    try:
        yield recorder.found
    finally:
        _RECORDER.reset(token)
        with _LOCK:
            _recorders -= 1
            if not _recorders:
                _install(_SILENT)


Methods = Mapping[tuple[type, str], Callable[..., Any]]


def _install(methods: Methods) -> None:
    for (owner, name), method in methods.items():
        setattr(owner, name, method)


def _truth(original: Callable[..., bool]) -> Callable[..., bool]:
    def telling(asked: torch.SymBool) -> bool:
        answer = original(asked)
        if (recorder := _RECORDER.get()) is not None:
            recorder.record(asked.node.expr, answer, sys._getframe(1))
        return answer

    return telling


def _compared(relation: Any, original: Callable[..., Any]) -> Callable[..., Any]:
    """A comparison that tells if its answer is the same for every size above 0."""

    def telling(one: torch.SymInt, other: Any) -> Any:
        result = original(one, other)
        recorder = _RECORDER.get()
        if recorder is not None and recorder.with_settled:
            found = getattr(getattr(result, "node", None), "expr", result)
            operands = [_expression(one), _expression(other)]
            if found in (True, False) and None not in operands:
                question = relation(*operands, evaluate=False)
                recorder.record(question, bool(found), sys._getframe(1))
        return result

    return telling


def _chosen(relation: Any, original: Callable[..., Any]) -> Callable[..., Any]:
    """The larger or smaller of two, or a magnitude, that tells if it is the same one for every size above 0."""

    def telling(one: torch.SymInt, *others: Any) -> Any:
        result = original(one, *others)
        recorder = _RECORDER.get()
        if recorder is not None and recorder.with_settled:
            operands = [_expression(one), *map(_expression, others or [0])]
            found = _expression(result)
            if None not in operands and found in (operands[0], operands[1], -operands[0]):
                question = relation(*operands, evaluate=False)
                recorder.record(question, found == operands[0], sys._getframe(1))
        return result

    return telling


def _divided(is_reflected: bool, original: Callable[..., Any]) -> Callable[..., Any]:
    """A division that tells what has to be another number than 0."""

    def telling(one: torch.SymInt, other: Any) -> Any:
        recorder, divisor = _RECORDER.get(), one if is_reflected else other
        if recorder is not None and recorder.with_settled and isinstance(divisor, torch.SymInt):
            question = sympy.Ne(divisor.node.expr, 0, evaluate=False)
            recorder.record(question, True, sys._getframe(1))
        return original(one, other)

    return telling


def _fixed(original: Callable[..., int]) -> Callable[..., int]:
    """A symbolic integer made a plain one, which tells what it is."""

    def telling(one: torch.SymInt) -> int:
        result = original(one)
        recorder = _RECORDER.get()
        if recorder is not None and recorder.with_settled:
            question = sympy.Eq(one.node.expr, result, evaluate=False)
            recorder.record(question, True, sys._getframe(1))
        return result

    return telling


def _hashed(original: Callable[..., int]) -> Callable[..., int]:
    """The hash of a size, as a model's dictionary asks for it, whose keys are plain integers: of which one it is."""

    def telling(one: torch.SymInt) -> int:
        frame, recorder = sys._getframe(1), _RECORDER.get()
        if one.node.expr.is_number:  # it has been asked before
            return hash(int(one.node.expr))
        if recorder is None or not recorder.wants(frame.f_code.co_filename):
            return original(one)
        result = _SILENT[torch.SymInt, "__int__"](one)
        recorder.record(sympy.Eq(one.node.expr, result, evaluate=False), True, frame)
        return hash(result)

    return telling


def _expression(number: Any) -> Any:
    """A symbolic or plain integer as sympy has it; None of others."""
    if isinstance(number, torch.SymInt):
        return number.node.expr
    return sympy.Integer(number) if type(number) is int else None


_RELATIONS = {
    "__lt__": sympy.Lt,
    "__le__": sympy.Le,
    "__gt__": sympy.Gt,
    "__ge__": sympy.Ge,
    "__eq__": sympy.Eq,
    "__ne__": sympy.Ne,
}
_CHOICES = {"__abs__": sympy.Ge, "__sym_max__": sympy.Ge, "__sym_min__": sympy.Le}
_QUOTIENTS = ("floordiv", "truediv", "mod")
_MAKERS: Mapping[tuple[type, str], Callable[[Any], Any]] = {
    (torch.SymBool, "__bool__"): _truth,
    **{(torch.SymInt, name): partial(_compared, each) for name, each in _RELATIONS.items()},
    **{(torch.SymInt, name): partial(_chosen, each) for name, each in _CHOICES.items()},
    **dict.fromkeys([(torch.SymInt, "__index__"), (torch.SymInt, "__int__")], _fixed),
    (torch.SymInt, "__hash__"): _hashed,
    **{(torch.SymInt, f"__{name}__"): partial(_divided, False) for name in _QUOTIENTS},
    **{(torch.SymInt, f"__r{name}__"): partial(_divided, True) for name in _QUOTIENTS},
}
_SILENT: Methods = {(owner, name): getattr(owner, name) for owner, name in _MAKERS}
_TELLING: Methods = {key: make(_SILENT[key]) for key, make in _MAKERS.items()}
