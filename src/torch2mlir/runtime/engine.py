"""What an engine is: the interface of every engine, and the registry that finds one by name.

An engine compiles a function in a target dialect and runs it on tensors. What a compiled function promises:

- tensors go in and come out on the CPU, in the order of the entry function's types;
- a call returns when its results are ready, and may come from any thread;
- a result shares memory with no argument and with no other result, unless the function updates an argument and the
  engine can do that in place: then the result is the argument;
- an argument of the wrong number, dtype or shape is an InputError, anything the engine itself
  refuses an EngineError.
"""

from __future__ import annotations

import atexit
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, ClassVar, Protocol
from weakref import WeakSet

import torch
from xdsl.dialects.func import FuncOp

from torch2mlir.errors import EngineError, InputError
from torch2mlir.frontends.tensor_classes import overrides_functions
from torch2mlir.loading import loaded
from torch2mlir.runtime.forks import in_forked_process
from torch2mlir.runtime.lowered import LoweredFunction

Run = Callable[[Sequence[Any]], list[torch.Tensor]]
"""What runs on tensors of a function's types, which nobody checks again."""


class Closable(Protocol):
    """What holds something of an engine's library."""

    def close(self) -> None:
        """Let it go."""


class Executable(ABC):
    """One compiled function, loaded and ready to be called.

    Args:
        function: what was compiled; arguments are checked against its types.
    """

    #: Whether the engine's library reports handles that are held when Python ends: :func:`close_at_exit` lets them go.
    reports_handles: ClassVar[bool] = False

    def __init__(self, function: LoweredFunction) -> None:
        self.function = function

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "run" in vars(cls) and not cls.__module__.startswith("torch2mlir."):
            cls.run = _with_checked_results(cls.run)  # type: ignore[method-assign]

    @abstractmethod
    def prepare(self, tensor: torch.Tensor) -> Any:
        """Hand a long-lived tensor (weight, buffer) over once; pass the result in its place.

        Zero-copy where the engine and the tensor's layout allow it. Whether later in-place
        changes of the tensor are seen by calls depends on that: see ``Prepared.shares_memory``.
        """

    def holding(self, held: Mapping[int, Any]) -> Run:
        """The function of the other arguments, in order, for these prepared tensors, by position.

        Made when they are others than before, so what takes as long as there are weights is done here: an engine that
        builds weights into its program builds it.

        Raises:
            EngineError: the engine refuses the program.
        """
        count = len(self.function.arguments)
        others = [place for place in range(count) if place not in held]
        known = [held.get(place) for place in range(count)]

        def run(arguments: Sequence[Any]) -> list[torch.Tensor]:
            given = known.copy()
            for place, argument in zip(others, arguments, strict=True):
                given[place] = argument
            return self.run(given)

        return run

    @abstractmethod
    def run(self, args: Sequence[Any]) -> list[torch.Tensor]:
        """Run on tensors and prepared tensors of the function's types, which nobody checks again; the results in order.

        Raises:
            EngineError: the engine failed, or a check of the program's own.
        """

    def __call__(self, args: Sequence[Any]) -> list[torch.Tensor]:
        """Check the arguments and run.

        Raises:
            InputError: arguments of the wrong number, dtype or shape.
            EngineError: as :meth:`run`.
        """
        self.function.check(args)
        return self.run(args)


def _with_checked_results(run: Callable[[Any, Sequence[Any]], Any]) -> Any:
    """The ``run`` of an engine that somebody else wrote: nobody further on looks at what it returns."""

    @wraps(run)
    def checked(executable: Executable, args: Sequence[Any]) -> list[torch.Tensor]:
        results = run(executable, args)
        executable.function.check_results(results)
        return list(results)

    return checked


