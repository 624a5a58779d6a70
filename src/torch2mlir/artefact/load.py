"""``torch2mlir.load``: what ``torch2mlir.save`` has written, ready to be called."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from xdsl.dialects.builtin import ModuleOp

from torch2mlir.artefact.classes import CLASSES, stand_in_for
from torch2mlir.artefact.manifest import (
    CONFIG,
    PROGRAM,
    WEIGHTS,
    Manifest,
    check_files,
    check_surroundings,
    listed,
    read_json,
    read_manifest,
)
from torch2mlir.artefact.signature import dtype_of, load_signature, load_spec
from torch2mlir.artefact.weights import map_tensors
from torch2mlir.contract.target import get_target
from torch2mlir.errors import ArtefactError, InputError, Torch2MLIRError
from torch2mlir.files import path_of
from torch2mlir.program import FunctionInput, StateInput
from torch2mlir.runtime.binding import Shapes
from torch2mlir.runtime.calling import CallingConvention
from torch2mlir.runtime.element_views import for_program
from torch2mlir.runtime.engine import Engine, Executable, check_not_traced, get_engine
from torch2mlir.runtime.gradients import GradientNotice
from torch2mlir.runtime.lowered import LoweredFunction
from torch2mlir.runtime.small_sizes import FoundSizes

if TYPE_CHECKING:
    from torch2mlir.hybrid.module import OptimizedModule

_TRIES, _PAUSE = 20, 0.01
"""How often an artefact is read that another process replaces meanwhile, and seconds between."""


@dataclass(frozen=True)
class _Program:
    """The code for one combination of sizes, and what it is handed.

    Attributes:
        executable: takes ``kept`` and then ``prepared``.
        kept: its arguments of the calling convention.
        weights: what stands for those of them that are weights, in order.
        prepared: what stands for tensors made from weights before the program was saved.
    """

    executable: Executable
    kept: Sequence[FunctionInput]
    weights: Sequence[Any]
    prepared: Sequence[Any]


class LoadedFunction:
    """A compiled program of an artefact; call it as the model.

    Buffers that the model writes to are kept between calls, in memory only. Safe to call from several threads if the
    model writes to nothing.

    Attributes:
        manifest: of the artefact.
    """

    def __init__(
        self, manifest: Manifest, calling: CallingConvention, programs: Mapping[Shapes, _Program],
        engine: Engine,
    ) -> None:  # fmt: skip
        self.manifest = manifest
        self.calling = calling
        self._programs = programs
        self._engine = engine
        self._gradients = GradientNotice(calling.signature)

    @property
    def shapes(self) -> list[dict[str, int]]:
        """The combinations of symbolic sizes it has code for; an empty one takes all of its sizes."""
        return [dict(symbols) for symbols in self._programs]

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        check_not_traced()
        calling = self.calling
        leaves, symbols = calling.bind(args, kwargs)
        program = self._programs.get(self._engine.specialised(symbols, self._programs))
        if program is None:
            raise InputError(
                f"the artefact has no code for the sizes {_shown(dict(symbols))}",
                hint="it has code for "
                + "; ".join(map(_shown, self.shapes))
                + "; call the compiled function with such "
                "sizes before it is saved",
            )
        self._gradients.look(leaves)
        calling.check(leaves)
        weights = iter(program.weights)
        arguments = [
            next(weights) if calling.is_weight(item) else calling.argument(item, leaves, spec)
            for item, spec in zip(program.kept, program.executable.function.arguments)
        ]
        results = program.executable.run([*arguments, *program.prepared])
        return calling.result(results, leaves, program.executable.function.updated)

    def __reduce__(self) -> Any:
        raise ArtefactError(
            "a loaded artefact cannot be copied or pickled: its code is in this process",
            hint="load the directory again, in the other process if there is one",
        )


def _shown(symbols: Mapping[str, int]) -> str:
    return ", ".join(f"{name}={value}" for name, value in symbols.items()) or "other than 0"


def load(directory: str | os.PathLike[str]) -> LoadedFunction | OptimizedModule:
    """What ``torch2mlir.save`` has written to a directory.

    A compiled program runs without tracing, lowering or the model's Python code; its weights stay in the file until
    they are read. Of a module of ``optimize`` the clusters are compiled again.

    Code from an artefact runs in this process: load only what you trust. Nothing of a compiled program is unpickled.

    Raises:
        ArtefactError: it is no artefact, incomplete, damaged, or made for another version or machine.
        EngineError: its engine is not installed, or refuses the code.
        InputError: ``directory`` is no path.
    """
    place = path_of(directory)
    for turn in range(_TRIES):
        time.sleep(_PAUSE * bool(turn))
        with _held(place) as is_replaced:
            try:
                found = _load(place)
            except (Torch2MLIRError, OSError, RuntimeError) as error:
                if is_replaced():
                    continue
                if not isinstance(error, OSError):
                    raise
                raise ArtefactError(f"{place} cannot be read: {error}") from error
            if not is_replaced():
                return found
    raise ArtefactError(
        f"{place} was replaced again and again while it was read",
        hint="load it once it is no longer built anew",
    )


@contextmanager
def _held(place: Path) -> Iterator[Callable[[], bool]]:
    """While this lasts, a function tells whether another directory has come to this place.

    Code of one version and weights of another would compute something that neither does. The system gives no other
    directory the number of one that is open.
    """
    try:
        handle = os.open(place, os.O_RDONLY)
    except FileNotFoundError:  # a moment ago there was none
        yield place.exists
        return
    except OSError:  # the system opens no directories
        yield lambda: False
        return

    def is_replaced() -> bool:
        try:
            return not os.path.samestat(os.fstat(handle), os.stat(place))
        except OSError:
            return True

    try:
        yield is_replaced
    finally:
        os.close(handle)


def _load(place: Path) -> LoadedFunction | OptimizedModule:
    manifest = read_manifest(place)
    check_files(place, manifest)
    if manifest.kind == "optimized":
        return _load_optimized(place)
    if manifest.kind != "compiled":
        raise ArtefactError(f"{place} is an artefact of unknown kind '{manifest.kind}'")
    engine = get_engine(str(manifest.engine.get("name")))
    check_surroundings(place, manifest, engine)
    description = read_json(place / PROGRAM)
    try:
        return _loaded(place, manifest, engine, description)
    except (KeyError, TypeError, IndexError) as error:
        raise ArtefactError(
            f"{place / PROGRAM} cannot be read: {type(error).__name__}: {error}"
        ) from error


def _loaded(
    place: Path, manifest: Manifest, engine: Engine, description: Mapping[str, Any]
) -> LoadedFunction:
    dtypes = {name: dtype_of(dtype) for name, dtype in description["dtypes"].items()}
    stored = map_tensors(place / WEIGHTS, dtypes)
    state = {name: stored[kept] for name, kept in description["state"].items()}
    signature = load_signature(description["signature"], state)
    found = FoundSizes.read(description["small_sizes"], signature)
    calling = CallingConvention(signature, found)
    programs = dict[Shapes, _Program]()
    for entry in description["programs"]:
        function = LoweredFunction(
            ModuleOp([]),
            entry["name"],
            get_target(manifest.dialect),
            tuple(load_spec(spec) for spec in entry["arguments"]),
            tuple(load_spec(spec) for spec in entry["results"]),
            updated={int(argument): int(result) for argument, result in entry["updated"]},
        )
        executable = _executable(listed(place, manifest, entry["code"]), engine, function)
        kept = [signature.inputs[position] for position in entry["kept"]]
        programs[tuple(sorted(entry["symbols"].items()))] = _Program(
            executable,
            kept,
            [
                executable.prepare(for_program(item.tensor, spec.dtype))
                for item, spec in zip(kept, function.arguments)
                if isinstance(item, StateInput) and calling.is_weight(item)
            ],
            [executable.prepare(stored[name]) for name in entry["prepared"]],
        )
    return LoadedFunction(manifest, calling, programs, engine)


def _executable(path: Path, engine: Engine, function: LoweredFunction) -> Executable:
    """The code in a file; the text of a program is compiled."""
    if path.suffix == ".mlir":
        return engine.compile(
            LoweredFunction.parse(path.read_text(), function.target.name, function.name)
        )
    return engine.load(path.read_bytes(), function)


def _load_optimized(place: Path) -> OptimizedModule:
    from torch2mlir.hybrid.config import Config
    from torch2mlir.hybrid.module import OptimizedModule

    fields: dict[str, Any] = read_json(place / CONFIG)
    classes = fields.pop(CLASSES, [])
    stand_in_for(classes)
    for name in ("white_list", "black_list"):
        fields[name] = frozenset(fields[name])
    paths = sorted(place.glob("*.pt2"), key=lambda path: int(path.stem))
    try:
        programs = [torch.export.load(path) for path in paths]
    except (RuntimeError, ImportError, AttributeError) as error:  # of the classes of the example
        raise ArtefactError(
            f"PyTorch cannot read the programs of {place}: {error}",
            hint="import what defines the classes of arguments and results before"
            + (f": {', '.join(classes)}" if classes else ""),
        ) from error
    _share_state(programs)
    return OptimizedModule.of_programs(programs, Config(**fields))


def _share_state(programs: Sequence[torch.export.ExportedProgram]) -> None:
    """Gives the programs of one model the same tensors: each file has all of them, and what one writes others read."""
    shared = dict[str, torch.Tensor]()
    for program in programs:
        buffers = set(program.graph_signature.buffers)
        for name, tensor in program.state_dict.items():
            program.state_dict[name] = shared.setdefault(name, tensor)
        for name in buffers & program.constants.keys():  # those that are not persistent
            program.constants[name] = shared.setdefault(name, program.constants[name])
