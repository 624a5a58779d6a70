"""What torch.export cannot trace, from its source: TorchScript has branches, loops and arithmetic on numbers.

``torch.jit.script`` compiles what the model's Python says, and takes types to be what it infers. Where that is another
program than the model's, it is refused: results must be those of eager mode on the example, in value, type and
structure, and nothing may be in the program that TorchScript means otherwise than Python.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from typing import Any

import torch
from torch.nn.modules import module as modules
from torch.utils import _pytree as pytree

from torch2mlir.errors import CaptureError
from torch2mlir.frontends.changing_models import Changes
from torch2mlir.frontends.fx.quiet import quiet
from torch2mlir.frontends.torchscript.example_args import ExampleArgs
from torch2mlir.frontends.trials import cloned, undone
from torch2mlir.program import Program, renamed
from torch2mlir.runtime.agreement import difference

_OTHERWISE = {
    "aten::pow.int": "a power of ints is a float there",
    "aten::round.int": "round gives a float there",
    "aten::round.float": "round gives a float there",
    "aten::round.Scalar": "round gives a float there",
    "prim::max.int_float": "the larger of an int and a float is a float there",
    "prim::max.float_int": "the larger of an int and a float is a float there",
    "prim::min.int_float": "the smaller of an int and a float is a float there",
    "prim::min.float_int": "the smaller of an int and a float is a float there",
}
"""Ops of TorchScript whose Python spelling gives another type of number in Python."""


def captured_by_source(
    model: Any, args: Sequence[Any], kwargs: Mapping[str, Any], func_name: str = "main"
) -> Program:
    """The raw program of a module or a function that is written in what TorchScript knows of Python.

    Raises:
        CaptureError, BackendContractError: it is not, or the program is another one than the model.
    """
    _check_hooks()
    parameters = _parameters(model)
    given = _positional(parameters, args, kwargs)
    with quiet():
        script, program = _scripted(model, given)
    for name in _schemas(script.inlined_graph):
        if name in _OTHERWISE:
            raise CaptureError(f"{_OTHERWISE[name]} ('{name}')")
    _check_results(model, script, given, program)
    Changes(model).check(args, kwargs)
    _check_contract(program)
    program.signature.parameters = parameters
    program.model = model
    return renamed(program, func_name)


def _check_hooks() -> None:
    """Raises an error where calls of all modules do more than their ``forward``: scripted ones do not."""
    if modules._global_forward_hooks or modules._global_forward_pre_hooks:
        raise CaptureError("TorchScript does not run the hooks that all modules have")


def _parameters(model: Any) -> inspect.Signature:
    try:
        return inspect.signature(model.forward if isinstance(model, torch.nn.Module) else model)
    except (TypeError, ValueError):
        raise CaptureError(f"a {type(model).__name__} has no Python source") from None


def _positional(
    parameters: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> list[Any]:
    bound = parameters.bind(*args, **kwargs)
    if bound.kwargs or any(p.kind is p.VAR_POSITIONAL for p in parameters.parameters.values()):
        raise CaptureError("TorchScript takes no *args, **kwargs or keyword-only arguments")
    names = list(parameters.parameters)
    if list(bound.arguments) != names[: len(bound.arguments)]:
        raise CaptureError("an argument before one that is given is left at its default")
    return list(bound.args)


def _scripted(model: Any, given: Sequence[Any]) -> tuple[Any, Program]:
    """What runs as TorchScript, and its program."""
    from torch2mlir.frontends.torchscript.script import to_script
    from torch2mlir.scripted import script_program

    examples = ExampleArgs.get(list(given))
    script = to_script(model, examples)
    program = script_program(script, examples)
    runs: Any = script
    if not isinstance(script, torch.jit.ScriptFunction):
        runs = script.cpp_module._get_method("forward")
    return runs, program


def _schemas(graph: Any) -> Iterator[str]:
    """The ops of a graph and of the blocks in it, with their overloads."""
    for node in graph.nodes():
        schema = node.schema()
        if schema != "(no schema)":
            yield schema.partition("(")[0]
        for block in node.blocks():
            yield from _schemas(block)


def _check_results(model: Any, script: Any, given: Sequence[Any], program: Program) -> None:
    """Runs both on the example, each on tensors of its own.

    Raises:
        CaptureError: they differ.
    """
    results = list[Any]()
    for run in (model, script):
        with ExitStack() as trial:
            is_module = isinstance(model, torch.nn.Module)
            trial.enter_context(undone(model) if is_module else nullcontext())
            trial.enter_context(torch.random.fork_rng(devices=[]))
            trial.enter_context(torch.no_grad())
            try:
                results.append(run(*cloned(tuple(given))))
            except Exception as error:
                who = "the model" if run is model else "TorchScript"
                raise CaptureError(f"{who} raises {type(error).__name__} on the example") from error
    expected, actual = results
    if pytree.tree_structure(expected) != program.signature.out_spec:
        raise CaptureError("the result has another structure as TorchScript")
    pairs = zip(pytree.tree_leaves(actual), pytree.tree_leaves(expected), strict=True)
    for index, (mine, other) in enumerate(pairs):
        if isinstance(other, torch.Tensor):
            problem = difference(mine, other)
        else:
            same = type(mine) is type(other) and (
                mine == other or (mine != mine and other != other)
            )
            problem = None if same else f"is {mine!r} where it is {other!r} in PyTorch"
        if problem is not None:
            raise CaptureError(f"result {index} as TorchScript {problem}")


def _check_contract(program: Program) -> None:
    """Raises an error if a copy of the program does not reach the contract: capture is the last to have a choice."""
    from torch2mlir.pipeline import Pipeline

    signature = program.signature
    copied = replace(
        signature,
        inputs=list(signature.inputs),
        outputs=list(signature.outputs),
        decisions=list(signature.decisions),
    )
    Pipeline.to("torch").lower(replace(program, module=program.module.clone(), signature=copied))
