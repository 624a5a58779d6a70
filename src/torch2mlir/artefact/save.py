"""``torch2mlir.save``: a compiled program, or a module of ``optimize``, as a directory, complete or not there."""

from __future__ import annotations

import dataclasses
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch

from torch2mlir.artefact.classes import CLASSES, classes_of, name_classes, structures_of
from torch2mlir.artefact.manifest import CONFIG, NAME, PROGRAM, WEIGHTS, manifest_for, other_files
from torch2mlir.artefact.signature import canonical, dtype_name, dump_signature, dump_spec
from torch2mlir.artefact.weights import write_tensors
from torch2mlir.errors import ArtefactError, InputError
from torch2mlir.files import path_of
from torch2mlir.hybrid.module import OptimizedModule
from torch2mlir.hybrid.ways import suited_to_graph
from torch2mlir.program import StateInput
from torch2mlir.runtime.compiled import CompiledFunction, LoadedProgram
from torch2mlir.runtime.model_state import check_state
from torch2mlir.runtime.small_sizes import FoundSizes


def save(compiled: CompiledFunction | OptimizedModule, directory: str | os.PathLike[str]) -> Path:
    """Writes what has been compiled to a directory, for :func:`torch2mlir.load` in another process.

    Weights are saved as they are now. An artefact that is in the directory already is replaced as a whole.

    Args:
        compiled: of ``torch2mlir.compile``, with all sizes it has been compiled for; or of ``torch2mlir.optimize``,
            with the programs captured so far, whose clusters are compiled again by ``load``.
        directory: made if it is not there; else it should be empty or an artefact.

    Raises:
        ArtefactError: nothing is compiled yet, or the program cannot be saved.
        InputError: the directory holds something else, or ``compiled`` is something else, or a weight has got other
            sizes or another dtype than the program takes.
    """
    target = path_of(directory)
    if isinstance(compiled, OptimizedModule):
        with _whole_directory(target) as place:
            _write_optimized(compiled, place)
    elif isinstance(compiled, CompiledFunction):
        with _whole_directory(target) as place:
            _write_compiled(compiled, place)
    else:
        raise InputError(
            f"a {type(compiled).__name__} cannot be saved",
            hint="save what torch2mlir.compile or torch2mlir.optimize returns",
        )
    return target


def _write_compiled(compiled: CompiledFunction, place: Path) -> None:
    compiled.follow_model()
    engine, signature = compiled.engine, compiled.program.signature
    if not compiled.programs and not engine.needs_static_shapes:
        compiled.compile_for()
    if not compiled.programs:
        raise ArtefactError(
            "nothing is compiled yet: the program's sizes vary, and the engine compiles for given ones",
            hint="call compiled.compile_like(*example_inputs) for every combination of sizes to serve",
        )
    for state in signature.state_inputs:
        check_state(state, state.tensor)
    tensors = _Tensors()
    for state in signature.state_inputs:
        if not compiled.calling.is_weight(state):
            tensors.add(state.name, state.tensor, may_be_shared=False)
    programs = [
        _program(compiled, dict(symbols), program, index, tensors, place)
        for index, (symbols, program) in enumerate(compiled.programs.items())
    ]
    description = {
        "function": compiled.program.func_name,
        "signature": dump_signature(signature),
        "small_sizes": _small_sizes(compiled),
        "state": tensors.names,
        "dtypes": {name: dtype_name(tensor.dtype) for name, tensor in tensors.stored.items()},
        "programs": programs,
    }
    (place / PROGRAM).write_text(canonical(description))
    with (place / WEIGHTS).open("wb") as stream:
        write_tensors(tensors.stored, stream)
    _finish(place, "compiled", engine, compiled.output_type)


def _small_sizes(compiled: CompiledFunction) -> list[dict[str, Any]]:
    """What calls with sizes of 0 and 1 come to; code for given sizes has been called with them."""
    is_static = compiled.engine.needs_static_shapes
    return [] if is_static else FoundSizes.of(compiled.program).written()


def _program(
    compiled: CompiledFunction,
    symbols: Mapping[str, int],
    program: LoadedProgram,
    index: int,
    tensors: _Tensors,
    place: Path,
) -> dict[str, Any]:
    """Writes one combination of sizes: its code, and its weights if they are new; returns how it is called."""
    inputs = list(compiled.program.signature.inputs)
    for item in program.kept:
        if isinstance(item, StateInput) and compiled.calling.is_weight(item):
            tensors.add(item.name, item.tensor)
    function, engine = program.executable.function, compiled.engine
    name = f"code/{index}.bin" if engine.has_portable_code else f"code/{index}.mlir"
    path = place / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(
        engine.code(program.executable) if engine.has_portable_code else function.text().encode()
    )
    return {
        "symbols": symbols,
        "code": name,
        "name": function.name,
        "kept": [_position(inputs, item) for item in program.kept],
        "prepared": [tensors.prepared(value) for value in program.prepared_values()],
        "arguments": [dump_spec(spec) for spec in function.arguments],
        "results": [dump_spec(spec) for spec in function.results],
        "updated": sorted(map(list, function.updated.items())),
    }


