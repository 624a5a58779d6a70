"""Running what PyTorch's ``lazy`` device has recorded: import, compile, cache, run, write back."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import torch

from torch2mlir.errors import InputError, Torch2MLIRError
from torch2mlir.frontends.lazy.carried import Call, TensorType
from torch2mlir.frontends.lazy.device import Recorded, Recorder, recorded, write_back
from torch2mlir.frontends.lazy.graph_text import is_empty
from torch2mlir.frontends.lazy.importer import LazyProgram, import_call, import_lazy_graph
from torch2mlir.garbage import paused_garbage_collection
from torch2mlir.module import MlirModule
from torch2mlir.pipeline import Pipeline
from torch2mlir.program import Program
from torch2mlir.runtime.compiled import CompiledFunction
from torch2mlir.runtime.engine import Engine

_REMEMBERED = 4096
"""Of how many calls it is remembered whether they can be compiled, and of how many graphs that they are empty."""


@dataclass
class Metrics:
    """What has happened on the device since the start, or since ``reset_metrics()``.

    Attributes:
        captures: graphs taken from the device.
        cache_hits: of these, those that had been compiled before.
        cache_misses: those that had not.
        cache_evictions: compiled graphs that were dropped for newer ones.
        tensors: values computed and given to lazy tensors.
        import_seconds: from the recorded graph to the backend contract, and to see which calls reach it.
        compile_seconds: from there to code, by the engine.
        run_seconds: in compiled code, and to hand its results over.
        fallbacks: calls the device has no graph node for and PyTorch has run on the CPU, by name.
    """

    captures: int = 0
    cache_hits: int = 0
    cache_misses: int = 0
    cache_evictions: int = 0
    tensors: int = 0
    import_seconds: float = 0.0
    compile_seconds: float = 0.0
    run_seconds: float = 0.0
    fallbacks: dict[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [
            f"captures {self.captures}: {self.cache_hits} cache hits, {self.cache_misses} misses, "
            f"{self.cache_evictions} evictions; "
            f"{self.tensors} tensors computed",
            f"seconds: import {self.import_seconds:.3f}, compile {self.compile_seconds:.3f}, "
            f"run {self.run_seconds:.3f}",
        ]
        lines += [
            f"run by PyTorch: {name} x{count}" for name, count in sorted(self.fallbacks.items())
        ]
        return "\n".join(lines)


@dataclass(eq=False)
class Computation:
    """A graph of the lazy device, compiled.

    Attributes:
        hash: of the graph.
        graph: as the device prints it, in TorchScript.
        mlir: its raw torch-dialect module, as text.
        compiled: takes the tensors behind the graph's parameters.
        written: positions of the parameters it writes to, as batch normalization does to its statistics.
        fixed: parameters that became constants, by position, and their values.
        runs: how often it has run.
    """

    hash: str
    graph: str
    mlir: str
    compiled: CompiledFunction
    written: list[int]
    fixed: dict[int, Any]
    runs: int = 0

    def __str__(self) -> str:
        return self.mlir

    def text(self) -> str:
        """What the engine was given."""
        return self.compiled.text()

    def is_for(self, parameters: Sequence[torch.Tensor]) -> bool:
        """Whether it is right for these values of what it holds constant."""
        return all(parameters[index].item() == value for index, value in self.fixed.items())


class _Cache:
    """Compiled graphs; where there are too many, the one that was asked for longest ago is dropped.

    Args:
        size: how many it keeps.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._oldest_first = OrderedDict[Computation, None]()
        self._by_hash = dict[str, list[Computation]]()

    def find(self, graph: Recorded) -> Computation | None:
        """The computation of a graph, right for the values of its parameters."""
        for computation in self._by_hash.get(graph.hash, ()):
            if computation.is_for(graph.parameters):
                self._oldest_first.move_to_end(computation)
                return computation
        return None

    def add(self, computation: Computation) -> bool:
        """Keeps a computation; whether another was dropped for it."""
        self._oldest_first[computation] = None
        self._by_hash.setdefault(computation.hash, []).append(computation)
        if len(self._oldest_first) <= self.size:
            return False
        dropped, _ = self._oldest_first.popitem(last=False)
        left = self._by_hash[dropped.hash]
        left.remove(dropped)
        if not left:
            del self._by_hash[dropped.hash]
        return True


