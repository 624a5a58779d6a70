"""TorchScript programs as MLIR: the interface of ``torch_mlir.torchscript``.

import torch2mlir.torchscript as torchscript

module = torchscript.compile(model, torch.ones(2, 3), output_type="stablehlo")
print(module)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

from torch2mlir.api import export_and_import
from torch2mlir.compiler_utils import OutputType
from torch2mlir.errors import CaptureError
from torch2mlir.frontends.torchscript.example_args import ExampleArgs, Examples, TensorPlaceholder
from torch2mlir.frontends.torchscript.script import ScriptModel, import_script, to_script
from torch2mlir.garbage import paused_garbage_collection
from torch2mlir.module import MlirModule
from torch2mlir.program import Program, Signature
from torch2mlir.scripted import script_program

__all__ = [
    "BACKEND_LEGAL_OPS",
    "ExampleArgs",
    "OutputType",
    "TensorPlaceholder",
    "capture",
    "compile",
]

BACKEND_LEGAL_OPS: dict[OutputType, list[str]] = {
    OutputType.TOSA: [],
    OutputType.LINALG_ON_TENSORS: [],
    OutputType.STABLEHLO: [],
}
"""Ops kept whole for each dialect: none, every lowering takes the core ops."""


def capture(
    model: ScriptModel,
    example_args: Examples | ExampleArgs,
    use_tracing: bool = False,
    ignore_traced_shapes: bool = False,
) -> Program:
    """A model as a program that ``torch2mlir.compile`` runs.

    Args:
        model: a module, scripted, traced, loaded or not; a function; or the path of a file of ``torch.jit.save``.
        example_args: tensors or :class:`TensorPlaceholder` for the arguments of ``forward``, or
            :class:`ExampleArgs` for several methods. They are promises: calls with others are refused.
        use_tracing: ``torch.jit.trace`` it; by default it is scripted.
        ignore_traced_shapes: the trace is right for other shapes too.

    Raises:
        CaptureError: it cannot be scripted, traced or imported.
    """
    _check(use_tracing, ignore_traced_shapes, model)
    examples = ExampleArgs.get(example_args)
    script = to_script(model, examples, use_tracing, ignore_traced_shapes)
    with paused_garbage_collection():
        program = script_program(script, examples, ignore_traced_shapes)
    program.model = None if isinstance(model, str | os.PathLike) else model
    return program


def compile(
    model: ScriptModel,
    example_args: Examples | ExampleArgs,
    output_type: str | OutputType = OutputType.TORCH,
    use_tracing: bool = False,
    ignore_traced_shapes: bool = False,
    backend_legal_ops: Sequence[str] | None = None,
    extra_library: Iterable[Callable[..., Any]] = (),
    verbose: bool = False,
    use_make_fx: bool = False,
    enable_ir_printing: bool = False,
) -> MlirModule:
    """A model, by way of TorchScript, as MLIR.

    Args:
        model: as in :func:`capture`.
        example_args: as in :func:`capture`.
        output_type: ``raw`` (the object graph), ``torch``, ``linalg-on-tensors``, ``tosa``, ``stablehlo`` or ``mhlo``.
        use_tracing: ``torch.jit.trace`` it; by default it is scripted.
        ignore_traced_shapes: the trace is right for other shapes too.
        backend_legal_ops: ops to keep whole; only with the output type ``torch``.
        extra_library: not here: say what an op of your own is with ``torch2mlir.decomposition``.
        verbose: print the module on standard output too.
        use_make_fx: trace with ``make_fx`` first.
        enable_ir_printing: not here: ``torch2mlir-opt --print-ir-after-all`` prints what passes do.

    Raises:
        CaptureError: it cannot be scripted, traced or imported.
        BackendContractError: an op is not core and cannot be decomposed.
        UnsupportedOpError: a core op has no lowering to the output type.
    """
    target = OutputType.get(output_type)
    if backend_legal_ops is not None and target is not OutputType.TORCH:
        raise CaptureError(
            "backend_legal_ops is only for the output type 'torch'",
            hint="other dialects take a lowering of your own: @torch2mlir.lowering(..)",
        )
    if list(extra_library):
        raise CaptureError(
            "extra_library is not supported: shapes and dtypes of ops come from PyTorch",
            hint="say what an op of your own is in other ops with @torch2mlir.decomposition(..)",
        )
    if enable_ir_printing:
        raise CaptureError(
            "enable_ir_printing is not supported",
            hint="save str(compile(.., output_type='raw')) and run torch2mlir-opt --print-ir-after-all on it",
        )
    _check(use_tracing, ignore_traced_shapes, model)
    examples = ExampleArgs.get(example_args)
    if use_make_fx:
        model = _through_make_fx(model, examples)
    script = to_script(model, examples, use_tracing, ignore_traced_shapes)
    if target is OutputType.RAW:
        module = import_script(script, examples, ignore_traced_shapes)
        result = MlirModule(Program(module, Signature()))
    else:
        with paused_garbage_collection():
            program = script_program(script, examples, ignore_traced_shapes)
        result = export_and_import(
            program,
            output_type=target.value,
            backend_legal_ops=backend_legal_ops or BACKEND_LEGAL_OPS.get(target, []),
        )
    if verbose:
        print(result)
    return result


def _check(use_tracing: bool, ignore_traced_shapes: bool, model: ScriptModel) -> None:
    scripted = isinstance(model, str | torch.jit.ScriptModule | torch.jit.ScriptFunction)
    if ignore_traced_shapes and not use_tracing and not scripted:
        raise CaptureError(
            "ignore_traced_shapes is only for traced programs: pass use_tracing=True"
        )


def _through_make_fx(model: Any, examples: ExampleArgs) -> torch.fx.GraphModule:
    """The ATen calls of ``forward``, as a module that can be scripted."""
    from torch._functorch.compile_utils import strip_overloads
    from torch.fx.experimental.proxy_tensor import make_fx

    graph = make_fx(model)(*examples.for_tracing(ignore_traced_shapes=True)["forward"])
    strip_overloads(graph)
    return graph
