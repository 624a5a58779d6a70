"""Tensors of the user's own classes."""

from __future__ import annotations

from typing import Any

import torch

_PYTORCHS = (torch.Tensor, torch.nn.Parameter)


def overrides_functions(tensor: torch.Tensor) -> bool:
    """Whether a tensor's class says what PyTorch's functions do with it, which no program knows of.

    Classes that say so of operators (``__torch_dispatch__``) are others: PyTorch's capture knows these.
    """
    kind = type(tensor)
    if kind in _PYTORCHS or kind.__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        return False
    functions: Any = kind.__torch_function__
    own: Any = torch.Tensor.__torch_function__
    is_own = getattr(functions, "__func__", None) is own.__func__
    return not is_own and functions is not torch._C._disabled_torch_function_impl
