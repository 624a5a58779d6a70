"""Further programs of a model: for calls whose sizes lead its code, or a decomposition, another way than at capture.

A program holds for the answers that the code got about sizes when it was captured (``if x.shape[0] > 1``). A call for
which they are others is captured again, with its sizes of 0 and 1 fixed and the others left to vary (all of them fixed
where that cannot be), as often as a model has such ways, within bounds.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.export import Dim, ShapesCollection

from torch2mlir.dialects.torch.dims import Dim as Size
from torch2mlir.errors import InputError, Torch2MLIRError
from torch2mlir.frontends.changing_models import LaterCallsDiffer
from torch2mlir.runtime.small_sizes import AnotherProgram
from torch2mlir.turns import in_turn

if TYPE_CHECKING:
    from torch2mlir.runtime.compiled import CompiledFunction

Capture = Callable[[Sequence[Any], Mapping[str, Any], Any], "CompiledFunction"]
"""Compiles the model for example arguments and ``dynamic_shapes``."""

_MOST = 16
"""Programs of one model. Each is captured and compiled, which takes seconds."""


class OtherPrograms:
    """Finds or makes the program for a call that the first one does not hold for.

    Args:
        model: what is captured.
        capture: compiles it again.
    """

    def __init__(self, model: Any, capture: Capture) -> None:
        self._model = model
        self._capture = capture
        self._mode = _mode(model)
        self._programs = list["CompiledFunction"]()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._programs)

    def __iter__(self) -> Any:
        return iter(list(self._programs))

    def of(
        self,
        first: CompiledFunction,
        refusal: AnotherProgram,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
    ) -> CompiledFunction:
        """The program for a call.

        Args:
            first: the one that refused it.
            refusal: with what.
            args: of the call.
            kwargs: of the call.

        Raises:
            AnotherProgram: there can be none: the model is in another mode than at capture, or has too many programs.
        """
        with in_turn(), self._lock:
            for program in self._programs:
                if _takes(program, args, kwargs):
                    return program
            if len(self._programs) >= _MOST or _mode(self._model) != self._mode:
                raise refusal
            made = self._made(first, refusal, args, kwargs)
            self._programs.append(made)
            return made

    def _made(
        self,
        first: CompiledFunction,
        refusal: AnotherProgram,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
    ) -> CompiledFunction:
        """A program for a call: for others like it too if there can be one, else for its sizes alone."""
        failure: Torch2MLIRError | None = None
        varying = _varying(first, args, kwargs)
        for shapes in (varying, None) if varying is not None else (None,):
            try:
                made = self._capture(args, kwargs, shapes)
            except Torch2MLIRError as error:
                failure = error
                if isinstance(
                    error, LaterCallsDiffer
                ):  # a call of these sizes alone may not show it
                    break
                continue
            if _takes(made, args, kwargs):
                return made
            failure = None
        if failure is None:
            raise refusal
        raise AnotherProgram(
            f"{refusal.message}; and it can have no program of its own: {failure.message}",
            op=failure.op,
            location=failure.location,
            dialect=failure.dialect,
            hint=failure.hint or refusal.hint,
        ) from failure


def _takes(program: CompiledFunction, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    try:
        program.calling.bind(args, kwargs)
    except InputError:
        return False
    return True


def _mode(model: Any) -> tuple[Any, ...]:
    """What a capture depends on beside the arguments: a model in another mode is another program."""
    modules = model.modules() if isinstance(model, torch.nn.Module) else ()
    autocast = torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")
    return *autocast, *(module.training for module in modules)


def _varying(
    first: CompiledFunction, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> ShapesCollection | None:
    """The sizes that may vary in the program for a call: those that may in the first one, but for 0 and 1."""
    leaves = first.calling.leaves(args, kwargs, as_captured=False)
    shapes = ShapesCollection()
    for item in first.program.signature.user_inputs:
        sizes = (item.type.sizes if item.type else None) or ()
        tensor = leaves[item.position]
        varying = {
            axis: Dim.AUTO
            for axis, size in enumerate(sizes)
            if isinstance(size, Size) and tensor.shape[axis] > 1
        }
        if varying:
            shapes[tensor] = varying
    return shapes if len(shapes) else None
