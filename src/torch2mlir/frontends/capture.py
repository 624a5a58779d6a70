"""From a model to a captured program: torch.export for modules and functions, TorchScript for what is scripted."""

from __future__ import annotations

import gc
import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch

from torch2mlir.errors import CaptureError, Torch2MLIRError
from torch2mlir.frontends.fx.exported import import_exported_program
from torch2mlir.frontends.fx.quiet import quiet
from torch2mlir.frontends.fx.state import unregistered_state_kept
from torch2mlir.program import Program

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
    state = model
    if not isinstance(model, torch.nn.Module):
        if not callable(model):
            raise CaptureError(
                f"a {type(model).__name__} is neither a module, a function nor an exported program"
            )
        model = _FunctionModule(model)
    try:
        with quiet(), unregistered_state_kept(state):
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
    own = str(Path(__file__).parent.parent)
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
