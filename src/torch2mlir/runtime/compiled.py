"""Compiled programs as callables with the model's own signature."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch.compiler import is_dynamo_compiling
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from torch2mlir.conversion.prepare_weights import SMALL, prepare_weights
from torch2mlir.errors import EngineError, InputError, Torch2MLIRError
from torch2mlir.frontends.changing_models import module_of
from torch2mlir.frontends.reached_objects import Reached
from torch2mlir.frontends.tensor_kinds import TensorKinds
from torch2mlir.frontends.updated_caches import ARE_ONE, GIVE_COPIES, share_parts, update_caches
from torch2mlir.pipeline import Pipeline, run_passes
from torch2mlir.program import (
    FunctionInput,
    Program,
    StateInput,
    UserInput,
    entry_function,
)
from torch2mlir.runtime.attributes import HookNotice, ModeNotice, ObjectNotice
from torch2mlir.runtime.binding import Shapes
from torch2mlir.runtime.buckets import Buckets
from torch2mlir.runtime.cache import cache_from_environment, compile_cached
from torch2mlir.runtime.calling import CallingConvention
from torch2mlir.runtime.engine import Engine, Executable, check_not_traced, get_engine
from torch2mlir.runtime.gradients import GradientNotice
from torch2mlir.runtime.guard import VARIABLE as GUARDED
from torch2mlir.runtime.guard import Guard
from torch2mlir.runtime.lowered import LoweredFunction, TensorSpec
from torch2mlir.runtime.model_state import ModelState
from torch2mlir.runtime.other_programs import OtherPrograms
from torch2mlir.runtime.out_of_sight import out_of_sight
from torch2mlir.runtime.small_programs import does_at_most
from torch2mlir.runtime.small_sizes import AnotherProgram, SmallSizes
from torch2mlir.runtime.verification import Verification
from torch2mlir.runtime.weights import Held, PreparedWeights, counts_writes
from torch2mlir.turns import in_turn

_INTERPRETED = 1 << 18
"""Elements of a program of constants that is interpreted and not compiled: less than a second, mostly far less."""


@dataclass(frozen=True)
class _Converted:
    """A program in a target dialect, for given values of symbols.

    ``main`` takes the inputs ``kept`` and then the results of ``prepare``, which takes the inputs ``prepared``.
    """

    main: ModuleOp
    kept: Sequence[FunctionInput]
    prepare: FuncOp | None = None
    prepared: Sequence[StateInput] = ()


class _Again(NamedTuple):
    """The kinds of tensors that a call has had for its arguments, and the symbols that their sizes are."""

    kinds: TensorKinds
    symbols: Shapes


@dataclass(frozen=True)
class LoadedProgram:
    """One compiled specialisation and the state handed to it.

    Attributes:
        executable: takes the inputs ``kept``, and then what is prepared.
        weights: the states among ``kept`` that the program does not write to.
        prepared: the states that the last arguments are made of.
        state: of the engine: the weights and what is prepared, as it holds them.
        varying: the arguments that are others in every call.
    """

    executable: Executable
    kept: Sequence[FunctionInput]
    weights: Sequence[torch.Tensor]
    prepared: Sequence[torch.Tensor]
    state: Held
    varying: Sequence[tuple[FunctionInput, TensorSpec]]

    def prepared_values(self) -> list[torch.Tensor]:
        """What is prepared, for the weights as they are now."""
        return self.state.prepared_values(self.prepared)


class CompiledFunction:
    """A program at the backend contract, compiled by an engine, for each shape where the engine needs that.

    Call it as the model. Buffers (and inputs) the model mutates are updated in place where the engine can (XLA),
    and written back after each call where it cannot. A model that draws
    random numbers gets a new seed from PyTorch's default generator at each call. A weight or buffer that the model has
    got in the place of another is used from the next call on; another value of a Python attribute, as ``training``, is
    warned of. Results carry no gradients. Tensors that a call is given
    are written in place, and a ``DynamicCache`` gets its new tensors, as in eager mode. ``shapes`` tells which
    specialisations exist. Sizes for which the model's code goes another way than at capture get a program of their own,
    captured at the first such call, where there is a model to capture (``others``); else they are refused. Safe to call
    from several threads if the model mutates nothing. ``chosen_by`` is the rule by which ``compile(engine="auto")`` has
    chosen the engine.

    What the program computes from weights alone is computed once for each state of the weights, which is seen by their
    version, address, layout and some elements; ``refresh`` tells of a change that PyTorch does not know of.

    Args:
        program: at the backend contract, weights as arguments.
        pipeline: has lowered the program, and converts it.
        engine: who compiles and runs it.
        prepare: whether to split off what depends on weights only.
        guard: whether to look for writes of the engine into memory it was lent; by default ``TORCH2MLIR_GUARD`` says.
        eager: what first calls are compared with, if they are to be compared.
        others: makes the programs for other ways through the model.
        buckets: rounds up the sizes of calls.
    """

    def __init__(
        self,
        program: Program,
        pipeline: Pipeline,
        engine: Engine,
        prepare: bool = True,
        guard: bool | None = None,
        eager: Callable[..., Any] | None = None,
        others: OtherPrograms | None = None,
        buckets: Buckets | None = None,
    ) -> None:
        engine.check_output_type(pipeline.output_type)
        self.program = program
        self.pipeline = pipeline
        self.engine = engine
        self.chosen_by: str | None = None
        self.prepare = prepare
        self.others = others
        self.buckets = buckets
        self._sizes = SmallSizes(program)
        self.calling = CallingConvention(program.signature, self._sizes)
        self._loaded: dict[Shapes, LoadedProgram] = {}
        self._again: _Again | None = None
        self._prepare: dict[str, PreparedWeights] = {}
        self._lock = threading.Lock()
        self._gradients = GradientNotice(program.signature)
        self._model_state: ModelState | None = None
        self._notices = list[ObjectNotice | HookNotice | ModeNotice]()
        names: set[str] | None = None
        if program.model is not None:
            reached = Reached(program.model)
            names = reached.names
            self._notices.append(ObjectNotice(reached, program))
            if (module := module_of(program.model)) is not None:
                self._notices.append(HookNotice(module))
                tensors = [state.tensor for state in program.signature.state_inputs]
                self._model_state = ModelState(module, tensors) if tensors else None
        self._notices.append(ModeNotice(names))
        self._out_of_sight = out_of_sight(self._called)
        self.guard = os.environ.get(GUARDED, "") not in ("", "0") if guard is None else guard
        self.verification = Verification(eager, program.signature, engine.name) if eager else None

    @property
    def output_type(self) -> str:
        """The dialect between contract and engine."""
        return self.pipeline.output_type

    @property
    def shapes(self) -> list[dict[str, int]]:
        """The symbol values of the specialisations compiled so far."""
        return [dict(key) for key in self._loaded]

    @property
    def programs(self) -> Mapping[Shapes, LoadedProgram]:
        """The specialisations compiled so far, by the values of the symbols; one without any takes all sizes."""
        return dict(self._loaded)

    def compile_for(self, symbols: Mapping[str, int] | None = None) -> None:
        """Compiles ahead of the first call; ``symbols`` are the values of symbolic sizes, if there are any.

        With ``symbols`` an engine that takes varying sizes too compiles a program for these alone, which calls of these
        sizes use; others use one for all sizes.

        Raises:
            InputError: the program is another one for these sizes.
        """
        if symbols:
            self._sizes.check(symbols, lambda name: f"the size {name}")
        self._executable(tuple(sorted((symbols or {}).items())))

    def compile_like(self, *args: Any, **kwargs: Any) -> None:
        """Compiles ahead of the first call with arguments of these sizes.

        Raises:
            InputError: not a call that the program was captured for.
        """
        try:
            symbols = self.calling.bind(args, kwargs)[1]
        except AnotherProgram as refusal:
            self._other(refusal, args, kwargs).compile_like(*args, **kwargs)
            return
        self._executable(self._key(symbols))

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
            loaded.state.forget()
        for program in self.others or ():
            program.refresh()

    def follow_model(self) -> None:
        """Goes on with the tensors that the model has got in the place of others, as every call does first.

        Raises:
            InputError: the model has no such tensor any more, or one that the program cannot take.
        """
        if self._model_state is not None and (replaced := self._model_state.replaced()):
            self._take(replaced)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if is_dynamo_compiling():  # it would go on in here
            return self._out_of_sight(*args, **kwargs)
        return self._called(args, kwargs)

    def _called(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        check_not_traced()
        if self._model_state is not None:
            self.follow_model()
        caches = self.program.signature.caches
        if caches and share_parts(args, kwargs):
            raise InputError(ARE_ONE, hint=GIVE_COPIES)
        try:
            if self.verification is None:
                result = self._call(args, kwargs)
            else:
                result = self._verified_call(self.verification, args, kwargs)
        except AnotherProgram as refusal:
            return self._other(refusal, args, kwargs)(*args, **kwargs)
        return update_caches(result, args, kwargs, caches) if caches else result

    def _other(
        self, refusal: AnotherProgram, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> CompiledFunction:
        if self.others is None:
            raise refusal
        return self.others.of(self, refusal, args, kwargs)

    def _verified_call(
        self, verification: Verification, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        sizes = self.calling.bind(args, kwargs)[1]
        if verification.wants(sizes):
            return verification.call(self._call, sizes, args, kwargs)
        return self._call(args, kwargs)

    def _call(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        calling, again = self.calling, self._again
        if again is None or kwargs or not again.kinds.are_of(args):
            again = None
        leaves, symbols = calling.bind(args, kwargs) if again is None else (args, again.symbols)
        self._gradients.look(leaves)
        calling.check(leaves)
        for notice in self._notices:
            notice.check()
        buckets, key = self.buckets, self._key(symbols)
        loaded = self._executable(key)
        given = leaves if buckets is None else buckets.padded(leaves, symbols, key)
        bound = loaded.state.bound(loaded.weights, loaded.prepared)
        arguments = [calling.argument(item, given, spec) for item, spec in loaded.varying]
        guard = self._guard(leaves, loaded) if self.guard else None
        if guard is not None:
            guard.watch((f"held tensor {i}", value) for i, value in enumerate(bound.held))
        results = bound.run(arguments)
        if again is None and not kwargs and calling.takes_kinds:
            kinds = TensorKinds.of(args)
            self._again = None if kinds is None else _Again(kinds, symbols)
        if guard is not None:
            guard.check()
        if buckets is not None:
            results = buckets.cut(results, symbols, key)
        return calling.result(results, leaves, loaded.executable.function.updated)

    def _guard(self, leaves: Sequence[Any], loaded: LoadedProgram) -> Guard:
        """Remembers the inputs and the state, as they are before a call, but for those it updates in place."""
        guard, signature = Guard(self.engine.name), self.program.signature
        updated = [loaded.kept[place] for place in loaded.executable.function.updated]
        read = [item for item in signature.inputs if all(item is not other for other in updated)]
        for item in read:
            if isinstance(item, StateInput):
                guard.watch([(f"the model's '{item.name}'", item.tensor)])
            elif isinstance(item, UserInput) and _is_dense(leaves[item.position]):
                guard.watch([(f"input '{item.name}'", leaves[item.position])])
        return guard

    def __deepcopy__(self, memo: dict[int, Any]) -> CompiledFunction:
        """A function with weights and state of its own; what was compiled is compiled again when it is called."""
        self.follow_model()
        signature = replace(
            self.program.signature,
            inputs=[_with_own_tensor(item, memo) for item in self.program.signature.inputs],
        )
        model = memo.get(id(self.program.model))
        program = replace(self.program, signature=signature, model=model)
        eager = self.verification.eager if self.verification else None
        return CompiledFunction(
            program, self.pipeline, self.engine, self.prepare, self.guard, eager, None, self.buckets
        )

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise Torch2MLIRError(
            "a compiled function cannot be pickled: it holds machine code",
            hint="torch2mlir.save(compiled, directory) writes it for torch2mlir.load in another process",
        )

    def _take(self, replaced: Mapping[int, torch.Tensor]) -> None:
        """Goes on with tensors that the model has got in the place of others."""

        with self._lock:
            inputs = self.program.signature.inputs
            # by identity, which tells an input among equal ones: it is the same object wherever it is kept
            renewed = {
                id(item): replace(item, tensor=replaced[id(item.tensor)])
                for item in inputs
                if isinstance(item, StateInput) and id(item.tensor) in replaced
            }

            def now(item: FunctionInput) -> FunctionInput:
                return renewed.get(id(item), item)

            for key, loaded in self._loaded.items():
                self._loaded[key] = replace(
                    loaded,
                    kept=list(map(now, loaded.kept)),
                    varying=[(now(item), spec) for item, spec in loaded.varying],
                    weights=[replaced.get(id(tensor), tensor) for tensor in loaded.weights],
                    prepared=[replaced.get(id(tensor), tensor) for tensor in loaded.prepared],
                )
            inputs[:] = map(now, inputs)

    def _key(self, symbols: Shapes) -> Shapes:
        """The specialisation for a call."""
        if self.buckets is not None:
            return self.buckets.rounded(symbols, self._sizes)
        return self.engine.specialised(symbols, self._loaded)

    def _executable(self, key: Shapes) -> LoadedProgram:
        if (loaded := self._loaded.get(key)) is not None:
            return loaded
        with in_turn(), self._lock:
            if key not in self._loaded:
                self._loaded[key] = self._load(self._converted(dict(key)))
            return self._loaded[key]

    def _converted(self, symbols: Mapping[str, int]) -> _Converted:
        """The program as the engine wants it, and what of it is a function of the weights."""
        module = self.pipeline.convert(self.program, symbols)
        run_passes(self.engine.passes.get(self.pipeline.output_type, ()), module)
        inputs = self.program.signature.inputs
        weights = [
            position
            for position, item in enumerate(inputs)
            if isinstance(item, StateInput)
            and self.calling.is_weight(item)
            and counts_writes(item.tensor)
        ]
        if not self.prepare:
            return _Converted(module, inputs)
        # What grows with the sizes of a call would have to be prepared, and kept, for each of them.
        small = 0 if self.program.signature.ranges else SMALL
        entry = entry_function(module, self.program.func_name)
        self.engine.pack_weights(entry, weights)
        split = prepare_weights(entry, weights, small)
        if split is None:
            return _Converted(module, inputs)
        return _Converted(
            module,
            [inputs[position] for position in split.kept],
            split.prepare,
            [inputs[position] for position in split.weights],  # type: ignore[misc]
        )

    def _load(self, converted: _Converted) -> LoadedProgram:
        main, kept = self._lowered(converted.main), converted.kept
        if self.program.signature.mutations:
            main = self.engine.updating(main, self.calling.updated(kept))
        executable = self._compile(main)
        specs = executable.function.arguments
        places, states = list[int](), list[StateInput]()
        varying = list[tuple[FunctionInput, TensorSpec]]()
        for place, (item, spec) in enumerate(zip(kept, specs)):
            if isinstance(item, StateInput) and self.calling.is_weight(item):
                places.append(place)
                states.append(item)
            else:
                varying.append((item, spec))
        places += range(len(kept), len(specs))
        prepare = self._preparation(converted) if converted.prepare is not None else None
        weights = [item.tensor for item in states]
        prepared = [item.tensor for item in converted.prepared]
        builds_in = self.engine.builds_weights_in
        state = Held(executable, places, states, prepare, builds_in)
        loaded = LoadedProgram(executable, kept, weights, prepared, state, varying)
        if builds_in:
            loaded.state.bound(loaded.weights, loaded.prepared)
        return loaded

    def _preparation(self, converted: _Converted) -> PreparedWeights:
        """What prepares the weights: one for all sizes for which this is the same program of the same weights."""
        assert converted.prepare is not None
        name = converted.prepare.sym_name.data
        function = self._lowered(ModuleOp([converted.prepare]), name)
        names = [item.name for item in converted.prepared]
        key = "\n".join([*names, function.text()])
        if key not in self._prepare:
            executable = self._compile(function) if names else self._of_numbers(function)
            self._prepare[key] = PreparedWeights(executable, converted.prepared)
        return self._prepare[key]

    def _of_numbers(self, function: LoweredFunction) -> Executable:
        """A function of nothing, run once: to interpret a few elements takes less than to compile for them."""
        interpreter = get_engine("reference")
        if function.target.name in interpreter.output_types and does_at_most(
            _INTERPRETED, function
        ):
            with suppress(EngineError):  # an op that only the engine's own passes write
                return interpreter.compile(function)
        return self._compile(function)

    def _compile(self, function: LoweredFunction) -> Executable:
        code = cache_from_environment(default=False)
        if code is None:
            return self.engine.compile(function)
        return compile_cached(self.engine, function, code)

    def _lowered(self, module: ModuleOp, name: str | None = None) -> LoweredFunction:
        """The program's function, or another one, which asserts nothing."""
        checks = 0 if name else len(self.program.signature.checks)
        name = name or self.program.func_name
        return LoweredFunction.of(module, self.pipeline.output_type, name, checks)


def _with_own_tensor(item: FunctionInput, memo: dict[int, Any]) -> FunctionInput:
    return (
        replace(item, tensor=deepcopy(item.tensor, memo)) if isinstance(item, StateInput) else item
    )


def _is_dense(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.layout is torch.strided
