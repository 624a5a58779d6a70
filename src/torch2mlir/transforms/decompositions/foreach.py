"""``aten._foreach_*``: one op on every tensor of a list, as optimizers write it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._ops import OpOverload

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten

_UNARY = (
    "abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal round"
    " rsqrt sigmoid sign sin sinh sqrt tan tanh trunc clone max"
)
_BINARY = "add sub mul div maximum minimum pow clamp_max clamp_min copy"
_TERNARY = "addcmul addcdiv lerp"
_SPECIAL: dict[str, Callable[..., Any]] = {
    "zero": torch.zeros_like,
    "norm": torch.linalg.vector_norm,
    "clamp_max": lambda x, limit: torch.clamp(x, max=limit),
    "clamp_min": lambda x, limit: torch.clamp(x, min=limit),
    "copy": lambda x, source: torch.ops.aten.copy(x, source),
    "maximum": lambda x, y: torch.clamp(x, min=y),
    "minimum": lambda x, y: torch.clamp(x, max=y),
    "addcmul": lambda x, a, b, value=1: x + value * (a * b),
    "addcdiv": lambda x, a, b, value=1: x + value * (a / b),
}


def _each(function: Callable[..., Any], *lists: Any, **options: Any) -> list[Any]:
    """Applies a function along lists; what is no list is the same for all."""
    count = next(len(values) for values in lists if isinstance(values, list | tuple))
    columns = [v if isinstance(v, list | tuple) else [v] * count for v in lists]
    return [function(*row, **options) for row in zip(*columns, strict=True)]


def _register(name: str, overload: OpOverload) -> None:
    function = _SPECIAL.get(name) or getattr(torch, name)

    @decomposes(overload)
    def foreach(*lists: Any, **options: Any) -> Any:
        if overload._schema.arguments[-1].name == "scalars" and torch.is_tensor(lists[-1]):
            lists = (*lists[:-1], lists[-1].unbind())
        return _each(function, *lists, **options)


for _name in f"{_UNARY} {_BINARY} {_TERNARY} zero norm".split():
    _packet = getattr(aten, f"_foreach_{_name}")
    for _overload in _packet.overloads():
        _found = getattr(_packet, _overload)
        if not _found._schema.is_mutable:
            _register(_name, _found)
