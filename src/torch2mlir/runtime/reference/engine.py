"""The reference engine: numpy arrays through an interpreter, every intermediate value open to inspection."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from xdsl.dialects.builtin import FunctionType
from xdsl.interpreter import Interpreter
from xdsl.ir import Attribute, Operation

from torch2mlir.dialects.locations import describe
from torch2mlir.runtime.engine import Engine, Executable, Prepared, host_tensor
from torch2mlir.runtime.lowered import LoweredFunction, TensorSpec
from torch2mlir.runtime.reference.func import call_function
from torch2mlir.runtime.reference.interpreter import (
    ReferenceInterpreter,
    attribute,
    check_supported,
    op_name,
)
from torch2mlir.runtime.reference.values import Array, Resources, as_narrow, dtype_of, held_dtype

Observer = Callable[[Operation, tuple[Array, ...]], None]
"""Called with every op that has run and its results, in order."""


class ReferenceEngine(Engine):
    """Runs Linalg-on-Tensors with numpy alone. It defines what is correct; it is not meant to be fast."""

    name = "reference"
    output_types = frozenset({"linalg-on-tensors"})

    def compile(
        self, function: LoweredFunction, resources: Resources | None = None
    ) -> ReferenceExecutable:
        """Loads a function for interpretation; weights stay where they are.

        Args:
            function: what to run.
            resources: the bytes of ``dense_resource`` literals by name, when the text has them elsewhere.

        Raises:
            EngineError: another dialect, or an op that is not implemented.
        """
        self.check_output_type(function.target.name)
        check_supported(function.module)
        interpreter = ReferenceInterpreter(function.module, resources=resources or _no_resources)
        return ReferenceExecutable(interpreter, function)


def _no_resources(name: str) -> bytes | None:
    return None


@dataclass(frozen=True)
class Traced:
    """One intermediate value of a run."""

    name: str
    """The name of the value in the text, or the op's and the number of the result."""
    op: str
    location: str | None
    """The line of the user's program."""
    value: Array


class _Watch(Interpreter.Listener):
    """Tells an observer about ops, those inside the bodies of loop nests excepted."""

    def __init__(self, interpreter: ReferenceInterpreter, observer: Observer) -> None:
        self._interpreter = interpreter
        self._observer = observer

    def did_interpret_op(self, op: Operation, results: tuple[Any, ...]) -> None:
        if results and not self._interpreter.inside_nest:
            self._observer(op, results)


class ReferenceExecutable(Executable):
    """A function to be interpreted. Calls from several threads take turns."""

    def __init__(self, interpreter: ReferenceInterpreter, function: LoweredFunction) -> None:
        super().__init__(function)
        self.interpreter = interpreter
        self._entry = interpreter.symbol(function.name)
        self._type = cast(FunctionType, attribute(self._entry, "function_type"))
        self._lock = threading.Lock()

    def prepare(self, tensor: torch.Tensor) -> Prepared:
        """A tensor as the array the interpreter reads; shared, unless numpy lacks its dtype."""
        dense = host_tensor(tensor)
        array = _to_array(dense)
        return Prepared(
            array,
            tensor.dtype,
            tuple(tensor.shape),
            array.ctypes.data,
            array.ctypes.data == tensor.data_ptr(),
        )

    def run(self, args: Sequence[Any]) -> list[torch.Tensor]:
        """Runs the function on tensors and prepared tensors.

        Raises:
            EngineError: an op failed, or a check of the program's own (``cf.assert``).
        """
        arrays = [
            _as_declared(
                arg.handle if isinstance(arg, Prepared) else _to_array(host_tensor(arg)), type_
            )
            for arg, type_ in zip(args, self._type.inputs, strict=True)
        ]
        with self._lock, np.errstate(all="ignore"), self.interpreter.run():
            results = call_function(self.interpreter, self._entry, arrays)
            seen = {id(array) for array in self.interpreter.globals.values()}
            tensors = []
            for result, spec in zip(results, self.function.results, strict=True):
                tensors.append(_to_tensor(result, spec, id(result) not in seen))
                seen.add(id(result))
        return tensors

    @contextmanager
    def observed(self, observer: Observer) -> Iterator[None]:
        """While this lasts, every op that runs is reported: ``observer(op, results)``."""
        watch = _Watch(self.interpreter, observer)
        self.interpreter.listeners = (*self.interpreter.listeners, watch)
        try:
            yield
        finally:
            self.interpreter.listeners = tuple(
                other for other in self.interpreter.listeners if other is not watch
            )

    def trace(self, args: Sequence[Any]) -> list[Traced]:
        """Runs the function and returns every intermediate value, in the order they were computed."""
        trace: list[Traced] = []

        def record(op: Operation, results: tuple[Array, ...]) -> None:
            for number, (value, result) in enumerate(zip(results, op.results, strict=True)):
                name = result.name_hint or f"{op_name(op)}#{number}"
                trace.append(Traced(name, op_name(op), describe(op.location), value))

        with self.observed(record):
            self(args)
        return trace


def _to_array(tensor: torch.Tensor) -> Array:
    return tensor.to(held_dtype(tensor.dtype)).numpy()


def _as_declared(array: Array, type_: Attribute) -> Array:
    """An unsigned tensor behind a signless type is read as signed."""
    held = dtype_of(type_)
    return array if array.dtype == held else array.view(held)


def _to_tensor(result: Array, spec: TensorSpec, fresh: bool) -> torch.Tensor:
    """A result as a tensor of its own memory."""
    own = fresh and result.flags.owndata and result.flags.writeable and result.flags.c_contiguous
    array = result if own else np.array(result, order="C")
    if held_dtype(spec.dtype) is spec.dtype:
        return torch.from_numpy(array)
    return as_narrow(array, spec.dtype)
