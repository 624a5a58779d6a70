"""PyTorch's ``lazy`` device, compiled: programs run as they are, what they record runs on an engine.

    with torch2mlir.lazy.device(engine="xla") as device:
        model.to(device)
        for x, y in batches:
            loss = loss_of(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            torch2mlir.lazy.mark_step()
        print(loss.item())
        print(torch2mlir.lazy.metrics())

Calls on tensors of the device are recorded. At a step marker, and where a value is asked for (``item``, ``cpu``,
``numpy``, ``print``), everything recorded becomes one graph, which is compiled once and cached by its hash.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any

import torch
from torch.utils import _pytree as pytree

from torch2mlir.api import engine_for, export_and_import
from torch2mlir.errors import CaptureError, InputError, Torch2MLIRError
from torch2mlir.frontends.lazy import device as lazy_device
from torch2mlir.frontends.lazy.writes import Writes
from torch2mlir.module import MlirModule
from torch2mlir.pipeline import Pipeline
from torch2mlir.runtime.engine import Engine, dialect_for
from torch2mlir.runtime.lazy import Computation, LazyRuntime, Metrics, import_recorded

__all__ = [
    "Computation",
    "Metrics",
    "device",
    "get_mlir",
    "last_computation",
    "mark_step",
    "metrics",
    "reset_metrics",
]

_active = threading.local()


@contextmanager
def device(
    engine: str | Engine | None = None,
    output_type: str | None = None,
    *,
    cache_size: int = 256,
) -> Iterator[torch.device]:
    """PyTorch's ``lazy`` device, computed by an engine, in this thread and while the context is open.

    PyTorch's own step marker, ``torch._lazy.mark_step()``, means ours meanwhile. When the context closes, whatever
    is still pending is computed, also where an exception of the program closes it.

    A step has one seed, of PyTorch's generator at its first draw; a draw after ``torch.manual_seed`` begins another
    step. To repeat numbers by ``torch.get_rng_state``, mark a step before the state is read.

    Args:
        engine: ``xla``, ``iree``, ``reference`` or an :class:`~torch2mlir.runtime.engine.Engine`; by default XLA for
            StableHLO and IREE for the others.
        output_type: the dialect programs go through: ``stablehlo``, ``linalg-on-tensors`` or ``tosa``; by default the
            one in which the engine does most, ``stablehlo`` without one.
        cache_size: how many compiled graphs are kept; beyond, the one that has not run for longest is dropped.

    Raises:
        Torch2MLIRError: an output type that cannot be run, a context inside another one, or a cache for nothing.
        EngineError: the engine is not installed or does not take the dialect.
    """
    pipeline = Pipeline.to(dialect_for(engine, output_type))
    found = engine_for(pipeline, engine)
    if cache_size < 1:
        raise Torch2MLIRError(
            f"cache_size is {cache_size}: no graph could be kept", hint="use at least 1"
        )
    if _open_runtime() is not None:
        raise Torch2MLIRError(
            "the lazy device is open in this thread already",
            hint="use the one device() has given, or leave its context first",
        )
    runtime = LazyRuntime(pipeline, found, cache_size)
    lazy_device.initialize()
    _install_hooks()
    _active.runtime = runtime
    try:
        with Writes(), runtime.recorder:
            try:
                yield torch.device(lazy_device.LAZY)
            except Torch2MLIRError:  # what is pending may be just what cannot be computed
                raise
            except Exception as error:
                try:
                    runtime.compute()
                except Torch2MLIRError as second:
                    error.add_note(f"what was pending on the lazy device is lost: {second}")
                raise
            runtime.compute()
    finally:
        _active.runtime = None
        _active.closed = runtime


@cache
def _install_hooks() -> None:
    """Makes PyTorch's step markers and its printing, which looks below dispatch modes, compute what is recorded.

    Pickling reads memory, which tensors of the device do not have: theirs is that of a copy on the CPU, as on PyTorch's
    other devices of that kind. Once in a process; in threads without an open device markers and printing are PyTorch's.
    """
    native = torch._C._lazy
    native._mark_step = _computing(native._mark_step)
    native._sync_multi = _computing(native._sync_multi)
    original = torch._tensor_str._str

    @wraps(original)
    def printed(tensor: torch.Tensor, **options: Any) -> str:
        runtime = _open_runtime()
        if runtime is not None and lazy_device.is_lazy(tensor):
            runtime.compute()
        return original(tensor, **options)

    torch._tensor_str._str = printed  # type: ignore[assignment]
    pickled = torch.Tensor._reduce_ex_internal

    @wraps(pickled)
    def reduced(tensor: torch.Tensor, protocol: int) -> Any:
        if not lazy_device.is_lazy(tensor):
            return pickled(tensor, protocol)
        rebuild = torch._utils._rebuild_device_tensor_from_cpu_tensor
        values = tensor.detach().cpu()
        return rebuild, (values, tensor.dtype, str(tensor.device), tensor.requires_grad)

    torch.Tensor._reduce_ex_internal = reduced  # type: ignore[method-assign]


def _computing(marker: Callable[..., None]) -> Callable[..., None]:
    """PyTorch's step marker, or ours where a device of ours is open."""

    @wraps(marker)
    def call(*args: Any, **kwargs: Any) -> None:
        runtime = _open_runtime()
        if runtime is None:
            marker(*args, **kwargs)
        else:
            runtime.compute()

    return call


