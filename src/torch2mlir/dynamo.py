"""The backend of ``torch.compile``: whatever TorchDynamo captures, forward and backward, runs on an engine.

    compiled = torch.compile(model, backend="torch2mlir")
    loss = compiled(x).sum()
    loss.backward()
    print(torch2mlir.dynamo.metrics())

PyTorch finds it by its entry point, nothing needs to be imported. Options: ``torch.compile(model, backend="torch2mlir",
options={"engine": "iree", "output_type": "linalg-on-tensors", "fallback": False})``; see
:class:`~torch2mlir.frontends.dynamo.options.Options`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch._ops import OpOverload
from torch.fx import GraphModule
from torch.utils._python_dispatch import _disable_current_modes

from torch2mlir.api import engine_for
from torch2mlir.errors import InputError
from torch2mlir.frontends.dynamo.kept_whole import kept_whole
from torch2mlir.frontends.dynamo.options import Options
from torch2mlir.frontends.dynamo.overlapping_arguments import in_pytorch_where_they_overlap
from torch2mlir.frontends.dynamo.random_draws import DECOMPOSITIONS
from torch2mlir.frontends.dynamo.refused_graphs import refused_write
from torch2mlir.frontends.dynamo.single_elements import tensors_stay
from torch2mlir.frontends.dynamo.unused_draws import drawn_forward, unused_draws_stay
from torch2mlir.frontends.fx.flex_attention import flex_attention_as_ops
from torch2mlir.pipeline import Pipeline
from torch2mlir.runtime.cache import CodeCache, cache_from_environment, cache_in
from torch2mlir.runtime.dynamo_metrics import FallbackWarning, Metrics, Recorder
from torch2mlir.runtime.engine import dialect_for
from torch2mlir.runtime.graph import CompiledGraph
from torch2mlir.runtime.segment import Toolchain

__all__ = ["FallbackWarning", "Metrics", "Options", "backend", "metrics", "reset_metrics"]

_recorder = Recorder()


def backend(
    module: GraphModule,
    example_inputs: Sequence[Any],
    *,
    options: Mapping[str, Any] | None = None,
    mode: str | None = None,
) -> Callable[..., Any]:
    """Compiles a graph of TorchDynamo; ``torch.compile(backend="torch2mlir")`` calls it.

    Args:
        module: the graph.
        example_inputs: fake tensors and sizes.
        options: see :class:`~torch2mlir.frontends.dynamo.options.Options`.
        mode: as ``torch.compile`` takes it.

    Raises:
        Torch2MLIRError: an unknown option or mode, an output type that cannot be run.
        EngineError: the engine is not installed or does not take the output type.
        CaptureError, BackendContractError, UnsupportedOpError: with ``fallback=False``, something cannot be compiled.
    """
    chosen = Options.of(options, mode)
    if (refused := refused_write(module)) is not None:
        if not chosen.fallback:
            raise refused
        _recorder.count(graphs=1)
        _recorder.fall_back([refused.op or ""], refused.message)
        return module.forward
    tools = _tools(chosen)

    def compile_graph(graph: GraphModule, _: Sequence[Any], in_training: bool) -> CompiledGraph:
        # AOTAutograd compiles under its fake mode, in which constants would have no elements
        with _disable_current_modes():
            return CompiledGraph(graph, tools, chosen.fallback, _recorder, in_training)

    of_training = partial(compile_graph, in_training=True)
    compiler = aot_autograd(
        fw_compiler=of_training,
        bw_compiler=of_training,
        inference_compiler=partial(compile_graph, in_training=False),
        partition_fn=drawn_forward(min_cut_rematerialization_partition),
        keep_inference_input_mutations=True,
        decompositions=_decompositions(),
    )
    with kept_whole(), flex_attention_as_ops(), tensors_stay(module), unused_draws_stay():
        compiled: Callable[..., Any] = compiler(module, example_inputs)
    # PyTorch's wrappers copy it from what they wrap, but this takes its arguments one by one; the minifier asks
    vars(compiled).pop("_boxed_call", None)
    return in_pytorch_where_they_overlap(module, compiled, partial(_overlapping, chosen.fallback))


def _overlapping(fallback: bool) -> None:
    """Notes a call whose arguments share memory with one that is written to, or refuses it."""
    reason = "an argument shares memory with one that the graph writes to"
    if not fallback:
        raise InputError(reason, hint="clone one of them, or leave out fallback=False")
    _recorder.fall_back(["a call of a graph"], reason)


def _tools(options: Options) -> Toolchain:
    """Who compiles segments: the engine asked for, the one that suits each, or with ``tune`` all that are installed."""
    dialect = dialect_for(options.engine, options.output_type)
    pipeline = Pipeline.to(dialect, check_indices=options.check_indices)
    engine = engine_for(pipeline, options.engine)
    tools = Toolchain(pipeline, engine, _cache(options))
    if options.tune is not False:
        from torch2mlir.hybrid.tuned_segment import TunedSegment

        tuned = partial(
            TunedSegment, tune=str(options.tune), stays=options.fallback, recorder=_recorder
        )
        return replace(tools, segment=tuned)
    if options.engine is None and options.output_type is None:
        from torch2mlir.hybrid.pytorch_kernels import faster_in_pytorch
        from torch2mlir.hybrid.suited_segment import suited_segment

        suited = partial(suited_segment, recorder=_recorder)
        return replace(tools, segment=suited, in_pytorch=faster_in_pytorch)
    return tools


def _decompositions() -> dict[OpOverload, Callable[..., Any]]:
    """What AOTAutograd writes for ops; of those that are not ATen's PyTorch registers some when it needs them."""
    fused = getattr(torch.ops.prims, "fma", None)
    of_fused = {} if fused is None else {fused.default: lambda a, b, c: a * b + c}
    return {**DECOMPOSITIONS, **of_fused}


def _cache(options: Options) -> CodeCache | None:
    if isinstance(options.cache, bool):
        return cache_from_environment(default=True) if options.cache else None
    return cache_in(options.cache)


def metrics() -> Metrics:
    """Graphs, compiled segments and programs, and what PyTorch has run itself."""
    return _recorder.snapshot()


def reset_metrics() -> None:
    """Counts from zero, and warns again of what PyTorch runs."""
    _recorder.reset()
