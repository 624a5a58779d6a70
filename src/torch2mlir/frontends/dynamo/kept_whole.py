"""Ops that AOTAutograd must not take apart: PyTorch's definitions above autograd give other results than its kernels.

They are captured as calls of their own, as ``torch.export`` captures them, and decomposed by the transforms.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

_ABOVE_AUTOGRAD = torch._C.DispatchKey.Autograd

_CONTRADICTED = (
    # PyTorch 2.13 counts what follows the first -1 of a row of targets as a target of class 0
    torch.ops.aten.multilabel_margin_loss_forward.default,
)


@contextmanager
def kept_whole() -> Iterator[None]:
    """While it holds, autograd has these ops as PyTorch's kernels and their own backward ops."""
    taken = {op: op.py_kernels.pop(_ABOVE_AUTOGRAD, None) for op in _CONTRADICTED}
    for op in taken:
        op._dispatch_cache.clear()
    try:
        yield
    finally:
        for op, definition in taken.items():
            if definition is not None:
                op.py_impl(_ABOVE_AUTOGRAD)(definition)
