"""Ops that AOTAutograd must not take apart as it does: PyTorch's definitions above autograd contradict its kernels.

Those without another definition are captured as calls of their own, as ``torch.export`` captures them, and the
transforms decompose them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import torch

_Definition = Callable[..., torch.Tensor]

_KEYS = (torch._C.DispatchKey.Autograd, torch._C.DispatchKey.CompositeImplicitAutograd)


def _dropout(input: torch.Tensor, p: float, train: bool | None) -> torch.Tensor:
    # PyTorch 2.13 copies the input where its kernel gives the input itself, which may be written by either name
    return torch.ops.aten.native_dropout(input, p, train)[0] if train and p != 0 else input


_CONTRADICTED: Mapping[torch._ops.OpOverload, _Definition | None] = {
    # PyTorch 2.13 counts what follows the first -1 of a row of targets as a target of class 0
    torch.ops.aten.multilabel_margin_loss_forward.default: None,
    torch.ops.aten.dropout.default: _dropout,
}
"""Op -> its definition, or None for one that stays whole, with its own backward op."""


@contextmanager
def kept_whole() -> Iterator[None]:
    """While it holds, these ops are above autograd what PyTorch's kernels are."""
    taken = [
        (op, key, op.py_kernels.pop(key))
        for op in _CONTRADICTED
        for key in _KEYS
        if key in op.py_kernels
    ]
    for op, key, _ in taken:
        op._dispatch_cache.clear()
        if (definition := _CONTRADICTED[op]) is not None:
            op.py_impl(key)(definition)
    try:
        yield
    finally:
        for op, key, before in taken:
            op.py_kernels.pop(key, None)
            op._dispatch_cache.clear()
            op.py_impl(key)(before)
