"""Models whose calls change what their code reads and is no state to PyTorch: numbers, lists, plain tensors, globals.

A program is made of one call. If that leaves other objects behind, a second call may compute something else, which no
program does: whether it would is tried in PyTorch.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import torch
from torch._subclasses import FakeTensor
from torch.fx import Graph
from torch.fx.experimental.proxy_tensor import py_sym_types
from torch.utils import _pytree as pytree

from torch2mlir.callers import frames_of_ours
from torch2mlir.errors import CaptureError
from torch2mlir.frontends.later_calls import Call, difference
from torch2mlir.frontends.python_state import Change, PythonState
from torch2mlir.frontends.trials import cloned, undone


class LaterCallsDiffer(CaptureError):
    """A call of a model changes what its next call computes."""


class DrawnOnce(CaptureError):
    """A model draws random numbers once and keeps them where no program has anything."""


class Changes:
    """What a call of a model changes of Python's objects.

    Args:
        model: a module or a function.

    Attributes:
        model: it.
        code_names: what its code has names for, once it has run.
    """

    def __init__(self, model: Callable[..., Any]) -> None:
        self.model = model
        self._names = list[str]()
        self._computed = list[Change]()
        self._traced_sizes = list[tuple[Any, ...]]()
        self._is_known = False
        self.code_names = set[str]()
        self._has_cached = False

    @contextmanager
    def noted(self, traced: torch.nn.Module) -> Iterator[None]:
        """Around a trace that runs the model, as the module ``traced``: what its call changes is noted.

        PyTorch may call it several times, and puts back what it knows of; each call begins as the first.
        """
        at_start = list[PythonState]()

        def starts(_model: Any, args: Any, kwargs: Any) -> None:
            leaves = pytree.tree_leaves((args, kwargs))
            self._traced_sizes = [tuple(getattr(leaf, "shape", ())) for leaf in leaves]
            for state in at_start:
                state.restore(keep=["_parameters", "_buffers"])  # these are PyTorch's in a trace
            at_start[:] = [PythonState(self.model)]
            self.code_names = at_start[0].reached.names

        def ends(_model: Any, _args: Any, _result: Any) -> None:
            reached = [state.reached for state in at_start]
            # of an iterator nobody can tell; of a weight a trace marks the tensor that it has in its place
            self._is_known = not any(each.iterates or each.marks for each in reached)
            self._has_cached = any(state.has_cached() for state in at_start)
            changes = [each for state in at_start for each in state.changes()]
            self._names[:] = [name for state in at_start for name in state.changed()]
            self._computed[:] = [each for each in changes if _is_traced(each.now)]

        handles = [
            traced.register_forward_pre_hook(starts, with_kwargs=True),
            traced.register_forward_hook(ends),
        ]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def check_cached(self, args: Sequence[Any], kwargs: Mapping[str, Any], graph: Graph) -> None:
        """Looks whether a graph draws at every call what a function's cache keeps of the first, by calling the model.

        Raises:
            DrawnOnce: a call that fills a cache draws more than the next one.
        """
        if not self._has_cached or not any(_draws(node.target) for node in graph.nodes):
            return
        ends = list[torch.Tensor]()
        # PyTorch may refuse the example as well
        with undone(self.model, None), suppress(Exception):
            for _ in range(2):
                own, named = cloned((tuple(args), dict(kwargs)))
                with torch.random.fork_rng(devices=[]):
                    self.model(*own, **named)
                    ends.append(torch.get_rng_state())
        if len(ends) == 2 and not torch.equal(*ends):
            raise DrawnOnce(
                "the model fills a function's cache (functools.lru_cache) and draws random numbers, which a program "
                "would draw anew at every call",
                hint="call the model once before, so that the cache is full, or keep what is drawn in a buffer",
            )

    def check(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], takes_anything: bool = True
    ) -> None:
        """Looks whether what was noted matters; where nothing ran, as in strict mode, whether a call changes anything.

        What does not matter to calls, but is another after each, is lost: that is a warning.

        Args:
            args, kwargs: the example.
            takes_anything: whether the model can be called with any elements.

        Raises:
            LaterCallsDiffer: a later call gives another result for what the calls before it have left.
        """
        if self._is_known and not self._names:
            return
        computed = self._computed if self._is_known else self._computed or None
        smaller = self._smaller(args, kwargs)
        left = difference(self.model, args, kwargs, computed, smaller, takes_anything)
        if left.matters:
            raise LaterCallsDiffer(
                f"a call of the model changes what its next call computes: {_listed(left.matters)}. "
                "A compiled program would repeat the first call",
                hint="keep it in a buffer (register_buffer) or make it an argument and a result; torch2mlir.optimize "
                "and torch.compile capture such calls again",
            )
        if left.lost:
            warnings.warn(
                f"a call of the model sets {_listed(left.lost)} anew, which a compiled one does not: whoever reads it "
                "afterwards finds what was there before. Make it a result, or keep it in a buffer (register_buffer)",
                stacklevel=frames_of_ours() + 1,
            )

    def _smaller(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Call | None:
        """A call whose sizes that vary in the trace are less by one; None if there is none."""
        leaves, spec = pytree.tree_flatten((tuple(args), dict(kwargs)))
        if len(leaves) != len(self._traced_sizes):
            return None
        is_other = False
        for place, (leaf, sizes) in enumerate(zip(leaves, self._traced_sizes, strict=True)):
            for dim, size in enumerate(sizes):
                if not isinstance(size, torch.SymInt):
                    continue
                is_like_it = isinstance(leaf, torch.Tensor) and leaf.dim() == len(sizes)
                expression = size.node.expr  # a number where the model has asked which one it is
                is_free = expression.is_symbol or expression.is_number
                if not is_like_it or not is_free or leaf.shape[dim] <= 2:
                    return None
                leaves[place] = leaf = leaf.narrow(dim, 0, leaf.shape[dim] - 1)
                is_other = True
        call: Call = pytree.tree_unflatten(leaves, spec)
        return call if is_other else None


def _draws(target: Any) -> bool:
    tags = getattr(target, "tags", ())
    return torch.Tag.nondeterministic_seeded in tags


def _is_traced(value: Any) -> bool:
    """Whether there is something in it that a trace computes."""
    leaves = pytree.tree_leaves(value)
    return any(isinstance(leaf, (FakeTensor, *py_sym_types)) for leaf in leaves)


def _listed(names: Sequence[str]) -> str:
    shown = [f"'{name}'" for name in dict.fromkeys(names)]
    return ", ".join(shown[:4]) + (", ..." if len(shown) > 4 else "")


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
            value: Any = function.__globals__.get(name)
            # of functions, those of the same file: PyTorch's refer to thousands
            is_function = isinstance(value, FunctionType)
            is_near = is_function and value.__globals__ is function.__globals__
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
