"""Cases as TorchScript takes them: lambdas and PyTorch's own functions as functions with a source."""

from __future__ import annotations

import ast
import inspect
import linecache
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any

from tests.e2e.registry import Case


def scriptable(case: Case) -> Any:
    """The program of a case, as a module or as a function with ``def``.

    Raises:
        OSError: there is no source to make one of.
    """
    program = case.program
    if isinstance(program, type):
        return case.model()
    if not inspect.isfunction(program):
        names = ", ".join(f"x{i}" for i in range(len(case.inputs)))
        if isinstance(program, partial) and not program.args:
            given = "".join(f", {name}={value!r}" for name, value in program.keywords.items())
            return _defined(names, f"function({names}{given})", {"function": program.func})
        return _defined(names, f"function({names})", {"function": program})
    if program.__name__ != "<lambda>":
        return program
    syntax = _lambda(program)
    names = [argument.arg for argument in syntax.args.args]
    defaults = program.__defaults__ or ()
    given = len(names) - len(defaults)
    known = {**_globals(program), **dict(zip(names[given:], defaults, strict=True))}
    return _defined(", ".join(names[:given]), ast.unparse(syntax.body), known)


def _globals(function: Callable[..., Any]) -> dict[str, Any]:
    closure = inspect.getclosurevars(function)
    return {**closure.globals, **closure.nonlocals}


def _lambda(function: Callable[..., Any]) -> ast.Lambda:
    """The syntax of a lambda: the only one on its line with these parameters."""
    code = function.__code__
    tree = ast.parse("".join(linecache.getlines(code.co_filename)))
    names = list(code.co_varnames[: code.co_argcount])
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Lambda)
        and node.lineno == code.co_firstlineno
        and [argument.arg for argument in node.args.args] == names
    ]
    if len(found) != 1:
        raise OSError(f"{len(found)} lambdas on line {code.co_firstlineno} of {code.co_filename}")
    return found[0]


def _defined(parameters: str, body: str, names: dict[str, Any]) -> Callable[..., Any]:
    """A function of this body, with a source that PyTorch finds."""
    source = f"def scripted({parameters}):\n    return {body}\n"
    file = f"<scriptable {zlib.crc32(source.encode())}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    namespace = {**names, "__name__": __name__}
    exec(compile(source, file, "exec"), namespace)
    function: Callable[..., Any] = namespace["scripted"]
    return function
