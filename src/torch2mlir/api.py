"""The verbs of the public interface: a model as MLIR, and a model as a compiled callable."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from torch2mlir.contract.target import get_target, target_names
from torch2mlir.errors import (
    BackendContractError,
    EngineError,
    Torch2MLIRError,
    UnsupportedOpError,
)
from torch2mlir.frontends.capture import Model, capture, captured
from torch2mlir.frontends.returned_arguments import give_arguments_back
from torch2mlir.garbage import paused_garbage_collection
from torch2mlir.module import MlirModule
from torch2mlir.pipeline import Pipeline
from torch2mlir.program import Program
from torch2mlir.runtime.buckets import BucketRequest
from torch2mlir.runtime.compiled import CompiledFunction
from torch2mlir.runtime.engine import Engine, as_engine, dialect_for
from torch2mlir.runtime.other_programs import OtherPrograms

if TYPE_CHECKING:
    from torch2mlir.hybrid.ways import Suited

WEIGHT_MODES = ("inline", "external", "arguments")


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
        output_type: ``raw``, ``torch``, ``linalg-on-tensors``, ``tosa``, ``stablehlo``, ``mhlo`` or ``onnx``.
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
    pipeline = Pipeline.to(output_type, backend_legal_ops)
    if weights not in WEIGHT_MODES:
        raise Torch2MLIRError(
            f"unknown weights mode '{weights}'", hint=f"use one of {', '.join(WEIGHT_MODES)}"
        )
    with paused_garbage_collection():
        program = capture(
            model, *args, dynamic_shapes=dynamic_shapes, func_name=func_name, **kwargs
        )
        return MlirModule(pipeline.run(program, weights == "arguments"), weights)


def compile(
    model: Model,
    *args: Any,
    output_type: str | None = None,
    engine: str | Engine | None = None,
    dynamic_shapes: Any = None,
    backend_legal_ops: Sequence[str] = (),
    prepare_weights: bool = True,
    guard: bool | None = None,
    verify: bool = False,
    buckets: bool | Mapping[str, Sequence[int]] = False,
    check_indices: bool = True,
    example_kwargs: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> CompiledFunction:
    """A model compiled to run on an engine; call the result as the model.

    A program without symbolic sizes is compiled at once, another one when it is called: for every new combination
    of sizes on an engine that needs static shapes (XLA), once on the others. Where the model's code asks about a size
    (a batch of 1) and goes another way than for the example, or makes a number of one that ``dynamic_shapes`` leaves to
    capture, the model is captured again at the first such call. So it is where its code asks how an argument lies in
    memory, or for a flag such as ``requires_grad``, and for dictionaries in another order.

    Args:
        model: a module, a function of tensors or an exported program.
        args: example arguments.
        output_type: the dialect it goes through, ``stablehlo``, ``linalg-on-tensors``, ``tosa`` or ``onnx``; by default
            the one in which the engine does most, ``stablehlo`` without one.
        engine: ``xla``, ``iree``, ``onnxruntime``, ``openvino``, ``reference`` or an
            :class:`~torch2mlir.runtime.engine.Engine`; by default the dialect's own, XLA for StableHLO. ``auto``
            chooses among those installed by what is in the program (:mod:`torch2mlir.hybrid.rules`), and goes on to the
            next if one refuses it; ``engine`` of the result tells which it is, ``chosen_by`` by which rule.
        dynamic_shapes: as ``torch.export.export`` takes it.
        backend_legal_ops: non-core ops to keep whole.
        prepare_weights: whether what the model computes from its weights alone is computed once, and again when PyTorch
            sees them change, instead of at every call. It takes memory beside the model's own weights.
        guard: whether every call looks for writes of the engine into inputs, weights and prepared weights; by default
            as the environment's ``TORCH2MLIR_GUARD`` says.
        verify: whether the first call with each combination of sizes runs on eager PyTorch too, and an EngineError
            tells where they differ. Programs that draw random numbers are not compared.
        buckets: for an engine that compiles for every combination of sizes, which sizes are rounded up and to what:
            ``{"batch": [1, 2, 4, 8], "length": [64, 128, 256]}``, by the names of ``dynamic_shapes``; larger ones run
            as they are. True rounds all that vary up to powers of two. Arguments are padded and results cut; that
            padding changes nothing is shown from the program, or it is refused.
        check_indices: whether an index outside of the tensor it is for is an InputError of the call, as it is one of
            eager PyTorch's. Without it such a call has any result, or ends the process.
        example_kwargs: example keyword arguments whose names are options here, as an argument of the model that is
            called ``engine``.
        kwargs: example keyword arguments.

    Raises:
        CaptureError, BackendContractError, UnsupportedOpError: the model cannot be compiled to the dialect, or an op is
            not known to keep the padding of buckets apart.
        EngineError: the engine is not installed, does not take the dialect, or refuses the program.
        InputError: buckets for sizes that do not vary, or for an engine that takes varying sizes.
    """
    for name, option in (("engine", engine), ("output_type", output_type), ("buckets", buckets)):
        _check_option(name, option)
    request = BucketRequest(buckets) if buckets else None
    eager = _eager(model) if verify else None

    examples = {**kwargs, **(example_kwargs or {})}

    def by(dialect: str, chosen: Engine, known: Program | None = None) -> CompiledFunction:
        pipeline = Pipeline.to(dialect, backend_legal_ops, check_indices)
        keeps_state = chosen.needs_static_shapes or not get_target(dialect).sizes_from_data
        if request is not None:
            request.check_engine(chosen)

        def compiled(
            args: Sequence[Any],
            kwargs: Mapping[str, Any],
            dynamic_shapes: Any,
            known: Program | None = None,
        ) -> CompiledFunction:
            program = known
            if program is None:
                program = captured(model, args, kwargs, dynamic_shapes, keeps_state=keeps_state)
            if program is not model and program.signature.returned:
                give_arguments_back(program)
            with paused_garbage_collection():
                pipeline.lower_for_engine(program)
                rounding = None if request is None else request.of(program)
            function = CompiledFunction(
                program, pipeline, chosen, prepare_weights, guard, eager, None, rounding
            )
            if not program.signature.ranges:
                function.compile_for()
            return function

        first = compiled(args, examples, dynamic_shapes, known)
        if not isinstance(model, _CAPTURED):
            first.others = OtherPrograms(model, compiled)
        return first

    if engine != AUTO:
        dialect = dialect_for(engine, output_type)
        return by(dialect, engine_for(Pipeline.to(dialect, backend_legal_ops), engine))
    program = captured(model, args, examples, dynamic_shapes)
    suited = _suited(program, output_type, bool(buckets))
    known: Program | None = program
    for way in suited.ways:
        try:
            function = by(way.dialect, way.engine, known)
        except _REFUSALS:
            # a program that was given has been lowered for this engine
            if way is suited.ways[-1] or isinstance(model, Program):
                raise
            known = None
        else:
            function.chosen_by = suited.rule
            return function
    raise AssertionError("there is always a way")


_REFUSALS = (BackendContractError, UnsupportedOpError, EngineError)
AUTO = "auto"
"""An engine's name that leaves the choice to what is in the program."""


