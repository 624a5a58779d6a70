"""The road in one call: capture, backend contract, conversion, text."""

from __future__ import annotations

import gc
import inspect
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import torch
from xdsl.dialects.builtin import ModuleOp

from torch2mlir.conversion.driver import convert_module
from torch2mlir.conversion.registry import TARGETS, own_ops
from torch2mlir.conversion.stablehlo_legalize_to_hlo import StablehloLegalizeToHloPass
from torch2mlir.dialects import make_context
from torch2mlir.dialects.printer import WeightSyntax, module_text, weights_of, write_module
from torch2mlir.dialects.torch.symbols import bind_all_shapes
from torch2mlir.dialects.torch.types import ValueTensorType
from torch2mlir.errors import BackendContractError, CaptureError, Torch2MLIRError
from torch2mlir.frontends.fx.exported import import_exported_program
from torch2mlir.frontends.weights import TorchSource
from torch2mlir.program import (
    OUTPUT_TYPES,
    Program,
    SeedInput,
    StateInput,
    UserOutput,
    entry_function,
)
from torch2mlir.transforms import decompose_complex_ops, refine_types  # noqa: F401 - slow to import, needed always
from torch2mlir.transforms.lower_to_backend_contract import LowerToBackendContractPass
from torch2mlir.transforms.split_complex import SplitComplexOpsPass
from torch2mlir.transforms.weights_as_arguments import weights_as_arguments

WEIGHT_MODES = ("inline", "external", "arguments")

Model = torch.nn.Module | Callable[..., Any] | torch.export.ExportedProgram | Program


def capture(
    model: Model,
    *args: Any,
    dynamic_shapes: Any = None,
    func_name: str = "main",
    **kwargs: Any,
) -> Program:
    """The raw torch-dialect program of a model.

    Args:
        model: a module, a function of tensors, an exported program, or a program captured before.
        args: example arguments; an exported program needs none.
        dynamic_shapes: as ``torch.export.export`` takes it.
        func_name: name of the function in the module.
        kwargs: example keyword arguments.

    Raises:
        CaptureError: PyTorch cannot export the model, or the graph has no torch-dialect form.
    """
    if isinstance(model, Program):
        return model
    if isinstance(model, torch.jit.ScriptModule | torch.jit.ScriptFunction):
        return _capture_script(model, args, kwargs, dynamic_shapes)
    if not isinstance(model, torch.export.ExportedProgram):
        model = export(model, args, kwargs, dynamic_shapes)
    return import_exported_program(model, func_name)


def _capture_script(
    model: Any, args: Sequence[Any], kwargs: Mapping[str, Any], dynamic_shapes: Any
) -> Program:
    from torch2mlir.frontends.torchscript.example_args import ExampleArgs
    from torch2mlir.frontends.torchscript.program import script_program
    from torch2mlir.frontends.torchscript.script import to_script

    if kwargs or dynamic_shapes is not None:
        raise CaptureError(
            "a TorchScript program is compiled for positional arguments",
            hint="torch2mlir.torchscript.capture takes TensorPlaceholder for sizes that vary",
        )
    examples = ExampleArgs.get(list(args))
    script = to_script(model, examples)
    with paused_garbage_collection():
        return script_program(script, examples)


def export(
    model: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    dynamic_shapes: Any,
    strict: bool = False,
) -> torch.export.ExportedProgram:
    """``torch.export.export`` of a module or a function.

    Raises:
        CaptureError: it cannot be exported; with the line of the model and what to do.
    """
    if not isinstance(model, torch.nn.Module):
        if not callable(model):
            raise CaptureError(
                f"a {type(model).__name__} is neither a module, a function nor an exported program"
            )
        model = _FunctionModule(model)
    try:
        return torch.export.export(
            model, tuple(args), dict(kwargs), dynamic_shapes=dynamic_shapes, strict=strict
        )
    except Torch2MLIRError:
        raise
    except Exception as error:
        reason = [line for line in str(error).strip().splitlines() if line.strip()]
        raise CaptureError(
            f"torch.export cannot capture the model: {type(error).__name__}: "
            + ("\n  ".join(reason[:4]) if reason else "no reason given"),
            location=_user_line(error),
            hint="data-dependent control flow and shapes cannot be captured whole: rewrite them with torch.where or "
            "torch.cond, or see torch.export.draft_export(..) for a report of everything in the way",
        ) from error


def _user_line(error: BaseException) -> str | None:
    """The innermost line outside PyTorch and torch2mlir that an exception passed through."""
    own = str(Path(__file__).parent)
    place = None
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if f"{os.sep}torch{os.sep}" not in file and not file.startswith((own, "<")):
            place = f"{file}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


