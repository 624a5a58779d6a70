"""The reference engine: numpy arrays through an interpreter, every intermediate value open to inspection."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.interpreter import Interpreter
from xdsl.ir import Attribute, Operation

from torch2mlir.dialects import make_context
from torch2mlir.dialects.locations import describe
from torch2mlir.dialects.parser import parse_module
from torch2mlir.runtime.engine import Engine, Prepared, host_tensor
from torch2mlir.runtime.reference.func import call_function
from torch2mlir.runtime.reference.interpreter import (
    ReferenceInterpreter,
    attribute,
    check_supported,
    op_name,
)
from torch2mlir.runtime.reference.values import Array, Resources, dtype_of, held_dtype
from torch2mlir.runtime.signature import Signature, TensorSpec, entry_signature

Observer = Callable[[Operation, tuple[Array, ...]], None]
"""Called with every op that has run and its results, in order."""


class ReferenceEngine(Engine):
    """Runs Linalg-on-Tensors with numpy alone. It defines what is correct; it is not meant to be fast."""

    name = "reference"
    output_types = frozenset({"linalg-on-tensors"})

    def compile(
        self,
        text: str | ModuleOp,
        output_type: str = "linalg-on-tensors",
        func_name: str = "main",
        resources: Resources | None = None,
    ) -> ReferenceExecutable:
        """Loads a module for interpretation.

        Args:
            text: the module, as text or as it is in memory (weights then stay where they are).
            output_type: the dialect it is in.
            func_name: the function to call.
            resources: the bytes of ``dense_resource`` literals by name, when the text has them elsewhere.

        Raises:
            ParseError: the text is not MLIR.
            EngineError: another dialect, no such function, or an op that is not implemented.
        """
        self.check_output_type(output_type)
        module = text if isinstance(text, ModuleOp) else _parse(text)
        check_supported(module)
        interpreter = ReferenceInterpreter(module, resources=resources or _no_resources)
        function = interpreter.symbol(func_name)
        return ReferenceExecutable(interpreter, function, func_name)


def _parse(text: str) -> ModuleOp:
    """A module from text; what no dialect declares is left to :func:`check_supported`."""
    return parse_module(text, "<program>", make_context(allow_unregistered=True))


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


class ReferenceExecutable:
    """A function to be interpreted. Calls from several threads take turns."""

    def __init__(self, interpreter: ReferenceInterpreter, function: Operation, name: str) -> None:
        self.interpreter = interpreter
        self._function = function
        self._type = cast(FunctionType, attribute(function, "function_type"))
        self.signature = _signature(name, self._type)
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

    def __call__(self, args: Sequence[Any]) -> list[torch.Tensor]:
        """Runs the function on tensors and prepared tensors.

        Raises:
            InputError: arguments of the wrong number, dtype or shape.
            EngineError: an op failed, or a check of the program's own (``cf.assert``).
        """
        self.signature.check(args)
        arrays = [
            _as_declared(
                arg.handle if isinstance(arg, Prepared) else _to_array(host_tensor(arg)), type_
            )
            for arg, type_ in zip(args, self._type.inputs, strict=True)
        ]
        with self._lock, np.errstate(all="ignore"), self.interpreter.run():
            results = call_function(self.interpreter, self._function, arrays)
            seen = {id(array) for array in self.interpreter.globals.values()}
            tensors = []
            for result, spec in zip(results, self.signature.results, strict=True):
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


def _signature(name: str, type_: FunctionType) -> Signature:
    """The signature of a function, read as every engine reads it."""
    arguments = ", ".join(f"%{number}: {t}" for number, t in enumerate(type_.inputs))
    results = ", ".join(map(str, type_.outputs))
    return entry_signature(f'func.func @"{name}"({arguments}) -> ({results})', name)


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
    tensor = torch.from_numpy(array)
    return tensor if held_dtype(spec.dtype) is spec.dtype else tensor.to(spec.dtype)
