"""Calls of a model on trial: whatever they change is afterwards as it was."""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.nn.parameter import is_lazy
from torch.utils import _pytree as pytree

from torch2mlir.frontends.python_state import PythonState
from torch2mlir.shared_generators import generators_kept


@contextmanager
def python_undone(model: Callable[..., Any]) -> Iterator[PythonState]:
    """Around a trace: Python's objects are afterwards what they were, and so are tensors that PyTorch does not know.

    ``torch.export`` works on copies of parameters and buffers, but writes that need no input, like
    ``self.cache.length += 1``, happen to other tensors while it traces.
    """
    state = PythonState(model)
    before = [(t, t._version, t.detach().clone()) for t in state.reached.tensors]
    try:
        with memory_kept(state), generators_kept():
            yield state
    finally:
        state.restore()
        with torch.no_grad():
            for tensor, version, elements in before:
                if tensor._version != version:
                    tensor.copy_(elements)


@contextmanager
def memory_kept(state: PythonState) -> Iterator[None]:
    """Around a trace: the model's tensors are afterwards real ones, of the sizes and in the memory that they had.

    Their gradients are those that they had: a forward pass may call ``backward``.

    ``self.w.data = self.w.data * 2`` gives a weight the memory of a tensor that a trace has in its place, which has no
    elements, if the model is called by a function: ``torch.export`` works on copies of its module's parameters only.
    ``self.low.resize_(..)`` and ``self.low.squeeze_()`` change the sizes of a buffer.
    """
    tensors = [*_parameters(state), *_buffers(state), *state.reached.tensors]
    before = [tensor.detach() for tensor in tensors]
    gradients = _Gradients(tensors)
    try:
        yield
    finally:
        _lay_back(tensors, before)
        gradients.restore()


class _Gradients:
    """Those that tensors have at some time."""

    def __init__(self, tensors: Iterable[torch.Tensor]) -> None:
        self._held = [
            (tensor, grad, None if grad is None else (grad._version, grad.clone()))
            for tensor, grad in ((t, t.grad) for t in tensors if t.is_leaf)
        ]

    def restore(self) -> None:
        """Gives the tensors the same ones again, with the same elements."""
        for tensor, grad, saved in self._held:
            if tensor.grad is not grad:
                tensor.grad = grad
            if grad is not None and saved is not None and grad._version != saved[0]:
                with torch.no_grad():
                    grad.copy_(saved[1])


@contextmanager
def undone(
    model: Callable[..., Any], parameters: Iterable[torch.Tensor] | None = ()
) -> Iterator[PythonState]:
    """A trial: what happens to buffers, to Python's objects and to PyTorch's random numbers is undone after it.

    Args:
        model: a module or a function.
        parameters: those of its parameters that the trial may write to; a copy of all, which None stands for, takes as
            much memory again.
    """
    with torch.random.fork_rng(devices=[]), python_undone(model) as state, torch.no_grad():
        written = _parameters(state) if parameters is None else parameters
        tensors = [*_buffers(state), *written]
        before = [tensor.detach() for tensor in tensors]
        saved = [tensor.clone() for tensor in before]
        try:
            yield state
        finally:
            state.restore()
            _lay_back(tensors, before)
            _put_back(tensors, saved)


def _buffers(state: PythonState) -> list[torch.Tensor]:
    return _real(b for m in state.reached.modules for b in m._buffers.values())


def _parameters(state: PythonState) -> list[torch.Tensor]:
    return _real(p for m in state.reached.modules for p in m._parameters.values())


def _real(tensors: Iterable[torch.Tensor | None]) -> list[torch.Tensor]:
    """Each tensor once that has elements; those of ``nn.LazyLinear`` have none before the first call."""
    found = (t for t in tensors if t is not None and not is_lazy(t))
    return list({id(tensor): tensor for tensor in found}.values())


def repeated(
    model: Callable[..., Any],
    calls: Sequence[tuple[Sequence[Any], Mapping[str, Any]]],
    states: list[PythonState] | None = None,
    has_same_tensors: bool = False,
    has_same_objects: bool = False,
) -> Generator[list[Any], None, None]:
    """The leaves of the results of calls one after the other, each with the same of PyTorch's random numbers; undone.

    A call may write to parameters too: afterwards they have their elements again.

    Args:
        model: a module or function.
        calls: the arguments and keyword arguments of each, which gets copies. Where nothing can be run there is none.
        states: where the state of Python before the first call goes.
        has_same_tensors: whether parameters, buffers and other tensors are before every call what they were at first.
        has_same_objects: whether Python's objects are, but for buffers that are tensors.
    """
    with ExitStack() as trial:
        state = trial.enter_context(undone(model))
        buffers = [
            (part._buffers, {name: b for name, b in part._buffers.items() if b is not None})
            for part in state.reached.modules
        ]
        tensors = [*_parameters(state), *_buffers(state), *state.reached.tensors]
        given = (t for t in pytree.tree_leaves(calls) if isinstance(t, torch.Tensor))
        if any(isinstance(t, FakeTensor) or t.is_meta for t in (*tensors, *given)):
            return
        before = [tensor.detach() for tensor in tensors]
        elements = [tensor.clone() for tensor in before]
        trial.callback(_put_back, tensors, elements)
        trial.callback(_lay_back, tensors, before)
        if states is not None:
            states.append(state)
        for args, kwargs in calls:
            if has_same_tensors:
                for table, saved in buffers:
                    table.update(saved)
                _lay_back(tensors, before)
                _put_back(tensors, elements)
            if has_same_objects:
                state.restore(keep=["_buffers"])
            own, named = cloned((tuple(args), dict(kwargs)))
            with torch.random.fork_rng(devices=[]):
                results = pytree.tree_leaves(model(*own, **named))
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


def _lay_back(tensors: Sequence[torch.Tensor], before: Sequence[torch.Tensor]) -> None:
    """Gives tensors the memory, sizes and strides that they had."""
    for tensor, was in zip(tensors, before, strict=True):
        if tensor.device != was.device or _places(tensor) != _places(was):
            tensor.data = was


def _places(tensor: torch.Tensor) -> Any:
    if tensor.layout is not torch.strided:
        return tensor.shape
    return tensor.shape, tensor.stride(), tensor.storage_offset()


def _put_back(tensors: Sequence[torch.Tensor], saved: Sequence[torch.Tensor]) -> None:
    """Writes to tensors what they were, where they are something else and have not been resized."""
    with torch.no_grad():
        for tensor, value in zip(tensors, saved, strict=True):
            if tensor.is_meta:
                continue
            is_strided = tensor.layout is torch.strided  # PyTorch compares no others
            if tensor.shape == value.shape and not (is_strided and torch.equal(tensor, value)):
                tensor.copy_(value)


def cloned(value: Any) -> Any:
    """Arguments that a trial may write to, sharing memory among themselves as the given ones do."""
    return copy.deepcopy(pytree.tree_map_only(torch.Tensor, _detached, value))


def _detached(x: torch.Tensor) -> torch.Tensor:
    twin = x.detach()
    vars(twin).update(vars(x))  # what the user has set: x.scale = 2.0
    return twin
