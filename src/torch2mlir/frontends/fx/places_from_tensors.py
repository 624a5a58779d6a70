"""Places in a tensor that a tensor of one integer says, where PyTorch's own capture stops at the number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode


class PlacesFromTensors(TorchFunctionMode):
    """``narrow``, ``x[i] = ..`` and ``x[i, mask]`` at a place that a tensor says.

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
        if function is torch.Tensor.__getitem__ and not all(map(_is_simple, _parts(args[1]))):
            return function(*_at_places(*args))
        return function(*args, **kwargs)


def _at_places(x: torch.Tensor, index: Any) -> tuple[torch.Tensor, Any]:
    """A tensor at the places that a subscript's tensors of one integer say, and the rest of the subscript.

    A subscript with what may be any number of dimensions is left as it is.
    """
    parts = _parts(index)
    counts = [_dimensions(part) for part in parts]
    if not any(map(_is_place, parts)) or None in counts:
        return x, index
    if all(part is not ... for part in parts):
        parts, counts = (*parts, ...), [*counts, 0]
    given = sum(count or 0 for count in counts)
    dim, rest = x.dim(), list[Any]()
    # from the last dimension on, so that those before keep their numbers
    for part, count in zip(reversed(parts), reversed(counts), strict=True):
        dim -= x.dim() - given if part is ... else count or 0
        if _is_place(part):
            x, given = x.select(dim, part.item()), given - 1
        else:
            rest.insert(0, part)
    return x, tuple(rest)


def _parts(index: Any) -> tuple[Any, ...]:
    return index if isinstance(index, tuple) else (index,)


def _is_simple(part: Any) -> bool:
    """Whether PyTorch's capture takes it beside a place: what is no tensor, or a place itself."""
    return _is_place(part) or not isinstance(part, torch.Tensor | list)


def _dimensions(part: Any) -> int | None:
    """How many dimensions a part of a subscript is about; None where it may be any number."""
    if part is None or part is ... or isinstance(part, bool):
        return 0
    if isinstance(part, torch.Tensor):
        return part.dim() if part.dtype in (torch.bool, torch.uint8) else 1
    if isinstance(part, list):
        return 1 if all(type(each) is int for each in part) else None
    return 1 if isinstance(part, int | torch.SymInt | slice) else None


def _is_place(part: Any) -> bool:
    return isinstance(part, torch.Tensor) and part.dim() == 0 and part.dtype in _PLACES


_PLACES = (torch.int64, torch.int32, torch.int16, torch.int8)