def _suited(program: Program, output_type: str | None, is_bucketed: bool) -> Suited:
    """Dialects and engines for a program, the one that suits it first.

    Raises:
        EngineError: none is installed.
    """
    from torch2mlir.hybrid.content import content_of_program
    from torch2mlir.hybrid.ways import suited

    return suited(content_of_program(program, is_bucketed=is_bucketed), output_type)


_CAPTURED = (
    torch.export.ExportedProgram,
    Program,
    torch.jit.ScriptModule,
    torch.jit.ScriptFunction,
)
"""Models that are programs already: there is nothing to capture again."""


def _eager(model: Model) -> Callable[..., Any]:
    """What a compiled model is compared with."""
    if isinstance(model, torch.export.ExportedProgram):
        module: Callable[..., Any] = model.module()
        return module
    if not callable(model):
        raise Torch2MLIRError(
            f"verify=True compares with PyTorch, and a {type(model).__name__} does not run there",
            hint="compile the model it was captured from",
        )
    return model


def _check_option(name: str, option: Any) -> None:
    """Raises an error for a tensor given as an option: it was meant for the model."""
    if isinstance(option, torch.Tensor):
        raise Torch2MLIRError(
            f"{name}= is an option here, and an argument of the model",
            hint=f"give the model's by position, or as example_kwargs={{'{name}': ...}}",
        )


def engine_for(pipeline: Pipeline, engine: str | Engine | None) -> Engine:
    """The engine that runs what a pipeline makes: the one asked for, or the target's own.

    Raises:
        Torch2MLIRError: the output type cannot be run.
        EngineError: the engine is not installed or does not take the target.
    """
    default = get_target(pipeline.output_type).default_engine if pipeline.is_conversion else None
    if engine is None and default is None:
        runnable = [name for name in target_names() if get_target(name).default_engine]
        raise Torch2MLIRError(
            f"output_type '{pipeline.output_type}' cannot be run",
            hint=f"use one of {', '.join(runnable)}",
        )
    chosen = as_engine(engine or default)
    chosen.check_output_type(pipeline.output_type)
    return chosen