class _FunctionModule(torch.nn.Module):
    """A function as a module, with the function's own parameter names.

    PyTorch records the source lines of frames called ``forward`` only, so ours says it stands where the function does.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()

        def forward(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        if (code := getattr(function, "__code__", None)) is not None:
            forward.__code__ = forward.__code__.replace(
                co_filename=code.co_filename, co_firstlineno=code.co_firstlineno - 1
            )
        with suppress(ValueError):  # PyTorch's own functions have no signature
            forward.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
        self.forward = forward


@contextmanager
def paused_garbage_collection() -> Iterator[None]:
    """Building IR makes many objects and no garbage: the collector would walk all of PyTorch for nothing."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def lower_to_contract(program: Program, backend_legal_ops: Sequence[str] = ()) -> Program:
    """The program at the backend contract; works in place and returns it.

    Raises:
        BackendContractError: something in it is not core and cannot be decomposed.
    """
    if program.output_type == "raw":
        LowerToBackendContractPass(tuple(backend_legal_ops)).apply(make_context(), program.module)
        _refine_results(program)
        reached(program, "torch")
    return program


def reached(program: Program, output_type: str) -> None:
    """Notes that a program's module has been lowered, in place, to ``output_type``."""
    if program.output_type == "raw":
        arguments = entry_function(program.module, program.func_name).body.block.args
        if len(arguments) > len(program.signature.inputs):  # random numbers have got a seed
            program.signature.inputs.append(SeedInput(arguments[-1].type))  # type: ignore[arg-type]
    program.output_type = output_type


def _refine_results(program: Program) -> None:
    """Says of which types the results are, where capture could not.

    Raises:
        BackendContractError: a buffer does not keep its shape and dtype.
    """
    signature = program.signature
    types = iter(entry_function(program.module, program.func_name).function_type.outputs.data)
    before = {state.name: state.type for state in signature.state_inputs}
    for mutation, type in zip(signature.mutations, types):
        old = None if mutation.position is not None else before.get(mutation.name)
        if old is not None and type != old:
            raise BackendContractError(
                f"the buffer '{mutation.name}' is a {old} before a call and a {type} after it",
                hint="what a program keeps has one shape: allocate the largest and write into a part of it",
            )
    for index, output in enumerate(signature.outputs):
        if isinstance(output, UserOutput):
            type = next(types)
            signature.outputs[index] = UserOutput(
                type if isinstance(type, ValueTensorType) else None
            )


def prepare_for(output_type: str, program: Program) -> None:
    """Runs, in place, the passes over the contract that a dialect needs: TOSA has no complex numbers."""
    if output_type == "tosa":
        SplitComplexOpsPass().apply(make_context(), program.module)


def pass_weights_as_arguments(program: Program) -> Program:
    """Makes every weight a function argument of a program at the contract; in place."""
    inputs = program.signature.inputs
    position = len(inputs) - sum(isinstance(i, SeedInput) for i in inputs)  # the seed stays last
    weights = weights_as_arguments(entry_function(program.module, program.func_name), position)
    inputs[position:position] = [
        StateInput(
            source.name,
            source.tensor if isinstance(source, TorchSource) else source,
            argument.type,  # type: ignore[arg-type]
        )
        for source, argument in weights
    ]
    return program


def legal_ops(output_type: str, backend_legal_ops: Sequence[str]) -> list[str]:
    """Ops to keep whole: those asked for, and those the user has lowerings for."""
    own = own_ops(output_type) if output_type in TARGETS else ()
    return [*backend_legal_ops, *own]


def check_output_type(output_type: str) -> str:
    """The output type by its canonical name.

    Raises:
        Torch2MLIRError: there is no such output type.
    """
    name = getattr(output_type, "value", output_type)
    canonical = str(name).lower().replace("_", "-")
    if canonical not in OUTPUT_TYPES:
        raise Torch2MLIRError(
            f"unknown output_type '{output_type}'", hint=f"use one of {', '.join(OUTPUT_TYPES)}"
        )
    return canonical


