"""Places in a tensor that a tensor of one integer says, where PyTorch's own capture stops at the number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode


class PlacesFromTensors(TorchFunctionMode):
    """``narrow``, and ``x[i] = ..``, at a place that a tensor says.

    PyTorch's own forms ask the tensor for the number, and their capture fails at that.
    """

    def __torch_function__(
        self, function: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if function in (torch.narrow, torch.Tensor.narrow):
            named = dict(zip(("input", "dim", "start", "length"), args)) | kwargs
            x, dim, start = named.get("input"), named.get("dim"), named.get("start")
            if isinstance(x, torch.Tensor) and isinstance(start, torch.Tensor):
                return x.narrow(dim, start.item(), named["length"])  # type: ignore[arg-type]
        if function is torch.Tensor.__setitem__:
            x, index, value = args
            return function(*_at_places(x, index), value)
        return function(*args, **kwargs)


def _at_places(x: torch.Tensor, index: Any) -> tuple[torch.Tensor, Any]:
    """A tensor at the places that a subscript's tensors of one integer say, and the rest of the subscript.

    Beside other tensors, which are combined with them, they are left as they are.
    """
    parts = index if isinstance(index, tuple) else (index,)
    if not any(map(_is_place, parts)) or not all(_is_place(p) or _is_plain(p) for p in parts):
        return x, index
    if all(part is not ... for part in parts):
        parts = (*parts, ...)
    given = sum(part is not None and part is not ... for part in parts)
    dim, rest = x.dim(), list[Any]()
    # from the last dimension on, so that those before keep their numbers
    for part in reversed(parts):
        dim -= x.dim() - given if part is ... else part is not None
        if _is_place(part):
            x, given = x.select(dim, part.item()), given - 1
        else:
            rest.insert(0, part)
    return x, tuple(rest)


def _is_plain(part: Any) -> bool:
    """Whether it is no tensor, and nothing that becomes one."""
    is_number = isinstance(part, int | torch.SymInt) and not isinstance(part, bool)
    return is_number or part is None or part is ... or isinstance(part, slice)


def _is_place(part: Any) -> bool:
    return isinstance(part, torch.Tensor) and part.dim() == 0 and part.dtype in _PLACES


_PLACES = (torch.int64, torch.int32, torch.int16, torch.int8)