class LazyRuntime:
    """Computes what a thread has recorded on the ``lazy`` device.

    Args:
        pipeline: to the dialect between contract and engine.
        engine: who compiles and runs it.
        cache_size: how many compiled graphs it keeps.
    """

    def __init__(self, pipeline: Pipeline, engine: Engine, cache_size: int) -> None:
        self.pipeline = pipeline
        self.engine = engine
        promise = lru_cache(maxsize=_REMEMBERED)(self._promise)
        self.recorder = Recorder(lambda tensors: self.compute() if tensors else None, promise)
        self.last: Computation | None = None
        self._cache = _Cache(cache_size)
        self._empty = set[str]()
        self._metrics = Metrics()

    @property
    def metrics(self) -> Metrics:
        """What has happened so far."""
        self._metrics.fallbacks = dict(self.recorder.fallbacks)
        return self._metrics

    def reset_metrics(self) -> None:
        """Starts counting anew; what was compiled stays."""
        self.recorder.fallbacks.clear()
        self._metrics = Metrics()

    def compute(self) -> None:
        """Gives every pending tensor its value.

        All of them at once, not only the one somebody asks for: what they share is computed once, and a random
        number is drawn once.
        """
        # what is computed here is not the user's: no default device of theirs holds for it
        with torch._C.DisableTorchFunction():
            self._compute(self.recorder.pending())

    def _compute(self, pending: list[torch.Tensor]) -> None:
        if not pending:
            return
        graph = recorded(pending)
        computation = self._computation(graph)
        if computation is None:
            self.recorder.computed(pending)
            return
        with self._timed("run_seconds"):
            try:
                with self.recorder.drawing():
                    results = computation.compiled(*graph.parameters)
            except InputError:  # an index is outside of its range: it would be so again
                self.recorder.computed(pending)
                raise
            written = self.recorder.statistics(
                [graph.parameters[position] for position in computation.written]
            )
            targets = [*pending, *written]
            alive = [(t, r) for t, r in zip(targets, results, strict=True) if t is not None]
            write_back(*zip(*alive, strict=True))
        self.recorder.computed(pending)
        computation.runs += 1
        self.last = computation
        self._metrics.tensors += len(pending)

    def _promise(self, call: Call, operands: tuple[TensorType, ...]) -> Any | None:
        """What a call that the device has no node for gives, if it can be compiled."""
        try:
            with torch._C.DisableTorchFunction(), self._timed("import_seconds"):
                program, types = import_call(call, operands)
                self._lower(program)
                self.pipeline.convert(program)
        except Torch2MLIRError:
            return None
        return types

    def _lower(self, program: Program) -> None:
        """Brings a raw program to the contract, in place."""
        with paused_garbage_collection():
            self.pipeline.lower(program)

    def _computation(self, graph: Recorded) -> Computation | None:
        """The compiled graph; none for one in which nothing is computed, as when a tensor was only detached."""
        computation = self._cache.find(graph)
        if computation is None and self._computes_nothing(graph):
            return None
        self._metrics.captures += 1
        if computation is not None:
            self._metrics.cache_hits += 1
            return computation
        self._metrics.cache_misses += 1
        computation = self._compile(graph, graph.text())
        self._metrics.cache_evictions += self._cache.add(computation)
        return computation

    def _computes_nothing(self, graph: Recorded) -> bool:
        if graph.hash in self._empty:
            return True
        if not is_empty(graph.text()):
            return False
        if len(self._empty) == _REMEMBERED:
            self._empty.clear()
        self._empty.add(graph.hash)
        return True

    def _compile(self, graph: Recorded, text: str) -> Computation:
        try:
            return self._compile_text(graph, text, fix_numbers=False)
        except Torch2MLIRError:
            # an op may take only constant numbers on its way to the engine
            return self._compile_text(graph, text, fix_numbers=True)

    def _compile_text(self, graph: Recorded, text: str, fix_numbers: bool) -> Computation:
        with self._timed("import_seconds"):
            imported = import_recorded(graph, text, fix_numbers)
            program = imported.program
            mlir = str(MlirModule(program))
            with paused_garbage_collection():
                self.pipeline.lower_for_engine(program)
        with self._timed("compile_seconds"):
            compiled = CompiledFunction(program, self.pipeline, self.engine)
            compiled.compile_for()
        return Computation(graph.hash, text, mlir, compiled, imported.written, imported.fixed)

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            elapsed = time.perf_counter() - start
            setattr(self._metrics, name, getattr(self._metrics, name) + elapsed)


def import_recorded(graph: Recorded, text: str, fix_numbers: bool = False) -> LazyProgram:
    """The raw torch-dialect program of a recorded graph."""
    promised = [TensorType.of(tensor) for tensor in graph.tensors]
    return import_lazy_graph(text, graph.parameters, promised, fix_numbers=fix_numbers)
