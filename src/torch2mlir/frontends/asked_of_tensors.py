"""What a model's own code may ask of the tensors it is given, beside sizes and elements, and what it was answered.

``if x.is_contiguous():`` leaves no trace in a graph. Whether code asks is read off the names in it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from torch2mlir.program import Flag

STRIDES = frozenset({"is_contiguous", "stride"})
_FLAGS: Mapping[str, Callable[[Tensor], Hashable]] = {
    "requires_grad": lambda x: x.requires_grad,
    "is_leaf": lambda x: x.is_leaf,
    "is_inference": Tensor.is_inference,
    "is_conj": Tensor.is_conj,
    "is_neg": Tensor.is_neg,
    "storage_offset": Tensor.storage_offset,
}
ARRANGEMENTS: Mapping[str, frozenset[str]] = {
    "order": frozenset(),
    "type": frozenset({"isinstance", "type"}),
}
"""What may be another in an argument: the order of a dictionary, which every loop asks for, or a list for a tuple."""


def flags_of(names: Collection[str], leaves: Sequence[Any]) -> list[Flag]:
    """The answers for the tensors of a call.

    Args:
        names: that the code has for things.
        leaves: of the arguments.
    """
    asked = [name for name in _FLAGS if name in names]
    tensors = [(place, leaf) for place, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
    return [
        Flag(place, name, answer(name, leaf))
        for place, leaf in tensors
        for name in asked
        if type(leaf) in (Tensor, torch.nn.Parameter)
    ]


def answer(name: str, x: Tensor) -> Hashable:
    """What a tensor answers."""
    return _FLAGS[name](x)


def holds(flags: Sequence[Flag], leaves: Sequence[Any]) -> bool:
    """Whether the tensors of a call answer the same."""
    return all(answer(name, leaves[position]) == value for position, name, value in flags)


def arrangements(names: Collection[str]) -> frozenset[str]:
    """What of the arrangement of arguments code may ask for."""
    return frozenset(
        kind for kind, asked in ARRANGEMENTS.items() if not asked or not asked.isdisjoint(names)
    )