class Engine(ABC):
    """Compiles functions in some dialects for this machine."""

    name: ClassVar[str]
    #: The output types the engine takes.
    output_types: ClassVar[frozenset[str]]
    #: Whether every dimension must be known before compiling.
    needs_static_shapes: ClassVar[bool] = False
    #: Whether code for varying sizes may be called where some of them are 0; else such sizes have code of their own.
    takes_empty_tensors: ClassVar[bool] = True
    #: Whether weights become part of the machine code: executables are told them, see :meth:`Executable.holding`.
    builds_weights_in: ClassVar[bool] = False
    #: Pipeline names of passes that the engine wants run over a module of an output type.
    passes: ClassVar[Mapping[str, Sequence[str]]] = {}
    #: Whether compiled code can be kept as bytes and loaded in another process on the same machine.
    has_portable_code: ClassVar[bool] = False

    @abstractmethod
    def compile(self, function: LoweredFunction) -> Executable:
        """Compile a function and load it.

        Raises:
            EngineError: the engine does not take this dialect, or refuses the program.
        """

    def specialised(
        self, symbols: tuple[tuple[str, int], ...], compiled: Container[object]
    ) -> tuple[tuple[str, int], ...]:
        """Which of a call's sizes have code of their own: all where there has to be or is one, else those of 0."""
        if self.needs_static_shapes or symbols in compiled:
            return symbols
        if self.takes_empty_tensors:
            return ()
        return tuple(item for item in symbols if not item[1])

    def pack_weights(self, function: FuncOp, weights: Collection[int]) -> None:
        """Adds what rearranges weights as the engine's kernels read them, if that is of use; in place.

        Args:
            function: in a target dialect, before what depends on weights alone is moved out of it.
            weights: positions of the arguments that stay the same over many calls.
        """
        return None

    def updating(self, function: LoweredFunction, pairs: Mapping[int, int]) -> LoweredFunction:
        """The function, so that the engine updates arguments of it in place, if it can; not compiled yet.

        What a call returns for the result is then the argument itself, wherever it has not had to be copied.

        Args:
            function: changes with what is returned.
            pairs: arguments that are not needed after a call, by position, and the results that take their place.
        """
        return function

    def version(self) -> str:
        """All that decides, beside program and machine, which code is made: versions and flags of the compiler."""
        return ""

    def code(self, executable: Executable) -> bytes:
        """What was compiled, as bytes for :meth:`load`; where ``has_portable_code``."""
        raise EngineError(f"engine {self.name!r} cannot write compiled code")

    def load(self, code: bytes, function: LoweredFunction) -> Executable:
        """A function from its :meth:`code`; of ``function`` only name and types are looked at.

        Raises:
            EngineError: these are not bytes that this version has written.
        """
        raise EngineError(f"engine {self.name!r} cannot load compiled code")

    def check_output_type(self, output_type: str) -> None:
        """Raise EngineError unless the engine takes ``output_type``."""
        if output_type not in self.output_types:
            raise EngineError(
                f"engine {self.name!r} does not take {output_type!r}",
                hint=f"it takes {', '.join(sorted(self.output_types))}",
            )


_DIALECTS = ("linalg-on-tensors", "stablehlo", "onnx", "tosa")
"""The first of these that an engine takes is the one it does most with: IREE takes varying sizes on Linalg-on-Tensors
that it refuses on StableHLO."""


def best_dialect(engine: Engine) -> str:
    """The dialect in which an engine does most."""
    taken = [dialect for dialect in _DIALECTS if dialect in engine.output_types]
    return taken[0] if taken else min(engine.output_types)


def dialect_for(engine: str | Engine | None, output_type: str | None) -> str:
    """The dialect asked for; else the one in which the engine asked for does most, StableHLO without one.

    Raises:
        EngineError: there is no such engine, or its packages are not installed.
    """
    if output_type is not None:
        return output_type
    if engine is None:
        return "stablehlo"
    return best_dialect(as_engine(engine))


@dataclass(frozen=True, slots=True)
class Prepared:
    """A tensor an engine holds under its own handle."""

    handle: Any
    dtype: torch.dtype
    shape: tuple[int, ...]
    #: Address of the elements the engine reads.
    pointer: int
    #: Whether these are the tensor's own elements; a copy has to be prepared again to be updated.
    shares_memory: bool


