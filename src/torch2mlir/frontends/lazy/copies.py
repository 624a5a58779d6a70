"""What PyTorch copies on the CPU and not on its ``lazy`` device, whose tensors have no strides and count as contiguous.

``x.t().contiguous()`` and ``x[:, 0].reshape(-1)`` would be ``x`` itself in another order, and a write to one a write
to both. How a view lies in memory is found by taking it again, of a tensor that has strides and no elements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch._C import _functionalization as functionalization
from torch.utils import _pytree as pytree
from torch.utils.weak import WeakTensorKeyDictionary

COPYING_BY_STRIDES = frozenset({"contiguous", "reshape", "reshape_as", "flatten", "ravel"})
"""Functions that give a view of their tensor, or a copy where its strides allow no view; ``to`` is one of a layout."""


def is_copied(
    func: Callable[..., Any], source: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> bool:
    """Whether eager mode copies a tensor that a function of :data:`COPYING_BY_STRIDES` gets, with further arguments.

    So is ``to`` asked, with a ``memory_format``.

    A tensor that is no view counts as contiguous, also where eager mode's result of an operation has the strides
    of its operand.
    """
    if not isinstance(source, torch.Tensor) or not torch._is_functional_tensor(source):
        return False
    stridden = _with_strides(source)
    if stridden is None:
        return False
    if func.__name__ == "to":  # another dtype or device is a copy anyway
        args, kwargs = (), {"memory_format": kwargs["memory_format"]}
    others = pytree.tree_map_only(torch.Tensor, _without_elements, (list(args), dict(kwargs)))
    result = func(stridden, *others[0], **others[1])
    return result.untyped_storage()._cdata != stridden.untyped_storage()._cdata


def _with_strides(tensor: torch.Tensor) -> torch.Tensor | None:
    """A tensor without elements that lies in memory as a view does in eager mode; None where that is not known."""
    views = functionalization.get_view_meta_sequence(tensor)
    if not views:
        return None
    try:
        return functionalization.apply_view_meta_sequence(
            _first(tensor), [_taking_views(view) for view in views]
        )
    except RuntimeError:  # eager mode refuses the view
        return None


def note_detached(source: Any, result: torch.Tensor) -> None:
    """Notes what a tensor is a view of that ``detach`` has given, which PyTorch does not."""
    if isinstance(source, torch.Tensor) and torch._is_functional_tensor(source):
        _detached_from[result] = _first(source)  # without the tensor itself and its gradients


_detached_from = WeakTensorKeyDictionary()


def _first(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor that is a view of no other and that a tensor is a view of, without elements."""
    base = tensor if tensor._base is None else tensor._base
    first: torch.Tensor | None = _detached_from.get(base)
    return _without_elements(base) if first is None else first


def _without_elements(tensor: torch.Tensor) -> torch.Tensor:
    return torch.empty(tensor.shape, dtype=tensor.dtype, device="meta")


def _taking_views(view: Any) -> Any:
    """The step from a tensor to a view of it as one that shares memory; functionalization has those that copy."""
    parts = view.as_tuple()
    (mode,) = (place for place, part in enumerate(parts) if isinstance(part, _MODE))
    return type(view)((*parts[: mode - 1], True, *parts[mode:]))


_MODE = functionalization.InverseReturnMode  # type: ignore[attr-defined]
"""In the tuple of a step, what is behind whether it shares memory."""
