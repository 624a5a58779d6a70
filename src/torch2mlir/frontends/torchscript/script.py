"""From what a user has, a module, a function, a file, to TorchScript and to a program of the torch dialect."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils import _pytree as pytree
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from torch2mlir.dialects import make_context
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim
from torch2mlir.dialects.torch.symbols import bind_shape
from torch2mlir.errors import CaptureError, Torch2MLIRError
from torch2mlir.frontends.torchscript import objects
from torch2mlir.frontends.torchscript.example_args import ExampleArgs
from torch2mlir.frontends.torchscript.objects import ScriptObject
from torch2mlir.frontends.torchscript.types import TypeImporter
from torch2mlir.frontends.torchscript.writes import refuse_writes
from torch2mlir.program import ConstantOutput, Output, Program, Signature, UserInput, UserOutput

_INT64_MAX = 2**63 - 1

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
        with _exported(model, example_args.methods):
            return objects.script_object(torch.jit.script(model))


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
        for method in bounds:
            if script.cpp_module._has_method(method):
                refuse_writes(script.cpp_module._get_method(method).inlined_graph, method)
        return objects.import_object(script, bounds, types)
    if len(bounds) != 1:
        raise CaptureError("a function is one method, example arguments are given for several")
    ((name, arguments),) = bounds.items()
    refuse_writes(script.inlined_graph, name)
    return objects.import_function(script, name, arguments, types)


def script_program(
    script: Script, example_args: ExampleArgs, ignore_traced_shapes: bool = False
) -> Program:
    """The functions of a TorchScript program, with global slots for what objects keep, and how ``forward`` is called.

    Without a method of this name it is the first that has example arguments.
    """
    from torch2mlir.transforms import pipelines
    from torch2mlir.transforms.prepare_for_globalize_object_graph import (
        PrepareForGlobalizeObjectGraphPass,
    )

    module = import_script(script, example_args, ignore_traced_shapes)
    first: tuple[type[ModulePass], ...] = (
        pipelines.TorchscriptModuleToTorchBackendPipeline.first
        if isinstance(script, ScriptObject)
        # calls of functions that are values become calls by name, which can be inlined
        else (
            PrepareForGlobalizeObjectGraphPass,
            *pipelines.TorchFunctionToTorchBackendPipeline.first,
        )
    )
    for each in first:
        each().apply(make_context(), module)
    methods = list(example_args.methods)
    name = "forward" if "forward" in methods else methods[0]
    entry: FuncOp | None = None
    ranges = dict[str, tuple[int, int]]()
    for function in module.ops:
        if isinstance(function, FuncOp) and function.sym_name.data in methods:
            ranges |= _bind_symbols(function)
            if function.sym_name.data == name:
                entry = function
    if entry is None:
        raise CaptureError(f"the program has no function '{name}'")
    schema: Any
    if isinstance(script, ScriptObject):
        schema = script.cpp_module._get_method(name).schema
        names = [argument.name for argument in schema.arguments][1:]
    else:
        schema = script.schema
        names = [argument.name for argument in schema.arguments]
    signature = _signature(names, schema, entry)
    signature.ranges = ranges
    return Program(module, signature, name)


def _bind_symbols(function: FuncOp) -> dict[str, tuple[int, int]]:
    """Declares the symbols of the arguments' sizes."""
    block = function.body.block
    names = dict.fromkeys(
        name
        for argument in block.args
        if isinstance(argument.type, t.AnyTensorType)
        for size in argument.type.sizes or ()
        if isinstance(size, Dim)
        for name in size.symbols()
    )
    declared = dict[str, SSAValue]()
    ops = list[Operation]()
    for name in names:
        op = core.SymbolicIntOp.of(name, 0, _INT64_MAX)
        ops.append(op)
        declared[name] = op.results[0]
    ops += [bind for a in block.args if (bind := bind_shape(a, declared)) is not None]
    if ops and block.first_op is not None:
        block.insert_ops_before(ops, block.first_op)
    return {name: (0, _INT64_MAX) for name in names}


def _signature(names: Sequence[str], schema: Any, entry: FuncOp) -> Signature:
    """How a method is called from Python."""
    signature = Signature()
    for position, (name, argument) in enumerate(zip(names, entry.body.block.args, strict=True)):
        type = argument.type if isinstance(argument.type, t.ValueTensorType) else None
        signature.inputs.append(UserInput(name, position, type))
    signature.in_spec = pytree.tree_structure(((0,) * len(names), {}))
    (returned,) = schema.returns
    template = _result_template(returned.type, signature.outputs)
    signature.out_spec = pytree.tree_structure(template)
    return signature


def _result_template(type: Any, outputs: list[Output]) -> Any:
    """What a method returns, with zeros for values; ``outputs`` gets what they are."""
    if type.kind() == "TupleType":
        return tuple(_result_template(member, outputs) for member in type.elements())
    if type.kind() == "NoneType":
        outputs.append(ConstantOutput(None))
    else:
        is_number = type.kind() in ("IntType", "FloatType", "BoolType", "NumberType")
        outputs.append(UserOutput(None if is_number else t.vtensor(None, None)))
    return 0
