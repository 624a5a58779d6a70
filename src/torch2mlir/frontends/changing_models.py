"""Models whose calls put something else into attributes that are no state to PyTorch: numbers, lists, plain tensors.

A program is made of one call. If that leaves the model with other attributes, a second call may compute something
else, which no program does: whether it would is tried in PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils import _pytree as pytree

from torch2mlir.errors import CaptureError
from torch2mlir.frontends.fx.state import unregistered_state_kept, unregistered_tensors
from torch2mlir.frontends.module_state import ModuleState, cloned, put_back, undone


class Changes:
    """What a call of a model changes in its attributes.

    Args:
        model: a module, or a function that may refer to modules.
    """

    def __init__(self, model: Callable[..., Any]) -> None:
        self._model = model
        self._modules = _modules(model)
        self._names = list[str]()
        self._is_known = False

    @contextmanager
    def undone(self) -> Iterator[None]:
        """Around a trace: attributes are afterwards what they were."""
        states = [ModuleState(module) for module in self._modules]
        try:
            with unregistered_state_kept(self._model):
                yield
        finally:
            for state in states:
                state.restore()

    @contextmanager
    def noted(self, traced: torch.nn.Module) -> Iterator[None]:
        """Around a trace that runs the model, as the module ``traced``: what its call changes is noted.

        PyTorch undoes that itself as soon as the call is over.
        """
        at_start = list[ModuleState]()

        def starts(_model: Any, _args: Any) -> None:
            at_start[:] = [ModuleState(module) for module in self._modules]

        def ends(_model: Any, _args: Any, _result: Any) -> None:
            self._is_known = True
            self._names[:] = [name for state in at_start for name in state.changed()]

        handles = [traced.register_forward_pre_hook(starts), traced.register_forward_hook(ends)]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def check(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Looks whether what was noted matters; where nothing ran, as in strict mode, whether a call changes anything.

        Raises:
            CaptureError: a second call with the same arguments and state gives another result.
        """
        if self._is_known and not self._names:
            return
        names = _changed_by_second_call(self._model, args, kwargs)
        if names:
            raise CaptureError(
                f"a call of the model changes what its next call computes: {_listed(names)}. "
                "A compiled program would repeat the first call",
                hint="keep it in a buffer (register_buffer) or make it an argument and a result; torch2mlir.optimize "
                "and torch.compile capture such calls again",
            )


def _listed(names: Sequence[str]) -> str:
    shown = [f"'{name}'" for name in dict.fromkeys(names)]
    return ", ".join(shown[:4]) + (", ..." if len(shown) > 4 else "")


def _modules(model: Callable[..., Any]) -> list[torch.nn.Module]:
    """A module; of a function, those it refers to."""
    return [model] if isinstance(model, torch.nn.Module) else [*referred_modules(model).values()]


def referred_modules(function: Callable[..., Any]) -> dict[str, torch.nn.Module]:
    """The modules that a function refers to, by the names it has for them, each once.

    What it calls is looked into where it holds that itself: decorated functions, partial ones, attributes of an object.
    """
    found, seen = dict[str, torch.nn.Module](), set[int]()
    waiting: list[tuple[str, Any]] = [("self", function)]
    while waiting:
        name, value = waiting.pop(0)
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, torch.nn.Module):
            while name in found:
                name += "_"
            found[name] = value
        elif value is function or isinstance(value, _FUNCTIONS):
            waiting += _held(value)
    return found


_FUNCTIONS = (FunctionType, MethodType, partial)


def _held(function: Any) -> Iterator[tuple[str, Any]]:
    """What a function has names for."""
    if isinstance(function, partial):
        yield "self", function.func
        yield from ((f"argument{i}", value) for i, value in enumerate(function.args))
        yield from function.keywords.items()
    elif isinstance(function, MethodType):
        owner = function.__self__
        is_module = isinstance(owner, torch.nn.Module)
        yield from [("self", owner)] if is_module else getattr(owner, "__dict__", {}).items()
        yield "function", function.__func__
    elif isinstance(function, FunctionType):
        code = function.__code__
        for name, cell in zip(code.co_freevars, function.__closure__ or ()):
            with suppress(ValueError):  # the variable has no value yet
                yield name, cell.cell_contents
        for name in code.co_names:
            value = function.__globals__.get(name)
            # of functions, those of the same file: PyTorch's refer to thousands
            is_near = getattr(value, "__globals__", None) is function.__globals__
            if isinstance(value, torch.nn.Module) or is_near:
                yield name, value
    else:
        yield from getattr(function, "__dict__", {}).items()