def _position(inputs: list[Any], item: Any) -> int:
    return next(index for index, other in enumerate(inputs) if other is item)


class _Tensors:
    """What goes into the weights file: every tensor once, by the names that programs have for it."""

    def __init__(self) -> None:
        self.stored = dict[str, torch.Tensor]()
        self.names = dict[str, str]()
        self._known = dict[tuple[Any, ...], str]()

    def add(self, name: str, tensor: torch.Tensor, may_be_shared: bool = True) -> None:
        """Adds a state of the program; tied weights share one tensor."""
        if name not in self.names:
            self.names[name] = self._store(name, tensor, may_be_shared)

    def prepared(self, tensor: torch.Tensor) -> str:
        """Adds what was prepared from weights; the name it is stored by."""
        return self._store(f"prepared.{len(self.stored)}", tensor, True)

    def _store(self, name: str, tensor: torch.Tensor, may_be_shared: bool) -> str:
        if isinstance(tensor, torch._subclasses.FakeTensor):
            raise ArtefactError(f"the weight '{name}' is fake: it has a shape but no elements")
        key = (tensor.data_ptr(), tensor.dtype, tuple(tensor.shape), tensor.stride())
        if may_be_shared and tensor.numel() and key in self._known:
            return self._known[key]
        self.stored[name] = tensor
        if may_be_shared:
            self._known[key] = name
        return name


def _write_optimized(optimized: OptimizedModule, place: Path) -> None:
    programs = optimized.captured_programs
    if not programs:
        raise ArtefactError(
            "the module has no captured programs to save: it has not been called, or is captured region by region",
            hint="torch.save(optimized, file) keeps the model itself, which is captured again where it is loaded",
        )
    for spec in structures_of(programs):
        name_classes(spec)
    for index, program in enumerate(programs):
        _check_constant_results(program)
        try:
            torch.export.save(program, place / f"{index}.pt2")
        except (TypeError, NotImplementedError) as error:
            # of a class that is not plain values, as a cache
            raise ArtefactError(
                f"torch.export.save cannot keep the arguments or results of the module: {error}",
                hint="torch.save(optimized, file) keeps the model itself, which is captured again where it is loaded",
            ) from error
    config = optimized.config
    way = suited_to_graph(config.way, programs[0].graph).ways[0]
    fields = dataclasses.asdict(dataclasses.replace(config, engine=None))
    fields |= {
        "engine": None if config.engine is None else way.name,
        "white_list": sorted(config.white_list),
        "black_list": sorted(config.black_list),
    }
    (place / CONFIG).write_text(canonical(fields | {CLASSES: classes_of(structures_of(programs))}))
    _finish(place, "optimized", way.engine, way.dialect)


def _check_constant_results(program: torch.export.ExportedProgram) -> None:
    """PyTorch 2.13 writes results that are texts, and cannot read them back."""
    for spec in program.graph_signature.output_specs:
        value = getattr(spec.arg, "value", None)
        if isinstance(value, str):
            raise ArtefactError(
                f"the module gives the text {value!r} beside its tensors, which torch.export.save cannot keep",
                hint="torch2mlir.compile(model, ..) can be saved with it; or give tensors and numbers only",
            )


def _finish(place: Path, kind: str, engine: Any, dialect: str) -> None:
    (place / NAME).write_text(manifest_for(kind, engine, dialect, place).text())


@contextmanager
def _whole_directory(target: Path) -> Iterator[Path]:
    """A directory to write to that takes the place of ``target`` once everything has been written."""
    target = Path(os.path.realpath(target))  # a link stays one
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{target.parent} cannot be made: {error.strerror}") from error
    with _alone_in(target.parent):
        if target.is_file():
            raise InputError(f"{target} is a file", hint="name a directory")
        if others := other_files(target):
            listed = ", ".join(others[:3]) + (", .." if len(others) > 3 else "")
            raise InputError(
                f"{target} holds other files, which would be lost: {listed}",
                hint="name a new directory, or one with an artefact and nothing else",
            )
    place = target.with_name(f".{target.name}.{secrets.token_hex(6)}")
    place.mkdir()  # with the permissions that new directories have here
    try:
        yield place
        with _alone_in(target.parent):
            _swap(place, target) if target.exists() else place.rename(target)
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise


@contextmanager
def _alone_in(directory: Path) -> Iterator[None]:
    """While this lasts, no other process saves to a directory, where the system can lock one."""
    try:
        import fcntl

        handle = os.open(directory, os.O_RDONLY)
    except (ImportError, OSError):
        yield
        return
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _swap(place: Path, target: Path) -> None:
    """Puts a directory in the place of another, which comes back if that fails."""
    old = Path(tempfile.mkdtemp(prefix=f".{target.name}.old.", dir=target.parent))
    target.rename(old / target.name)
    try:
        place.rename(target)
    except BaseException:
        (old / target.name).rename(target)
        raise
    finally:
        shutil.rmtree(old, ignore_errors=True)
