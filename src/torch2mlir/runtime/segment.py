"""A compiled segment of a graph of ``torch.compile``: a flat list of tensors in and out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import torch
from torch.fx import Graph, GraphModule, Node

from torch2mlir.errors import CaptureError
from torch2mlir.frontends import dtypes
from torch2mlir.frontends.dynamo.capture import CapturedGraph, SymbolSource, capture_graph
from torch2mlir.frontends.dynamo.layouts import Border, dense_at_border
from torch2mlir.frontends.fx.quiet import quiet
from torch2mlir.garbage import paused_garbage_collection
from torch2mlir.pipeline import Pipeline, run_passes
from torch2mlir.program import ConstantOutput, SeedInput, StateInput, UserInput, UserOutput
from torch2mlir.runtime.cache import CodeCache, compile_cached
from torch2mlir.runtime.calling import check_indices, check_results
from torch2mlir.runtime.element_views import for_program, from_program
from torch2mlir.runtime.engine import Engine, Executable
from torch2mlir.runtime.lowered import LoweredFunction
from torch2mlir.runtime.small_sizes import check_decisions
from torch2mlir.turns import in_turn

Values = list[Any]

MOST_PROGRAMS = 128
"""How many combinations of sizes a segment keeps programs for; beyond, the oldest is dropped."""


@dataclass(frozen=True)
class Toolchain:
    """Who compiles: a pipeline, an engine and a cache.

    Attributes:
        segment: makes what runs a segment, if that is not a ``CompiledSegment``.
        in_pytorch: calls of a training step's graph that PyTorch's kernels are to run, and why; None leaves it none.
    """

    pipeline: Pipeline
    engine: Engine
    cache: CodeCache | None
    segment: (
        Callable[[GraphModule, Toolchain, Callable[[], None], Mapping[int, int]], RunsSegment]
        | None
    ) = None
    in_pytorch: Callable[[Graph], tuple[set[Node], str]] | None = None


@dataclass(frozen=True)
class Loaded:
    """A program for one combination of sizes."""

    executable: Executable
    converts: tuple[tuple[int, torch.dtype], ...]
    """Results that the engine has in another dtype of the same bits."""


class RunsSegment(Protocol):
    """What runs a segment: a program for the sizes of a call, or None for PyTorch."""

    def program_for(self, arguments: Sequence[Any]) -> Loaded | None: ...

    def run(self, loaded: Loaded, arguments: Sequence[Any]) -> Values: ...


class CompiledSegment:
    """A segment, compiled, for each combination of sizes where the engine needs that.

    Safe to call from several threads.

    Args:
        module: the segment.
        tools: who compiles it.
        on_program: called for every program compiled.
        updated: inputs that nobody reads after the segment, and the outputs that take their place.

    Raises:
        CaptureError, BackendContractError, UnsupportedOpError: it cannot be compiled.
        EngineError: the engine refuses it; for a segment of dynamic sizes that may come with the first call.
    """

    def __init__(
        self,
        module: GraphModule,
        tools: Toolchain,
        on_program: Callable[[], None],
        updated: Mapping[int, int] | None = None,
    ) -> None:
        module = _copy(module)
        self.tools = tools
        self._on_program = on_program
        self._border: Border = dense_at_border(module)
        static = tools.engine.needs_static_shapes
        with paused_garbage_collection(), quiet():
            captured = capture_graph(module, static)
            tools.pipeline.lower_for_engine(captured.program)
        _check_inputs(captured)
        self._captured = captured
        self._hints = _hints(module)
        inputs = captured.program.signature.inputs
        self._given = [item for item in inputs if isinstance(item, UserInput)]
        self._states = [item.tensor for item in inputs if isinstance(item, StateInput)]
        self._updated = self._positions(updated or {})
        sources = [self._as_given(source) for source in captured.symbols]
        self._symbols = sources if static else []
        asked = {name for each in captured.program.signature.decisions for name in each.symbols}
        self._asked_of = [source for source in sources if source.name in asked]
        self._sound = set[tuple[int, ...]]()
        self._loaded: dict[tuple[int, ...], Loaded] = {}
        self._lock = threading.Lock()
        if not self._symbols:
            self.program_for(())

    def _as_given(self, source: SymbolSource) -> SymbolSource:
        """Where a caller's argument has the size, whose dimensions the program may have in another order."""
        order = self._border.entering.get(source.position)
        if order is None or source.axis is None:
            return source
        return replace(source, axis=order[source.axis])

    def program_for(self, arguments: Sequence[Any]) -> Loaded:
        """The program for the sizes of these arguments; compiled if it is the first of them.

        Raises:
            UnsupportedOpError: an op has no lowering for these sizes.
            EngineError: the engine refuses it.
        """
        sizes = tuple([source.value(arguments) for source in self._symbols])
        found = self._loaded.get(sizes)
        if found is not None:
            return found
        with in_turn(), self._lock:
            if sizes not in self._loaded:
                compiled = self._compile(sizes)
                if len(self._loaded) == MOST_PROGRAMS:
                    del self._loaded[next(iter(self._loaded))]
                self._loaded[sizes] = compiled
                self._on_program()
            return self._loaded[sizes]

    def compile_for_hints(self) -> None:
        """Compiles for the sizes that the segment was captured with, if these are known."""
        sizes = [self._hints.get(source.name) for source in self._symbols]
        if None not in sizes:
            self._compile(tuple(sizes))  # type: ignore[arg-type]

    def run(self, loaded: Loaded, arguments: Sequence[Any]) -> Values:
        """Runs the segment.

        Raises:
            EngineError: the engine failed.
            InputError: a check of the program's own does not hold, or not what it needs of sizes.
        """
        if self._asked_of:
            self._check_sizes(arguments)
        if self._captured.program.signature.preconditions:
            check_indices(self._captured.program.signature, arguments)
        given = [self._argument(item, arguments[item.position]) for item in self._given]
        specs = loaded.executable.function.arguments
        given = [
            tensor if tensor.dtype is spec.dtype else for_program(tensor, spec.dtype)
            for tensor, spec in zip([*given, *self._states], specs, strict=True)
        ]
        results = loaded.executable(given)
        if checks := self._captured.program.signature.checks:
            check_results(checks, results, loaded.executable.function.updated)
        for index, dtype in loaded.converts:
            results[index] = from_program(results[index], dtype)
        return self._outputs(results)

    def _check_sizes(self, arguments: Sequence[Any]) -> None:
        """Asks, once for each combination of sizes, what ops need of them and no guard of TorchDynamo's asks."""
        sizes = tuple([source.value(arguments) for source in self._asked_of])
        if sizes in self._sound:
            return
        known = {source.name: size for source, size in zip(self._asked_of, sizes, strict=True)}
        signature = self._captured.program.signature
        decisions = [each for each in signature.decisions if known.keys() >= set(each.symbols)]
        check_decisions(replace(signature, decisions=decisions), known, str)
        if len(self._sound) >= MOST_PROGRAMS:
            self._sound.clear()
        self._sound.add(sizes)

    def _argument(self, item: UserInput, value: Any) -> torch.Tensor:
        if item.type is None:
            return torch.tensor(value, dtype=torch.float64 if isinstance(value, float) else None)
        if isinstance(value, int):
            return torch.empty(value, 0)
        order = self._border.entering.get(item.position)
        return value if order is None else value.permute(order)

    def _outputs(self, results: Sequence[torch.Tensor]) -> Values:
        values = Values()
        remaining = iter(results)
        for index, output in enumerate(self._captured.program.signature.outputs):
            if isinstance(output, ConstantOutput):
                values.append(output.value)
                continue
            assert isinstance(output, UserOutput)
            value = next(remaining)
            restore = self._border.leaving.get(index)
            if output.type is None:
                values.append(value.item())
            else:
                values.append(value if restore is None else restore(value))
        return values

    def _positions(self, updated: Mapping[int, int]) -> dict[int, int]:
        """The same as arguments and results of the function, for what crosses the border as it is."""
        signature = self._captured.program.signature
        arguments = {
            item.position: place
            for place, item in enumerate(signature.inputs)
            if isinstance(item, UserInput)
        }
        outputs = signature.outputs
        computed = [i for i, output in enumerate(outputs) if isinstance(output, UserOutput)]
        results = {index: place for place, index in enumerate(computed)}
        return {
            arguments[given]: results[index]
            for given, index in updated.items()
            if given in arguments and given not in self._border.entering
            if index in results and index not in self._border.leaving
        }

    def _compile(self, sizes: tuple[int, ...]) -> Loaded:
        program, tools = self._captured.program, self.tools
        values = {source.name: size for source, size in zip(self._symbols, sizes, strict=True)}
        with paused_garbage_collection():
            module = tools.pipeline.convert(program, values)
            run_passes(tools.engine.passes.get(tools.pipeline.output_type, ()), module)
            output_type, checks = tools.pipeline.output_type, len(program.signature.checks)
            function = LoweredFunction.of(module, output_type, program.func_name, checks)
            function = tools.engine.updating(function, self._updated)
            executable = compile_cached(tools.engine, function, tools.cache)
        return Loaded(executable, _other_dtypes(captured=self._captured, function=function))


