"""Tensors that a model makes of numbers and then writes to, by any of their views.

PyTorch's capture answers ``torch.tensor(3).item()`` with the number, and keeps what is computed from such numbers: with
its fake tensors, and where it traces a second time with its proxies. Fake tensors forget a number when their memory is
written to by an op that takes the tensor itself and knows what it writes to; not if it takes a list of tensors, nor
through a view whose size varies; and they take a floating-point number that the program computes for 0. Proxies forget
the number of the tensor that is written to and of no other one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx.experimental import proxy_tensor
from torch.fx.experimental.proxy_tensor import py_sym_types
from torch.utils import _pytree as pytree

from torch2mlir.frontends.fx.refused_writes import writes_elements_of
from torch2mlir.frontends.memory import storage_of

_FAKE, _PROXY = "dispatch", "proxy_call"
"""PyTorch's functions for one call of an op: of fake tensors, and while it is traced."""


@contextmanager
def written_constants_forgotten() -> Iterator[None]:
    """While it holds, PyTorch keeps no number of a tensor whose memory may hold another one by then."""
    fake, proxy = getattr(FakeTensorMode, _FAKE), getattr(proxy_tensor, _PROXY)
    written = _Written()

    def faked(mode: FakeTensorMode, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not mode.fake_tensor_converter.constant_storage_mapping:
            return fake(mode, op, types, args, kwargs or {})
        written.forget(args, kwargs)
        leaves = pytree.arg_tree_leaves(*args, **(kwargs or {}))
        tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        are_known = all(isinstance(t, FakeTensor) and t.constant is not None for t in tensors)
        if are_known and any(isinstance(leaf, py_sym_types) for leaf in leaves):
            are_known = False
            with _unknown(tensors):
                result = fake(mode, op, types, args, kwargs or {})
        else:
            result = fake(mode, op, types, args, kwargs or {})
        written.note(op, args, kwargs or {}, are_known)
        return result

    def traced(mode: Any, op: Any, pre_dispatch: bool, args: Any, kwargs: Any) -> Any:
        if isinstance(op, OpOverload) and torch.Tag.data_dependent_output in op.tags:
            written.forget(args, kwargs)
            for tensor in _tensors(args, kwargs):
                if isinstance(tensor, FakeTensor) and tensor.constant is None:
                    _forget_proxy(tensor, mode.tracer)
        return proxy(mode, op, pre_dispatch, args, kwargs)

    setattr(FakeTensorMode, _FAKE, faked)
    setattr(proxy_tensor, _PROXY, traced)
    try:
        yield
    finally:
        setattr(FakeTensorMode, _FAKE, fake)
        setattr(proxy_tensor, _PROXY, proxy)


class _Written:
    """The memory that a program has written something to that PyTorch does not know."""

    def __init__(self) -> None:
        self._by_storage = dict[int, Tensor]()
        """With a tensor of it, so that no other memory is taken for it."""

    def forget(self, args: Sequence[Any], kwargs: Any) -> None:
        """Takes the numbers from what is in such memory."""
        for tensor in _tensors(args, kwargs) if self._by_storage else ():
            if isinstance(tensor, FakeTensor) and storage_of(tensor) in self._by_storage:
                tensor.constant = None

    def note(
        self, op: Any, args: Sequence[Any], kwargs: Mapping[str, Any], are_known: bool
    ) -> None:
        """That an op was called, with tensors all of whose elements were known or not."""
        if not isinstance(op, OpOverload) or not op._schema.is_mutable:
            return
        for given in writes_elements_of(op, args, kwargs):
            for tensor in pytree.tree_leaves(given):
                if isinstance(tensor, FakeTensor) and (not are_known or tensor.constant is None):
                    self._by_storage[storage_of(tensor)] = tensor
                    tensor.constant = None


@contextmanager
def _unknown(tensors: Sequence[Any]) -> Iterator[None]:
    """While it holds, the numbers of these fake tensors are not known."""
    constants = [tensor.constant for tensor in tensors]
    for tensor in tensors:
        tensor.constant = None
    try:
        yield
    finally:
        for tensor, constant in zip(tensors, constants, strict=True):
            tensor.constant = constant


def _tensors(args: Sequence[Any], kwargs: Any) -> list[Tensor]:
    return [t for t in pytree.arg_tree_leaves(*args, **(kwargs or {})) if isinstance(t, Tensor)]


def _forget_proxy(tensor: FakeTensor, tracer: Any) -> None:
    traced = proxy_tensor.get_proxy_slot(tensor, tracer, None)
    if traced is not None:
        traced.constant = None
