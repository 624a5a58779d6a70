"""``torch2mlir.compile``: a model as a compiled callable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch2mlir.compiler import (
    Model,
    capture,
    check_output_type,
    legal_ops,
    lower_to_contract,
    pass_weights_as_arguments,
    paused_garbage_collection,
    prepare_for,
)
from torch2mlir.errors import Torch2MLIRError
from torch2mlir.runtime.compiled import CompiledFunction
from torch2mlir.runtime.engine import Engine, get_engine

DEFAULT_ENGINE = {"stablehlo": "xla", "linalg-on-tensors": "iree", "tosa": "iree"}


def compile(
    model: Model,
    *args: Any,
    output_type: str = "stablehlo",
    engine: str | Engine | None = None,
    dynamic_shapes: Any = None,
    backend_legal_ops: Sequence[str] = (),
    prepare_weights: bool = True,
    **kwargs: Any,
) -> CompiledFunction:
    """A model compiled to run on an engine; call the result as the model.

    A program without symbolic sizes is compiled at once, another one when it is called: for every new combination
    of sizes on an engine that needs static shapes (XLA), once on the others.

    Args:
        model: a module, a function of tensors or an exported program.
        args: example arguments.
        output_type: the dialect it goes through, ``stablehlo``, ``linalg-on-tensors`` or ``tosa``.
        engine: ``xla``, ``iree``, ``reference`` or an :class:`~torch2mlir.runtime.engine.Engine`; by default XLA for
            StableHLO and IREE for the others.
        dynamic_shapes: as ``torch.export.export`` takes it.
        backend_legal_ops: non-core ops to keep whole.
        prepare_weights: whether what the model computes from its weights alone is computed once, and again when PyTorch
            sees them change, instead of at every call. It takes memory beside the model's own weights.
        kwargs: example keyword arguments.

    Raises:
        CaptureError, BackendContractError, UnsupportedOpError: the model cannot be compiled to the dialect.
        EngineError: the engine is not installed, does not take the dialect, or refuses the program.
    """
    output_type = check_output_type(output_type)
    if output_type not in DEFAULT_ENGINE:
        raise Torch2MLIRError(
            f"output_type '{output_type}' cannot be run",
            hint=f"use one of {', '.join(DEFAULT_ENGINE)}",
        )
    chosen = (
        engine if isinstance(engine, Engine) else get_engine(engine or DEFAULT_ENGINE[output_type])
    )
    chosen.check_output_type(output_type)
    program = capture(model, *args, dynamic_shapes=dynamic_shapes, **kwargs)
    with paused_garbage_collection():
        lower_to_contract(program, legal_ops(output_type, backend_legal_ops))
        prepare_for(output_type, program)
        pass_weights_as_arguments(program)
    compiled = CompiledFunction(program, output_type, chosen, prepare_weights)
    if not program.signature.ranges:
        compiled.compile_for()
    return compiled
