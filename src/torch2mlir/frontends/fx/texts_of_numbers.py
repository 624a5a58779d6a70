"""Texts among a model's results that PyTorch's tracing has made of a number's name in place of the number."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import torch
from torch.export import ExportedProgram
from torch.fx import Graph
from torch.utils import _pytree as pytree

from torch2mlir.callers import frames_of_ours
from torch2mlir.errors import CaptureError

TEXTS = "texts_of_numbers"
"""Where a captured module's ``meta`` has the lines that make texts of numbers: ``file:line`` and the text."""
_OF_NO_MODEL = frozenset({"torch", "torch2mlir", "sympy", *sys.stdlib_module_names}) - {"__main__"}


class TextOfNumber(CaptureError):
    """A result of a model is a text of what no trace knows."""


def check_texts(program: ExportedProgram) -> None:
    """Looks whether texts in a program's results name its symbols: ``f"{x.mean().item()}"`` is ``"zuf0"``.

    Keys of dictionaries are such texts too; ``f"rows{x.shape[0]}"`` is ``"rowss33"``.

    Raises:
        TextOfNumber: one does.
    """
    results = pytree.tree_leaves(program.graph.output_node().args)
    spec = program.call_spec.out_spec
    keys = _keys(spec) if spec is not None else ()
    texts = [each for each in (*results, *keys) if isinstance(each, str)]
    names = [re.escape(name) for name in set(_symbols(program.graph))] if texts else []
    for text in texts:
        if names and re.search(rf"({'|'.join(names)})(?!\d)", text):
            raise TextOfNumber(
                "a result of the model is a text of a number that is another in every call, for which PyTorch's "
                f"trace has its own name: '{text}'",
                hint="return the number and make the text outside; torch2mlir.optimize runs such models in PyTorch",
            )


@contextmanager
def texts_noted() -> Iterator[dict[str, str]]:
    """Around a trace: the lines of a model, or of a library, that make a text of a number which a trace does not know.

    What depends on such a text (``self.parts[f"rows{n}"]``, ``if str(n) == "4"``) no check of results may show.
    """
    found = dict[str, str]()
    with ExitStack() as around:
        for kind in (torch.SymInt, torch.SymFloat, torch.SymBool):
            noting = _noting(kind.__repr__, found)
            around.enter_context(mock.patch.object(kind, "__repr__", noting))
        yield found


def _noting(original: Callable[[Any], str], found: dict[str, str]) -> Callable[[Any], str]:
    def text(self: Any) -> str:
        made = original(self)
        frame = sys._getframe(1)
        of = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if of not in _OF_NO_MODEL and not made.lstrip("-").isdigit():
            found.setdefault(f"{frame.f_code.co_filename}:{frame.f_lineno}", made)
        return made

    return text


def warn_of_texts(program: ExportedProgram) -> None:
    """Warns of texts that a model makes of numbers which vary."""
    for line, text in program.graph_module.meta.get(TEXTS, {}).items():
        warnings.warn(
            f"the model makes a text of a number that varies ({line}): in the compiled function it is '{text}', "
            "PyTorch's name for it, and what depends on the text is not what the model does (of a message nothing "
            "does). Capture that size as a fixed one, or use torch2mlir.optimize",
            stacklevel=frames_of_ours() + 1,
        )


def _keys(spec: pytree.TreeSpec) -> Iterator[object]:
    """What dictionaries of a structure have for keys."""
    if isinstance(spec.type, type) and issubclass(spec.type, dict):
        yield from pytree.tree_leaves(spec.context)
    for child in spec.children():
        yield from _keys(child)


def _symbols(graph: Graph) -> Iterator[str]:
    """The names of sizes that vary and of numbers that elements decide, also of those that only the text is made of."""
    modes = (getattr(node.meta.get("val"), "fake_mode", None) for node in graph.nodes)
    for environment in {id(mode.shape_env): mode.shape_env for mode in modes if mode}.values():
        if environment is not None:
            yield from map(str, environment.var_to_range)


def is_of_text(error: Exception) -> bool:
    """Whether a capture fails because of such a text: ``f"{x.mean().item():.1f}"`` has a format."""
    return isinstance(error, TextOfNumber) or "format string passed to Sym" in str(error)
