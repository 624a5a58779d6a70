"""What a command works on: a saved ExportedProgram or TorchScript program, or what a Python factory returns."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from torch2mlir.errors import InputError, ParseError
from torch2mlir.tools.torchscript_file import InputType, is_torchscript, load_torchscript

HOW = (
    "name a file saved with torch.export.save(program, 'model.pt2') or torch.jit.save(script, 'model.pt'), or "
    "package.module:factory (also file.py:factory) for a function that returns (model, example inputs)"
)


@dataclass
class Source:
    """A model with example inputs, or an ExportedProgram with the inputs saved in it.

    Attributes:
        name: a short name for output files.
        model: an ``nn.Module``, a function, an ``ExportedProgram``, or a ``ScriptModule``.
        args: positional example inputs.
        kwargs: keyword example inputs.
    """

    name: str
    model: Any
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)

    @property
    def is_exported(self) -> bool:
        """Whether shapes were decided when the program was saved."""
        from torch.export import ExportedProgram

        return isinstance(self.model, ExportedProgram)

    @property
    def is_script(self) -> bool:
        """Whether the program is TorchScript."""
        import torch

        return isinstance(self.model, torch.jit.ScriptModule)


def load_source(reference: str, inputs: Sequence[InputType] = ()) -> Source:
    """Load what the command line names: ``model.pt2``, ``model.pt`` or ``package.module:factory``.

    Args:
        reference: the name.
        inputs: types of the arguments of a TorchScript file.

    Raises:
        InputError: there is no such file, module or function, or the factory fails.
        ParseError: the file is no saved program.
    """
    path = Path(reference)
    if path.is_file() and is_torchscript(path):
        return Source(path.stem, *load_torchscript(path, inputs))
    if inputs:
        raise InputError(
            f"{reference} comes with its own example inputs, so --input is not needed",
            hint="leave --input out; it is for files of torch.jit.save",
        )
    if os.path.exists(reference):
        return _load_saved(path)
    if ":" in reference:
        return _call_factory(reference)
    raise InputError(f"there is no file {reference}", hint=HOW)


def _load_saved(path: Path) -> Source:
    import torch

    from torch2mlir.frontends.fx.quiet import quiet

    if not path.is_file() or not zipfile.is_zipfile(path):
        raise ParseError(
            f"{path} is neither a saved ExportedProgram nor saved TorchScript", hint=HOW
        )
    if _is_pickled(path):
        raise ParseError(
            f"{path} is of torch.save: it has weights, or a model without its code, and no program",
            hint="write a function that makes the model, loads these into it and returns (model, example inputs), and "
            "name it: file.py:function",
        )
    try:
        with quiet():
            program = torch.export.load(path)
    except Exception as error:
        raise ParseError(
            f"{path} is not an ExportedProgram that PyTorch {torch.__version__} can load: "
            f"{_first_line(error)}",
            hint=HOW,
        ) from error
    args, kwargs = program.example_inputs or ((), {})
    return Source(path.stem, program, tuple(args), dict(kwargs))


def _is_pickled(path: Path) -> bool:
    """Whether a zip file is an archive of ``torch.save``: programs have pickles too, and something else."""
    with zipfile.ZipFile(path) as archive:
        members = {name.partition("/")[2] for name in archive.namelist()}
    return "data.pkl" in members and "archive_format" not in members


def _call_factory(reference: str) -> Source:
    where, _, attribute = reference.rpartition(":")
    factory: Any = import_source(where)
    for name in attribute.split("."):
        factory = getattr(factory, name, None)
    if not callable(factory):
        raise InputError(f"{where} has no function {attribute}", hint=HOW)
    return _as_program(reference, attribute.replace(".", "_"), _called(reference, factory))


def import_source(where: str, hint: str = HOW) -> ModuleType:
    """The module ``package.module`` or ``file.py``; modules beside the user are found too.

    Raises:
        InputError: there is none, or it fails while it is imported.
    """
    if os.getcwd() not in sys.path:  # as `python -m` does; a console script's path has only bin/
        sys.path.insert(0, os.getcwd())
    try:
        if where.endswith(".py"):
            return _import_file(Path(where))
        return importlib.import_module(where)
    except Exception as error:
        raise InputError(
            f"cannot import {where}: {type(error).__name__}: {_first_line(error)}", hint=hint
        ) from error


def _import_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _called(reference: str, factory: Callable[[], Any]) -> Any:
    try:
        return factory()
    except Exception as error:
        raise InputError(
            f"{reference} failed: {type(error).__name__}: {_first_line(error)}",
            location=_raised_at(error),
            hint="a factory takes no arguments and returns (model, example inputs)",
        ) from error


def _as_program(reference: str, name: str, result: Any) -> Source:
    try:
        model, *inputs = result
    except TypeError:
        inputs = []
    if len(inputs) not in (1, 2) or not callable(model):
        raise InputError(
            f"{reference} returned {type(result).__name__}, not (model, example inputs)",
            hint="return model, args   or   return model, args, kwargs",
        )
    args, kwargs = inputs if len(inputs) == 2 else (inputs[0], {})
    if not isinstance(kwargs, Mapping):
        raise InputError(
            f"{reference} returned a {type(kwargs).__name__} in the place of keyword arguments",
            hint="return model, (x, y)   for two arguments, or   return model, args, {'name': value}",
        )
    if isinstance(args, Mapping):
        args, kwargs = (), args
    elif not isinstance(args, (tuple, list)):
        args = (args,)
    return Source(name, model, tuple(args), dict(kwargs))


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]


def _raised_at(error: BaseException) -> str | None:
    """The line that has raised an error; none if the call itself did not fit."""
    trace = error.__traceback__
    line = None
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        line = None if file == __file__ else f"{file}:{trace.tb_lineno}"
        trace = trace.tb_next
    return line