def _open_runtime() -> LazyRuntime | None:
    """The runtime of the context this thread is in."""
    return getattr(_active, "runtime", None)


def _runtime() -> LazyRuntime:
    runtime = _open_runtime()
    if runtime is None:
        raise Torch2MLIRError(
            "the lazy device is not open in this thread",
            hint='open it: with torch2mlir.lazy.device(engine="xla") as device: ...',
        )
    return runtime


def _last_runtime() -> LazyRuntime:
    """The runtime that is open, or was open last: its counters outlive the context."""
    return _open_runtime() or getattr(_active, "closed", None) or _runtime()


def mark_step() -> None:
    """Computes everything recorded so far; the end of a training step.

    Raises:
        Torch2MLIRError: no device is open, or the recorded computation cannot be compiled.
    """
    _runtime().compute()


def get_mlir(tensors: Any, output_type: str = "raw") -> MlirModule:
    """What has been recorded behind lazy tensors, as MLIR; nothing is run.

    The function's arguments are the tensors the computation starts from (``str`` prints the text).

    Args:
        tensors: a lazy tensor, or several in any structure of lists, tuples and dicts.
        output_type: ``raw``, ``torch``, ``linalg-on-tensors``, ``tosa`` or ``stablehlo``.

    Raises:
        InputError: something else than a tensor of the lazy device, or tensors that have their values already.
        CaptureError: the graph has no torch-dialect form.
    """
    runtime = _runtime()
    leaves = pytree.tree_leaves(tensors)
    for leaf in leaves:
        if not lazy_device.is_lazy(leaf):
            where = f"a tensor on {leaf.device}" if isinstance(leaf, torch.Tensor) else repr(leaf)
            raise InputError(
                f"get_mlir takes tensors of the lazy device, got {where}",
                hint="move inputs and model with .to(device)",
            )
    pending = runtime.recorder.among_pending(leaves)
    if not pending:
        raise InputError(
            "the tensors have their values already, no computation is pending behind them",
            hint="ask before mark_step(), or see torch2mlir.lazy.last_computation()",
        )
    graph = lazy_device.recorded(pending)
    program = import_recorded(graph, graph.text()).program
    return export_and_import(program, output_type=output_type, weights="arguments")


def last_computation() -> Computation:
    """The computation that ran last: ``str()`` is its MLIR, ``graph`` what PyTorch had recorded, ``text()`` what the
    engine was given.

    Raises:
        CaptureError: nothing has run yet.
    """
    last = _last_runtime().last
    if last is None:
        raise CaptureError(
            "nothing has been computed on the lazy device yet",
            hint="call torch2mlir.lazy.mark_step() after recording something",
        )
    return last


def metrics() -> Metrics:
    """Captures, cache hits and misses, seconds, and what PyTorch has run itself, on the device that is open."""
    return _last_runtime().metrics


def reset_metrics() -> None:
    """Counts from zero again; compiled computations stay."""
    _last_runtime().reset_metrics()
