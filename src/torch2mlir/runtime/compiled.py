"""Compiled programs as callables with the model's own signature."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from torch2mlir.conversion.prepare_weights import SMALL, prepare_weights
from torch2mlir.dialects.torch.types import ValueTensorType
from torch2mlir.frontends import dtypes
from torch2mlir.pipeline import Pipeline, run_passes
from torch2mlir.program import (
    ConstantOutput,
    FunctionInput,
    Program,
    SeedInput,
    StateInput,
    UserInput,
    entry_function,
)
from torch2mlir.runtime.binding import Binder, Shapes
from torch2mlir.runtime.cache import cache_from_environment, compile_cached
from torch2mlir.runtime.engine import Engine, Executable
from torch2mlir.runtime.lowered import LoweredFunction, TensorSpec
from torch2mlir.runtime.weights import Handles, PreparedWeights, counts_writes


@dataclass(frozen=True)
class _Converted:
    """A program in a target dialect, for given values of symbols.

    ``main`` takes the inputs ``kept`` and then the results of ``prepare``, which takes the inputs ``prepared``.
    """

    main: ModuleOp
    kept: Sequence[FunctionInput]
    prepare: FuncOp | None = None
    prepared: Sequence[StateInput] = ()


@dataclass(frozen=True)
class _Loaded:
    """One compiled specialisation and the state handed to it.

    Attributes:
        executable: takes the inputs ``kept``, and then what is prepared.
        weights: the states among ``kept`` that the program does not write to.
        prepare: makes the last arguments of the states ``prepared``.
        handles: of the weights and of what is prepared.
    """

    executable: Executable
    kept: Sequence[FunctionInput]
    weights: Sequence[torch.Tensor]
    prepare: PreparedWeights | None
    prepared: Sequence[torch.Tensor]
    handles: Handles

    def held(self) -> list[Any]:
        """What the engine holds: the weights, then what is prepared, as they are now."""
        values = [] if self.prepare is None else self.prepare.of(self.prepared)
        return self.handles.of([*self.weights, *values])


class CompiledFunction:
    """A program at the backend contract, compiled by an engine, for each shape where the engine needs that.

    Call it as the model. Buffers (and inputs) the model mutates are written back after each call. A model that draws
    random numbers gets a new seed from PyTorch's default generator at each call. ``shapes`` tells which
    specialisations exist. Safe to call from several threads if the model mutates nothing.

    What the program computes from weights alone is computed once for each state of the weights, which is seen by their
    version, address and layout; ``refresh`` tells of a change that PyTorch does not know of.

    Args:
        program: at the backend contract, weights as arguments.
        pipeline: has lowered the program, and converts it.
        engine: who compiles and runs it.
        prepare: whether to split off what depends on weights only.
    """

    def __init__(
        self, program: Program, pipeline: Pipeline, engine: Engine, prepare: bool = True
    ) -> None:
        engine.check_output_type(pipeline.output_type)
        self.program = program
        self.pipeline = pipeline
        self.engine = engine
        self.prepare = prepare
        self._binder = Binder(program.signature)
        self._loaded: dict[Shapes, _Loaded] = {}
        self._prepare: dict[str, PreparedWeights] = {}
        self._lock = threading.Lock()
        self._written = {m.name for m in program.signature.mutations if m.position is None}

    @property
    def output_type(self) -> str:
        """The dialect between contract and engine."""
        return self.pipeline.output_type

    @property
    def shapes(self) -> list[dict[str, int]]:
        """The symbol values of the specialisations compiled so far."""
        return [dict(key) for key in self._loaded]

    def compile_for(self, symbols: Mapping[str, int] | None = None) -> None:
        """Compiles ahead of the first call; ``symbols`` are the values of symbolic sizes, if there are any."""
        self._executable(tuple(sorted((symbols or {}).items())))

    def text(self, symbols: Mapping[str, int] | None = None) -> str:
        """The text the engine gets, for given values of symbolic sizes.

        Where something is prepared from the weights, the function that does it comes after the program's own; the
        engine compiles the two one by one.
        """
        converted = self._converted(symbols or {})
        if converted.prepare is not None:
            converted.main.body.block.add_op(converted.prepare)
        return self._lowered(converted.main).text()

    def refresh(self) -> None:
        """Takes all weights for changed: after writes into ``weight.data`` or through NumPy."""
        for prepared in self._prepare.values():
            prepared.forget()
        for loaded in self._loaded.values():
            loaded.handles.forget()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        signature = self.program.signature
        leaves = self._binder.leaves(args, kwargs)
        symbols = self._binder.symbols(leaves)
        loaded = self._executable(symbols if self.engine.needs_static_shapes else ())
        held = iter(loaded.held())
        arguments = [
            next(held) if self._is_weight(item) else self._argument(item, leaves, spec)
            for item, spec in zip(loaded.kept, loaded.executable.function.arguments)
        ]
        results = loaded.executable.run([*arguments, *held])
        mutated, returned = results[: len(signature.mutations)], results[len(signature.mutations) :]
        self._write_back(mutated, leaves)
        return self._result(returned)

    def _argument(
        self, item: FunctionInput, leaves: Sequence[Any], spec: TensorSpec
    ) -> torch.Tensor:
        """An argument that is another one in every call."""
        match item:
            case UserInput():
                value = _as_tensor(leaves[item.position])
                # a dialect may hold complex numbers of halves as complex<f32>
                is_held = value.dtype is torch.complex32 and spec.dtype is torch.complex64
                return value.to(torch.complex64) if is_held else value
            case StateInput():
                return item.tensor
            case SeedInput():
                return torch.empty((), dtype=torch.int64).random_(-(1 << 63), None)

    def _is_weight(self, item: FunctionInput) -> bool:
        return isinstance(item, StateInput) and item.name not in self._written

    def _executable(self, key: Shapes) -> _Loaded:
        with self._lock:
            if key not in self._loaded:
                self._loaded[key] = self._load(self._converted(dict(key)))
            return self._loaded[key]

    def _converted(self, symbols: Mapping[str, int]) -> _Converted:
        """The program as the engine wants it, and what of it is a function of the weights."""
        module = self.pipeline.convert(self.program, symbols)
        run_passes(self.engine.passes.get(self.output_type, ()), module)
        inputs = self.program.signature.inputs
        weights = [
            position
            for position, item in enumerate(inputs)
            if isinstance(item, StateInput) and self._is_weight(item) and counts_writes(item.tensor)
        ]
        if not self.prepare:
            return _Converted(module, inputs)
        # What grows with the sizes of a call would have to be prepared, and kept, for each of them.
        small = 0 if self.program.signature.ranges else SMALL
        split = prepare_weights(entry_function(module, self.program.func_name), weights, small)
        if split is None:
            return _Converted(module, inputs)
        return _Converted(
            module,
            [inputs[position] for position in split.kept],
            split.prepare,
            [inputs[position] for position in split.weights],  # type: ignore[misc]
        )

    def _load(self, converted: _Converted) -> _Loaded:
        executable = self._compile(self._lowered(converted.main))
        states = [item for item in converted.kept if self._is_weight(item)]
        return _Loaded(
            executable,
            converted.kept,
            [item.tensor for item in states if isinstance(item, StateInput)],
            self._preparation(converted),
            [item.tensor for item in converted.prepared],
            Handles(executable),
        )

    def _preparation(self, converted: _Converted) -> PreparedWeights | None:
        """What prepares the weights: one for all sizes for which this is the same program of the same weights."""
        if converted.prepare is None:
            return None
        name = converted.prepare.sym_name.data
        function = self._lowered(ModuleOp([converted.prepare]), name)
        names = [item.name for item in converted.prepared]
        key = "\n".join([*names, function.text()])
        if key not in self._prepare:
            executable = self._compile(function)
            self._prepare[key] = PreparedWeights(executable)
        return self._prepare[key]

    def _compile(self, function: LoweredFunction) -> Executable:
        return compile_cached(self.engine, function, cache_from_environment(default=False))

    def _lowered(self, module: ModuleOp, name: str | None = None) -> LoweredFunction:
        return LoweredFunction.of(module, self.output_type, name or self.program.func_name)

    def _write_back(self, mutated: Sequence[torch.Tensor], leaves: Sequence[Any]) -> None:
        states = {s.name: s.tensor for s in self.program.signature.state_inputs}
        with torch.no_grad():
            for mutation, value in zip(self.program.signature.mutations, mutated, strict=True):
                position = mutation.position
                target = states[mutation.name] if position is None else leaves[position]
                target.copy_(value.view(target.dtype))

    def _result(self, returned: Sequence[torch.Tensor]) -> Any:
        signature = self.program.signature
        values = iter(returned)
        leaves = list[Any]()
        for output in signature.outputs:
            if isinstance(output, ConstantOutput):
                leaves.append(output.value)
            else:
                value = next(values)
                leaves.append(value.item() if output.type is None else _retyped(value, output.type))
        if signature.out_spec is None:
            return tuple(leaves)
        return pytree.tree_unflatten(leaves, signature.out_spec)


def _as_tensor(value: Any) -> torch.Tensor:
    return value if isinstance(value, torch.Tensor) else torch.tensor(value)


def _retyped(value: torch.Tensor, type: ValueTensorType) -> torch.Tensor:
    """Engines see signless integers; the bits are right, the dtype may be the signed one.

    Complex numbers of halves may come in the type that holds them.
    """
    dtype = dtypes.FROM_ELEMENT_TYPE[type.dtype] if type.dtype is not None else value.dtype
    if value.dtype == dtype:
        return value
    return value.to(dtype) if dtype is torch.complex32 else value.view(dtype)
