"""A segment of a graph of ``torch.compile`` that its first call gives to the fastest way to run it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from torch.fx import GraphModule

from torch2mlir.hybrid.choice import Budget, Choice, Option
from torch2mlir.hybrid.config import BUDGETS
from torch2mlir.hybrid.ways import Way, installed
from torch2mlir.runtime.dynamo_metrics import Recorder
from torch2mlir.runtime.segment import CompiledSegment, Loaded, Toolchain, Values
from torch2mlir.turns import in_turn

PYTORCH_IS_FASTEST = "PyTorch is the fastest"


class TunedSegment:
    """A segment that one engine compiles at once; its first call measures all of them, and PyTorch.

    Args:
        module: the segment.
        tools: who compiles it at once, and shows that it can be compiled.
        on_program: called for every program compiled.
        updated: as ``CompiledSegment`` takes it; what is measured overwrites nothing.
        tune: "fast" or "full".
        stays: whether PyTorch may run it if that is fastest.
        recorder: gets a line about the choice.

    Raises:
        CaptureError, BackendContractError, UnsupportedOpError, EngineError: it cannot be compiled.
    """

    def __init__(
        self,
        module: GraphModule,
        tools: Toolchain,
        on_program: Callable[[], None],
        updated: Mapping[int, int],
        *,
        tune: str,
        stays: bool,
        recorder: Recorder,
    ) -> None:
        self._first = CompiledSegment(module, tools, on_program)
        self._module = module
        self._tools = replace(tools, segment=None)
        self._on_program = on_program
        self._updated = updated
        self._tune = tune
        self._stays = stays
        self._recorder = recorder
        self._is_chosen = False
        self._chosen: CompiledSegment | None = None
        self._lock = threading.Lock()

    def program_for(self, arguments: Sequence[Any]) -> Loaded | None:
        """The program for the sizes of these arguments, in the fastest way; None if PyTorch is that.

        Raises:
            UnsupportedOpError: an op has no lowering for these sizes.
            EngineError: the engine refuses it.
        """
        if not self._is_chosen:
            with in_turn(), self._lock:
                if not self._is_chosen:
                    self._choose(arguments)
        return None if self._chosen is None else self._chosen.program_for(arguments)

    def run(self, loaded: Loaded, arguments: Sequence[Any]) -> Values:
        """Runs the segment.

        Raises:
            EngineError: the engine failed, or a check of the program's own.
        """
        assert self._chosen is not None
        return self._chosen.run(loaded, arguments)

    def _choose(self, arguments: Sequence[Any]) -> None:
        seconds = BUDGETS[self._tune]
        made = dict[str, CompiledSegment]()
        calls = [n for n in self._module.graph.nodes if n.op == "call_function"]
        choice = Choice(
            f"segment of {len(calls)} calls",
            self._module,
            arguments,
            len(calls),
            [self._option(way, made) for way in installed()],
            Budget(self._tune, seconds, time.perf_counter() + seconds),
            self._stays,
        )
        chosen, eager = choice.made()
        left = [] if chosen.engine else [str(node.target) for node in calls]
        shown = f"{chosen.name} {chosen.best * 1e3:.3g} ms, pytorch {eager * 1e3:.3g} ms"
        self._recorder.chose(f"{choice.name}: {shown}", left, PYTORCH_IS_FASTEST)
        self._chosen = made[chosen.name] if chosen.engine else None
        if self._chosen is not None and self._updated:
            tools = self._chosen.tools
            self._chosen = CompiledSegment(self._module, tools, self._on_program, self._updated)
        self._is_chosen = True

    def _option(self, way: Way, made: dict[str, CompiledSegment]) -> Option:
        own = self._tools.engine is way.engine

        def make() -> Callable[..., Values]:
            segment = self._first
            if not own:
                pipeline = replace(self._tools.pipeline, output_type=way.dialect)
                tools = replace(self._tools, pipeline=pipeline, engine=way.engine)
                segment = CompiledSegment(self._module, tools, self._on_program)
            made[way.name] = segment
            return lambda *args: segment.run(segment.program_for(args), list(args))

        return Option(way.name, make, way.engine, own)
