"""Tensors of a few elements that depend on no input: what they are computed to be may be asked for as Python numbers.

``x.sum(dim=torch.arange(2, x.dim()).tolist())``. PyTorch's own capture knows those of tensors of one element only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch._subclasses import fake_tensor
from torch.fx.experimental import proxy_tensor
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import _disable_current_modes

MOST_ELEMENTS = 64
"""Of tensors whose elements are known."""
_MADE_OF_NUMBERS = {
    *(torch.arange, torch.linspace, torch.logspace, torch.zeros, torch.ones, torch.full, torch.eye),
}
_NUMBERS = (bool, int, float, str, type(None), torch.dtype, torch.device, torch.Size)


@contextmanager
def small_constants_known() -> Iterator[None]:
    """While a model is traced, PyTorch computes the elements of small tensors where it knows all they are made of."""
    modules: tuple[Any, ...] = (fake_tensor, proxy_tensor)
    before = [module.CONSTANT_NUMEL_LIMIT for module in modules]
    try:
        for module in modules:
            module.CONSTANT_NUMEL_LIMIT = MOST_ELEMENTS
        with _AsLiterals():
            yield
    finally:
        for module, limit in zip(modules, before, strict=True):
            module.CONSTANT_NUMEL_LIMIT = limit


class _AsLiterals(TorchFunctionMode):
    """Makes tensors that are made of numbers as ``torch.tensor`` does, whose elements PyTorch keeps."""

    def __torch_function__(
        self, function: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if function in _MADE_OF_NUMBERS and _are_plain((args, kwargs)):
            with _disable_current_modes():
                made = function(*args, **kwargs)
            if made.numel() <= MOST_ELEMENTS:
                return torch.tensor(made.tolist(), dtype=made.dtype).reshape(made.shape)
        return function(*args, **kwargs)


def _are_plain(given: Any) -> bool:
    """Whether all are numbers on the CPU, none of them a size that varies, and the result wants no gradient."""
    leaves = pytree.tree_leaves(given)
    devices = [torch.device(v) for v in leaves if isinstance(v, str | torch.device)]
    is_plain = all(type(value) in _NUMBERS for value in leaves)
    return (
        is_plain
        and given[1].get("requires_grad") is not True
        and all(d.type == "cpu" for d in devices)
    )
