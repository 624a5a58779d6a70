"""What a model's own code may ask of the tensors it is given, beside sizes and elements, and what it was answered.

``if x.is_contiguous():`` leaves no trace in a graph. Whether code asks is read off the names in it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from torch2mlir.errors import CaptureError
from torch2mlir.program import Flag

STRIDES = frozenset({"is_contiguous", "stride"})
_FLAGS: Mapping[str, Callable[[Tensor], Hashable]] = {
    "requires_grad": lambda x: x.requires_grad,
    "is_leaf": lambda x: x.is_leaf,
    "is_inference": Tensor.is_inference,
    "is_conj": Tensor.is_conj,
    "is_neg": Tensor.is_neg,
    "storage_offset": Tensor.storage_offset,
    "untyped_storage": lambda x: x.untyped_storage().nbytes(),
}
_LOST: Mapping[str, Callable[[Tensor], bool]] = {
    "Parameter": lambda x: isinstance(x, torch.nn.Parameter),
    "grad": lambda x: x.grad is not None,
    "_base": Tensor._is_view,
    "_is_view": Tensor._is_view,
    "_version": lambda x: x._version > 0,
    "is_shared": Tensor.is_shared,
    "_backward_hooks": lambda x: bool(x._backward_hooks),
}
"""What the tensors of a capture are not, whatever the given ones are."""
_ATTRIBUTES = "attributes"
"""Of the user's: ``x.scale = 2.0``. The tensors of a capture have none."""
ARRANGEMENTS: Mapping[str, frozenset[str]] = {
    "order": frozenset(),
    "type": frozenset({"isinstance", "type"}),
}
"""What may be another in an argument: the order of a dictionary, which every loop asks for, or a list for a tuple."""


def flags_of(names: Collection[str], leaves: Sequence[Any]) -> list[Flag]:
    """The answers for the tensors of a call.

    Args:
        names: that the code has for things; of no name nothing is asked.
        leaves: of the arguments.

    Raises:
        CaptureError: a tensor answers what those of a capture do not.
    """
    tensors = [
        (place, leaf)
        for place, leaf in enumerate(leaves)
        if type(leaf) in (Tensor, torch.nn.Parameter)
    ]
    asked = [name for name in (*_FLAGS, *_LOST) if name in names]
    if names:
        asked.append(_ATTRIBUTES)
    for _, leaf in tensors:
        _check(names, leaf)
    return [Flag(place, name, answer(name, leaf)) for place, leaf in tensors for name in asked]


def _check(names: Collection[str], x: Tensor) -> None:
    lost = [name for name, is_so in _LOST.items() if name in names and is_so(x)]
    lost += [name for name in _own_attributes(x) if name in names]
    if lost:
        raise CaptureError(
            f"the model's code asks for {lost[0]}, which an argument has and the tensors of a capture have not",
            hint="hand it over as an argument of its own; torch2mlir.optimize(model) and torch.compile take the call",
        )


def _own_attributes(x: Tensor) -> list[str]:
    """The names of what the user has set; PyTorch notes things there itself, under names that begin with a line."""
    return sorted(name for name in vars(x) if not name.startswith("_"))


def answer(name: str, x: Tensor) -> Hashable:
    """What a tensor answers."""
    if name == _ATTRIBUTES:
        return ", ".join(_own_attributes(x)) if vars(x) else ""  # of every call, and seldom any
    return (_FLAGS.get(name) or _LOST[name])(x)


def holds(flags: Sequence[Flag], leaves: Sequence[Any]) -> bool:
    """Whether the tensors of a call answer the same."""
    return not flags or all(answer(name, leaves[at]) == value for at, name, value in flags)


def arrangements(names: Collection[str]) -> frozenset[str]:
    """What of the arrangement of arguments code may ask for."""
    return frozenset(
        kind for kind, asked in ARRANGEMENTS.items() if not asked or not asked.isdisjoint(names)
    )
