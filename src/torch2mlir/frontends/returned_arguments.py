"""Results of a model that are its arguments: a call gives the caller's own tensors back, as in eager mode.

A StaticCache is written in place and is part of the result. As results of a function its tensors would be copies of
the whole cache, at every token; as the arguments themselves they cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils import _pytree as pytree
from xdsl.dialects.func import ReturnOp

from torch2mlir.dialects.torch.symbols import retype_function
from torch2mlir.frontends.pytrees import register_types
from torch2mlir.frontends.watched_calls import calls_watched
from torch2mlir.program import ArgumentOutput, Program, UserOutput, entry_function


@contextmanager
def results_noted(model: torch.nn.Module, returned: dict[int, int]) -> Iterator[None]:
    """While this lasts, notes which leaves of a call's result are which leaves of its arguments, the same objects.

    Types that hold the model's results are made known to PyTorch.
    """
    given = dict[int, int]()

    def at_start(_model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        given.clear()
        for place, leaf in enumerate(pytree.tree_leaves((args, kwargs))):
            if isinstance(leaf, torch.Tensor):
                given[id(leaf)] = place

    def at_end(_model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        register_types(result)
        returned.clear()
        for place, leaf in enumerate(pytree.tree_leaves(result)):
            if isinstance(leaf, torch.Tensor) and id(leaf) in given:
                returned[place] = given[id(leaf)]

    with calls_watched(model, at_start, at_end):
        yield


def give_arguments_back(program: Program) -> None:
    """Takes results that are arguments the program writes to from those of its function; in place."""
    signature = program.signature
    function = entry_function(program.module, program.func_name)
    end = function.body.block.last_op
    assert isinstance(end, ReturnOp)
    written = {mutation.position for mutation in signature.mutations}
    operands = list(end.operands)
    kept, values = operands[: len(signature.mutations)], iter(operands[len(signature.mutations) :])
    for place, output in enumerate(signature.outputs):
        if not isinstance(output, UserOutput):
            continue
        value, position = next(values), signature.returned.get(place)
        if output.type is not None and position is not None and position in written:
            signature.outputs[place] = ArgumentOutput(position)
        else:
            kept.append(value)
    end.operands = [*kept, *values]
    retype_function(function)