class Holder(torch.nn.Module):
    """A module of modules.

    Args:
        parts: them, by name.
    """

    def __init__(self, parts: Mapping[str, torch.nn.Module]) -> None:
        super().__init__()
        for name, part in parts.items():
            self.add_module(name if not hasattr(self, name) else f"{name}_", part)


def module_of(model: Callable[..., Any]) -> torch.nn.Module | None:
    """A module that has the state a model reads: itself, or of a function what it refers to."""
    if isinstance(model, torch.nn.Module):
        return model
    parts = referred_modules(model)
    return Holder(parts) if parts else None


def _changed_by_second_call(
    model: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> list[str]:
    """Calls a model twice with the same tensors and random numbers, then with other elements, and undoes it.

    What it keeps of the first call, as a cache that is filled once, may show in a call with other elements only: that
    is compared with a first call with them.

    Returns:
        what a call changes, if a later one gives another result than it would as the first.
    """
    given, others = (args, kwargs), pytree.tree_map(_other, (args, kwargs))
    states, results = list[ModuleState](), list[list[Any]]()
    changed = list[str]()
    with suppress(Exception):  # PyTorch refuses it as well: nothing to compare with
        for found in repeated(model, [given, given, others], states):
            results.append(found)
            changed = [name for state in states for name in state.changed()]
    with suppress(Exception):
        results += repeated(model, [others]) if len(results) == 3 else []
    pairs = zip(results[:1] + results[3:], results[1:3], strict=False)
    return changed if any(not have_same_elements(a, b) for a, b in pairs) else []


def _other(value: Any) -> Any:
    """A tensor of the same kind, with elements of the same sign and size; what is no tensor as it is."""
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return value
    elements = value.detach().flip([*range(value.dim())])
    return elements * 0.75 if value.dtype.is_floating_point or value.is_complex() else elements


def repeated(
    model: Callable[..., Any],
    calls: Sequence[tuple[Sequence[Any], Mapping[str, Any]]],
    states: list[ModuleState] | None = None,
) -> Iterator[list[Any]]:
    """The leaves of the results of calls from the same tensors, buffers and PyTorch's random numbers, which are undone.

    A call may write to parameters too: afterwards they have their elements again.

    Args:
        model: a module or function.
        calls: the arguments and keyword arguments of each, which gets copies. Where nothing can be run there is none.
        states: where the states of the modules before the first call go.
    """
    modules = _modules(model)
    tensors = [t for module in modules for t in (*module.parameters(), *module.buffers())]
    tensors += unregistered_tensors(model)
    if any(
        isinstance(t, FakeTensor) or t.is_meta
        for t in (*tensors, *pytree.tree_leaves(calls))
        if isinstance(t, torch.Tensor)
    ):
        return
    buffers = [
        (part._buffers, {name: b for name, b in part._buffers.items() if b is not None})
        for module in modules
        for part in module.modules()
    ]
    with ExitStack() as trial:
        found = [trial.enter_context(undone(module)) for module in modules]
        if states is not None:
            states += found
        trial.enter_context(unregistered_state_kept(model))
        trial.enter_context(torch.no_grad())
        elements = [tensor.detach().clone() for tensor in tensors]
        trial.callback(put_back, tensors, elements)
        for args, kwargs in calls:
            for table, saved in buffers:
                table.update(saved)
            put_back(tensors, elements)
            given, named = cloned((tuple(args), dict(kwargs)))
            with torch.random.fork_rng(devices=[]):
                results = pytree.tree_leaves(model(*given, **named))
            yield results


def have_same_elements(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether the leaves of two results are equal."""
    return len(one) == len(other) and all(map(_is_equal, one, other))


def _is_equal(one: Any, other: Any) -> bool:
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return type(one) is type(other) and bool(one is other or one == other)
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    return bool(((one == other) | ((one != one) & (other != other))).all())