def _copy(module: GraphModule) -> GraphModule:
    graph = Graph()
    graph.output(graph.graph_copy(module.graph, {}))
    return GraphModule(module, graph)


def _hints(module: GraphModule) -> dict[str, int]:
    """The sizes of the example inputs that PyTorch has captured a graph with, by symbol."""
    hints = dict[str, int]()
    for node in module.graph.find_nodes(op="placeholder"):
        value = node.meta.get("val")
        for size in (value, *(value.shape if isinstance(value, torch.Tensor) else ())):
            if isinstance(size, torch.SymInt) and isinstance(hint := size.node.hint, int):
                hints[str(size.node.expr)] = hint
    return hints


def _check_inputs(captured: CapturedGraph) -> None:
    """Refuses what would be wrong in silence: random numbers that are not PyTorch's, halves in other memory."""
    signature = captured.program.signature
    if any(isinstance(item, SeedInput) for item in signature.inputs):
        raise CaptureError(
            "random numbers of the program would not be those of PyTorch's generator"
        )
    types = [*signature.user_inputs, *signature.outputs]
    for item in types:
        type = getattr(item, "type", None)
        if type is not None and dtypes.FROM_ELEMENT_TYPE.get(type.dtype) is torch.complex32:
            raise CaptureError("complex halves have no memory that engines and PyTorch share")


def _other_dtypes(
    captured: CapturedGraph, function: LoweredFunction
) -> tuple[tuple[int, torch.dtype], ...]:
    """Results that the program declares signless or signed where PyTorch's are unsigned."""
    outputs = [o for o in captured.program.signature.outputs if isinstance(o, UserOutput)]
    found = list[tuple[int, torch.dtype]]()
    for index, (output, spec) in enumerate(zip(outputs, function.results)):  # checks come last
        if output.type is None or output.type.dtype is None:
            continue
        dtype = dtypes.FROM_ELEMENT_TYPE[output.type.dtype]
        if dtype is not spec.dtype:
            found.append((index, dtype))
    return tuple(found)
