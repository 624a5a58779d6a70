"""A segment of a graph of ``torch.compile``, compiled by the engine that suits what is in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from torch.fx import GraphModule

from torch2mlir.errors import Torch2MLIRError
from torch2mlir.hybrid.ways import Way, suited_to_graph
from torch2mlir.runtime.dynamo_metrics import Recorder
from torch2mlir.runtime.segment import CompiledSegment, Toolchain


def suited_segment(
    module: GraphModule,
    tools: Toolchain,
    on_program: Callable[[], None],
    updated: Mapping[int, int],
    *,
    recorder: Recorder,
) -> CompiledSegment:
    """A segment that the first engine takes which suits it.

    Args:
        module: the segment.
        tools: the pipeline and the engine of what no rule gives to another.
        on_program: called for every program compiled.
        updated: as ``CompiledSegment`` takes it.
        recorder: gets a line about an engine that is not that of ``tools``.

    Raises:
        CaptureError, BackendContractError, UnsupportedOpError, EngineError: none can compile it; what is against the
            last.
    """
    suited = suited_to_graph(None, module.graph, updates=bool(updated), weights_vary=True)
    for way in suited.ways:
        try:
            segment = CompiledSegment(module, _tools_for(way, tools), on_program, updated)
        except Torch2MLIRError:
            if way is suited.ways[-1]:
                raise
            continue
        if way.engine is not tools.engine:
            calls = [node for node in module.graph.nodes if node.op == "call_function"]
            recorder.chose(f"segment of {len(calls)} calls: {way.name}, {suited.rule}", [], "")
        return segment
    raise AssertionError("there is always a way")


def _tools_for(way: Way, tools: Toolchain) -> Toolchain:
    if way.engine is tools.engine:
        return replace(tools, segment=None)
    pipeline = replace(tools.pipeline, output_type=way.dialect)
    return replace(tools, pipeline=pipeline, engine=way.engine, segment=None)