def host_tensor(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor as engines can read it: dense, contiguous, in CPU memory, out of autograd.

    Shares memory with ``tensor`` unless its layout forbids it.

    Raises:
        InputError: not a tensor, or one without dense CPU memory.
    """
    if not isinstance(tensor, torch.Tensor):
        raise InputError(f"engines take tensors, got {type(tensor).__name__}")
    if _has_no_memory(tensor):
        raise _of_a_trace(type(tensor).__name__)
    if overrides_functions(tensor):
        raise InputError(
            f"a {type(tensor).__name__} says itself what PyTorch's functions do with it, which a program does not know",
            hint="give it x.as_subclass(torch.Tensor), or let torch.compile or torch2mlir.optimize take the model",
        )
    if not tensor.is_cpu or tensor.layout is not torch.strided:
        raise InputError(
            f"engines take dense CPU tensors, got {tensor.layout} on {tensor.device}",
            hint="move it with .cpu() or make it dense with .to_dense()",
        )
    if tensor.requires_grad:
        tensor = tensor.detach()
    if tensor.is_conj() or tensor.is_neg():
        tensor = tensor.resolve_conj().resolve_neg()
    if tensor._is_zerotensor():  # a tangent that nobody has written down: it has no memory
        tensor = tensor.clone()
    return tensor if tensor.is_contiguous() else tensor.contiguous()


def _of_a_trace(what: str) -> InputError:
    return InputError(
        f"engines take tensors with elements, got a {what} of a trace",
        hint="call the compiled function outside FakeTensorMode, torch.export, torch.jit.trace, make_fx and "
        "torch.func; torch.compile(model, backend='torch2mlir') compiles inside a larger program",
    )


def check_not_traced() -> None:
    """Before a call of a compiled function.

    Raises:
        InputError: a trace looks on.
    """
    if is_traced():
        raise _of_a_trace("Tensor")


def is_traced() -> bool:
    """Whether ``torch.jit.trace`` or ``make_fx`` looks on, which would take what it does not see for a constant."""
    if torch._C._is_tracing():
        return True
    return torch._C._len_torch_dispatch_stack() > 0 and _is_proxied()


def _is_proxied() -> bool:
    from torch.fx.experimental.proxy_tensor import get_proxy_mode

    return get_proxy_mode() is not None


def _has_no_memory(tensor: torch.Tensor) -> bool:
    """Whether a tensor stands for another one: fake, of a trace, or of a subclass that holds its elements elsewhere."""
    return (
        type(tensor).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__
        or torch._is_functional_tensor(tensor)
        or torch._C._functorch.is_functorch_wrapped_tensor(tensor)
    )


Factory = Callable[[], Engine]


@dataclass(frozen=True)
class _Builtin:
    """An engine of ours, imported when it is first asked for."""

    target: str
    extra: str | None = None
    packages: tuple[str, ...] = ()

    def __call__(self) -> Engine:
        module, _, name = self.target.partition(":")
        try:
            return getattr(loaded(module), name)()
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in self.packages:
                raise
            raise EngineError(
                f"engine '{module.rpartition('.')[2]}' is not installed: no module named {error.name!r}",
                hint=f"pip install 'torch2mlir[{self.extra}]'",
            ) from error


_lock = threading.RLock()
_engines: dict[str, Engine] = {}
_engines_of_parents = list[Engine]()
_to_close = WeakSet[Closable]()


def close_at_exit(holder: Closable) -> None:
    """Has ``holder`` closed before modules go: what is held of a library by then may be reported as leaked."""
    _to_close.add(holder)


def free_after_results(device: object) -> None:
    """Has what allocated the memory of results freed after them, in a Python that ends.

    Results are where the user keeps them: in modules, or in cycles that only the last collection finds. The names of
    :mod:`sys` go after both, and still before libraries report leaks.
    """
    vars(sys).setdefault("_torch2mlir_devices", []).append(device)


@atexit.register
def _close() -> None:
    _engines.clear()
    for holder in list(_to_close):
        holder.close()


_factories: dict[str, Factory] = {
    "reference": _Builtin("torch2mlir.runtime.reference:ReferenceEngine"),
    "xla": _Builtin("torch2mlir.runtime.xla:XlaEngine", "xla", ("jax", "jaxlib")),
    "iree": _Builtin("torch2mlir.runtime.iree:IreeEngine", "iree", ("iree",)),
    "onnxruntime": _Builtin(
        "torch2mlir.runtime.onnxruntime:OnnxRuntimeEngine", "ort", ("onnx", "onnxruntime")
    ),
    "openvino": _Builtin(
        "torch2mlir.runtime.openvino:OpenVinoEngine", "openvino", ("onnx", "openvino")
    ),
}


def engine_names() -> list[str]:
    """Names of the engines known, installed or not."""
    return sorted(_factories)


def register_engine(name: str, factory: Factory) -> None:
    """Make an engine available as ``engine=name``; the factory runs when it is first asked for.

    Raises:
        EngineError: the name is no text, or nobody can call the factory.
    """
    if not isinstance(name, str) or not callable(factory):
        raise EngineError(
            f"cannot register {factory!r} as the engine {name!r}",
            hint="give a name and what makes the engine: a class, or a function without arguments",
        )
    if lacks := sorted(getattr(factory, "__abstractmethods__", ())):
        raise EngineError(
            f"cannot register {factory!r} as the engine {name!r}: it has no {', '.join(lacks)}",
            hint="derive from torch2mlir.runtime.engine.Engine and define them; docs/own_targets.md has one",
        )
    with _lock:
        _factories[name] = factory
        _engines.pop(name, None)


def unregister_engine(name: str) -> None:
    """Forget an engine; nothing happens if there is none of this name."""
    with _lock:
        _factories.pop(name, None)
        _engines.pop(name, None)


def _begin_anew() -> None:
    """In a forked process: those of its parent are kept, since nobody can close them, and not given to anybody."""
    global _lock
    _lock = threading.RLock()
    _engines_of_parents.extend(_engines.values())
    _engines.clear()


in_forked_process(_begin_anew)


def get_engine(name: str) -> Engine:
    """The engine of that name, one object per process.

    Raises:
        EngineError: unknown name, or its packages are not installed.
    """
    with _lock:
        if name not in _engines:
            if name not in _factories:
                raise EngineError(
                    f"there is no engine {name!r}", hint=f"engines: {', '.join(engine_names())}"
                )
            _engines[name] = as_engine(_factories[name]())
        return _engines[name]


def as_engine(engine: Any) -> Engine:
    """An engine, or the one of that name.

    Raises:
        EngineError: it is none, or does not say its name and what it takes.
    """
    if isinstance(engine, str):
        return get_engine(engine)
    lacks = [name for name in ("name", "output_types") if not hasattr(engine, name)]
    if not isinstance(engine, Engine) or lacks:
        what = "has no " + " and no ".join(lacks) if isinstance(engine, Engine) else "is no engine"
        raise EngineError(
            f"{type(engine).__qualname__} {what}",
            hint="an engine is a torch2mlir.runtime.engine.Engine with a name and the output_types that it takes, "
            'as output_types = frozenset({"stablehlo"}); docs/own_targets.md has one',
        )
    return engine
