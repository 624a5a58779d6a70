"""From what a user has, a module, a function, a file, to TorchScript and to an object graph of the torch dialect."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.jit._recursive import concrete_type_store
from xdsl.dialects.builtin import ModuleOp

from torch2mlir.errors import CaptureError, Torch2MLIRError
from torch2mlir.frontends.torchscript import objects
from torch2mlir.frontends.torchscript.example_args import ExampleArgs
from torch2mlir.frontends.torchscript.objects import ScriptObject
from torch2mlir.frontends.torchscript.types import TypeImporter

ScriptModel = (
    torch.nn.Module | torch.jit.ScriptFunction | Callable[..., Any] | str | os.PathLike[str]
)
"""A module, scripted or not, a function, or the path of a file of ``torch.jit.save``."""

Script = ScriptObject | torch.jit.ScriptFunction


def to_script(
    model: ScriptModel,
    example_args: ExampleArgs,
    use_tracing: bool = False,
    ignore_traced_shapes: bool = False,
) -> Script:
    """The model as TorchScript.

    Raises:
        CaptureError: PyTorch cannot script or trace it.
    """
    if isinstance(model, str | os.PathLike):
        return objects.load_script_object(os.fspath(model))
    if isinstance(model, torch.jit.ScriptModule):
        return objects.script_object(model)
    if isinstance(model, torch.jit.ScriptFunction):
        return model
    if not callable(model):
        raise CaptureError(f"a {type(model).__name__} is no module, function or path")
    with _pytorchs_errors("trace" if use_tracing else "script"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        warnings.filterwarnings("ignore", category=FutureWarning)
        if use_tracing:
            arguments = example_args.for_tracing(ignore_traced_shapes)
            return objects.script_object(_traced(model, arguments))
        if not isinstance(model, torch.nn.Module):
            function = torch.jit.script(model)
            if not isinstance(function, torch.jit.ScriptFunction):
                raise CaptureError(
                    f"a {type(model).__name__} is no function that can be scripted",
                    hint="write it with def, or pass use_tracing=True",
                )
            return function
        with (
            _exported(model, example_args.methods),
            _failures_forgotten(model),
            _overloads_forgotten(model),
        ):
            return objects.script_object(torch.jit.script(model))


def argument_names(model: torch.jit.ScriptModule | torch.jit.ScriptFunction) -> list[str]:
    """The names of the arguments that callers of a TorchScript program pass, in order."""
    if isinstance(model, torch.jit.ScriptModule):
        forward: Any = model.forward
        return [argument.name for argument in forward.schema.arguments[1:]]
    schema: Any = model.schema
    return [argument.name for argument in schema.arguments]


@contextmanager
def _failures_forgotten(model: torch.nn.Module) -> Iterator[None]:
    """PyTorch keeps a class that it could not script half made, and the next time says only that it is there."""
    try:
        yield
    except Exception:
        store = concrete_type_store
        for kind in {type(part) for part in model.modules()} & store.type_store.keys():
            known = store.type_store[kind]
            store.type_store[kind] = [each for each in known if each in store.methods_compiled]
        raise


_OVERLOADS = "__overloads__"


@contextmanager
def _overloads_forgotten(model: torch.nn.Module) -> Iterator[None]:
    """PyTorch notes the overloads of methods in the modules, most of which have none."""
    without = [part for part in model.modules() if _OVERLOADS not in vars(part)]
    try:
        yield
    finally:
        for part in without:
            vars(part).pop(_OVERLOADS, None)


_MARK = "_torchscript_modifier"
"""Where ``torch.jit.export`` marks a function."""


@contextmanager
def _exported(model: torch.nn.Module, names: Iterable[str]) -> Iterator[None]:
    """Methods are scripted although nothing calls them, as ``torch.jit.export`` would have it."""
    marked = list[Any]()
    try:
        for name in names:
            method = getattr(model, name, None)
            if method is None:
                raise CaptureError(f"the module has no method '{name}'")
            function = getattr(method, "__func__", method)
            if name != "forward" and not hasattr(function, _MARK):
                torch.jit.export(function)
                marked.append(function)
        yield
    finally:
        for function in marked:
            delattr(function, _MARK)


def _traced(model: Any, arguments: dict[str, tuple[Any, ...]]) -> torch.jit.ScriptModule:
    if not isinstance(model, torch.nn.Module):
        model = _Caller(model)
    traced: torch.jit.ScriptModule = torch.jit.trace_module(model, arguments, check_trace=False)
    return traced


class _Caller(torch.nn.Module):
    """A function as a module that can be traced."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *args: Any) -> Any:
        return self._function(*args)


@contextmanager
def _pytorchs_errors(verb: str) -> Iterator[None]:
    """PyTorch's refusals as ours."""
    try:
        yield
    except Torch2MLIRError:
        raise
    except Exception as error:
        lines = [line for line in str(error).strip().splitlines() if line.strip()]
        reason = "\n  ".join(lines[:6]) or "no reason given"
        raise CaptureError(
            f"PyTorch cannot {verb} the model: {type(error).__name__}: {reason}",
            hint="annotate the types of arguments that are no tensors, or pass use_tracing=True"
            if verb == "script"
            else "return tensors, or tuples, lists and dicts of them, or script the model",
        ) from error


def import_script(
    script: Script, example_args: ExampleArgs, ignore_traced_shapes: bool = False
) -> ModuleOp:
    """The object graph of a TorchScript program; the methods with example arguments are exported.

    A function is one of its own, of the name that its example arguments have.
    """
    types, bounds = TypeImporter(ignore_traced_shapes), example_args.types()
    if isinstance(script, ScriptObject):
        return objects.import_object(script, bounds, types)
    if len(bounds) != 1:
        raise CaptureError("a function is one method, example arguments are given for several")
    ((name, arguments),) = bounds.items()
    return objects.import_function(script, name, arguments, types)
