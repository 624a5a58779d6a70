"""The interpreter: xDSL's, with implementations found by op name and errors that name the op and its source line.

Implementations are plain functions, registered by name so that they serve every class of an op
(xDSL's, this project's, an unregistered one)::

    @implements("tensor.cast")
    def cast(interpreter, op, source):
        return source

They take the operands as arrays and return one array, a tuple of them, or None. To override one, or to
run an op of your own, use xDSL's way: ``interpreter.register_implementations(MyFunctions())``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    UnregisteredOp,
)
from xdsl.interpreter import (
    Interpreter,
    OpImplResult,
    ReturnedValues,
    Successor,
    _InterpreterFunctionImpls,
)
from xdsl.ir import Attribute, Operation

from torch2mlir.dialects.locations import describe
from torch2mlir.errors import EngineError
from torch2mlir.runtime.reference.values import Array, Resources

Implementation = Callable[..., Any]
IMPLEMENTATIONS: dict[str, Implementation] = {}
"""Op name -> the function that computes its results from its operands."""

STRUCTURE = frozenset({"builtin.module", "func.func", "ml_program.global"})
"""Ops that hold others and are never run themselves."""


def implements(*names: str) -> Callable[[Implementation], Implementation]:
    """Registers a function as the implementation of the ops of these names."""

    def register(function: Implementation) -> Implementation:
        IMPLEMENTATIONS.update(dict.fromkeys(names, function))
        return function

    return register


def op_name(op: Operation) -> str:
    """The name of an op, also of one that no dialect declares."""
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


def attribute(op: Operation, name: str) -> Attribute | None:
    """An attribute of an op by name, inherent or not; None when absent."""
    return op.properties[name] if name in op.properties else op.attributes.get(name)


def integers(op: Operation, name: str) -> list[int]:
    """An attribute that is a list of integers, in any of its encodings; empty when absent."""
    match attribute(op, name):
        case None:
            return []
        case DenseArrayBase() | DenseIntOrFPElementsAttr() as dense:
            return [int(value) for value in dense.get_values()]
        case ArrayAttr() as array:
            return [cast("IntegerAttr[Any]", item).value.data for item in array]
        case IntegerAttr() as single:
            return [single.value.data]
        case other:
            raise EngineError(f"'{name}' should be a list of integers, not {other}", op=op_name(op))


def operand_groups(op: Operation, arguments: Sequence[Array]) -> list[Sequence[Array]]:
    """The operands by segment, as ``operandSegmentSizes`` cuts them."""
    groups, start = [], 0
    for size in integers(op, "operandSegmentSizes"):
        groups.append(arguments[start : start + size])
        start += size
    return groups


class _ImplementationsByName(_InterpreterFunctionImpls):
    """Registered functions of xDSL's kind first, then the table by op name."""

    def run(self, interpreter: Interpreter, op: Operation, args: tuple[Any, ...]) -> OpImplResult:
        try:
            if type(op) in self._impl_dict:
                functions, registered = self._impl_dict[type(op)]
                return registered(functions, interpreter, op, args)
            return _outcome(op, IMPLEMENTATIONS[op_name(op)](interpreter, op, *args))
        except EngineError as error:
            error.op = error.op or op_name(op)
            error.location = error.location or describe(op.location)
            raise
        except Exception as error:
            raise EngineError(
                f"the reference engine failed: {type(error).__name__}: {error}",
                op=op_name(op),
                location=describe(op.location),
                hint="shapes of the operands: " + ", ".join(str(np.shape(a)) for a in args),
            ) from error


def _outcome(op: Operation, outcome: Any) -> OpImplResult:
    """What an implementation returned, as xDSL's interpreter takes it; its tensors of the shapes they are typed."""
    match outcome:
        case ReturnedValues() | Successor():
            return OpImplResult((), outcome)
        case None:
            return OpImplResult((), None)
        case tuple():
            values = outcome
        case _:
            values = (outcome,)
    for value, result in zip(values, op.results, strict=True):
        if isinstance(result.type, TensorType):
            wanted = result.type.get_shape()
            if len(wanted) != value.ndim or any(
                size not in (DYNAMIC_INDEX, have)
                for size, have in zip(wanted, value.shape, strict=True)
            ):
                raise EngineError(f"a result of type {result.type} has the shape {value.shape}")
    return OpImplResult(values, None)


@dataclass
class ReferenceInterpreter(Interpreter):
    """xDSL's interpreter over numpy arrays."""

    resources: Resources = field(default=lambda name: None, kw_only=True)
    """Where the contents of ``dense_resource`` literals are."""
    literals: dict[Operation, Array] = field(default_factory=dict, init=False)
    """Constants already decoded."""
    plans: dict[Operation, Any] = field(default_factory=dict, init=False)
    """What is known of each loop nest's body."""
    globals: dict[str, Array] = field(default_factory=dict, init=False)
    """The contents of ``ml_program.global``s."""
    iteration: list[tuple[Array, ...]] = field(default_factory=list, init=False)
    """The indices of every loop of the nests being run, the innermost nest last."""

    def __post_init__(self) -> None:
        self._impls = _ImplementationsByName()

    def symbol(self, name: str) -> Operation:
        """The op of the module that declares a symbol.

        Raises:
            EngineError: there is none.
        """
        for op in self.module.ops:
            declared = attribute(op, "sym_name")
            if isinstance(declared, StringAttr) and declared.data == name:
                return op
        raise EngineError(f"the program has no @{name}")

    @contextmanager
    def run(self) -> Iterator[None]:
        """One run of a program; whatever happens in it, nothing but literals and globals stays behind."""
        scope = self._ctx
        try:
            yield
        finally:
            self._ctx = scope
            self.iteration.clear()

    @property
    def inside_nest(self) -> bool:
        """Whether the op being run is part of a loop nest's body."""
        return bool(self.iteration)


def check_supported(module: ModuleOp) -> None:
    """Refuses a module with an op that has no implementation, before anything runs.

    Raises:
        EngineError: names the first such op and its line, and the other missing names.
    """
    known = IMPLEMENTATIONS.keys() | STRUCTURE
    missing = [op for op in module.walk() if op_name(op) not in known]
    if missing:
        names = sorted({op_name(op) for op in missing})
        raise EngineError(
            f"the reference engine does not implement {', '.join(names)}",
            op=op_name(missing[0]),
            location=describe(missing[0].location),
            dialect="linalg-on-tensors",
            hint="lower it to linalg, tensor, arith, math, complex, scf, cf or func ops",
        )