@dataclass
class MlirModule:
    """A lowered program: ``str(m)`` is its MLIR text, ``m.save(path)`` writes it.

    Attributes:
        program: the module and its calling convention.
        weights: ``inline``, ``external`` or ``arguments``.
    """

    program: Program
    weights: str = "inline"

    @property
    def operation(self) -> ModuleOp:
        """The xDSL module."""
        return self.program.module

    @property
    def output_type(self) -> str:
        """The dialect of the module."""
        return self.program.output_type

    def _syntax(self) -> WeightSyntax:
        if self.weights == "external":
            return WeightSyntax.REFERENCE
        hex_only = self.output_type in ("stablehlo", "mhlo")
        return WeightSyntax.HEX if hex_only else WeightSyntax.RESOURCE

    def __str__(self) -> str:
        return self.text()

    def text(self, *, generic: bool = False, debuginfo: bool = False) -> str:
        """The MLIR text.

        Args:
            generic: the form every MLIR version reads, instead of the usual one.
            debuginfo: with source locations.
        """
        return module_text(
            self.operation, weights=self._syntax(), generic=generic, debuginfo=debuginfo
        )

    def named_weights(self) -> dict[str, torch.Tensor]:
        """The weights that are not in the text, by the name the text (or the argument) has."""
        if self.weights == "external":
            return {
                s.name: s.tensor for s in weights_of(self.operation) if isinstance(s, TorchSource)
            }
        if self.weights == "arguments":
            return {s.name: s.tensor for s in self.program.signature.state_inputs}
        return {}

    def save(
        self, path: str | os.PathLike[str], *, generic: bool = False, debuginfo: bool = False
    ) -> list[Path]:
        """Writes the text, and ``path`` with the ending ``.safetensors`` for weights outside it.

        The files appear complete or not at all. Returns what was written.
        """
        target = Path(path)
        written = [target]
        with _whole_file(target) as stream:
            write_module(
                self.operation, stream, weights=self._syntax(), generic=generic, debuginfo=debuginfo
            )
            if weights := self.named_weights():
                written.append(target.with_suffix(".safetensors"))
                _save_weights(weights, written[-1])
        return written


@contextmanager
def _whole_file(target: Path) -> Iterator[IO[str]]:
    """A text file that replaces ``target`` only when everything has been written."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", text=True)
    try:
        with os.fdopen(handle, "w") as stream:
            yield stream
        os.chmod(name, 0o644)
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _save_weights(weights: Mapping[str, torch.Tensor], target: Path) -> None:
    from safetensors.torch import save_file

    from torch2mlir.frontends.weights import is_fake

    seen, distinct = set[int](), dict[str, torch.Tensor]()
    for name, tensor in weights.items():
        if is_fake(tensor):
            continue  # a program of shapes only: the references stay, the elements are the user's to bring
        tensor = tensor.detach().contiguous()
        storage = tensor.untyped_storage().data_ptr()
        distinct[name] = tensor.clone() if storage in seen else tensor
        seen.add(storage)
    partial = target.with_name(f".{target.name}.partial")
    try:
        save_file(distinct, partial)
        partial.chmod(0o644)
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def export_and_import(
    model: Model,
    *args: Any,
    output_type: str = "torch",
    dynamic_shapes: Any = None,
    func_name: str = "main",
    weights: str = "inline",
    backend_legal_ops: Sequence[str] = (),
    **kwargs: Any,
) -> MlirModule:
    """A model as MLIR.

    The function takes the model's tensors, then what the runtime keeps (buffers that are written to, weights passed as
    arguments), and last, only in a program that draws random numbers, ``%seed``: a rank-0 i64 tensor that decides them.

    Args:
        model: a module, a function of tensors or an exported program.
        args: example arguments.
        output_type: ``raw``, ``torch``, ``linalg-on-tensors``, ``tosa``, ``stablehlo`` or ``mhlo``.
        dynamic_shapes: as ``torch.export.export`` takes it.
        func_name: name of the function in the module.
        weights: ``inline`` (in the text), ``external`` (a safetensors file beside it) or ``arguments`` (of the
            function, after the user's own).
        backend_legal_ops: non-core ops to keep whole.
        kwargs: example keyword arguments.

    Raises:
        CaptureError: the model cannot be captured.
        BackendContractError: an op is not core and cannot be decomposed.
        UnsupportedOpError: a core op has no lowering to the output type.
    """
    output_type = check_output_type(output_type)
    if weights not in WEIGHT_MODES:
        raise Torch2MLIRError(
            f"unknown weights mode '{weights}'", hint=f"use one of {', '.join(WEIGHT_MODES)}"
        )
    if isinstance(model, torch.jit.ScriptModule | torch.jit.ScriptFunction):
        model = _capture_script(model, args, kwargs, dynamic_shapes)
    if not isinstance(model, torch.export.ExportedProgram | Program):
        model = export(model, args, kwargs, dynamic_shapes)
    dialect = "stablehlo" if output_type == "mhlo" else output_type
    with paused_garbage_collection():
        program = capture(model, func_name=func_name)
        if output_type != "raw":
            lower_to_contract(program, legal_ops(dialect, backend_legal_ops))
            prepare_for(dialect, program)
        if weights == "arguments":
            pass_weights_as_arguments(program)
        if output_type in ("raw", "torch"):
            if output_type == "torch" and program.signature.ranges:
                bind_all_shapes(program.module)
            return MlirModule(program, weights)
        module = convert_module(program.module, dialect)
        if output_type == "mhlo":
            StablehloLegalizeToHloPass().apply(make_context(), module)
        return MlirModule(replace(program, module=module, output_type=output_type), weights)
