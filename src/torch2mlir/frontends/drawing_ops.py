"""Which calls of PyTorch's operators draw random numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch._ops import OpOverload

aten = torch.ops.aten

_UNTAGGED = frozenset({aten.normal_functional.default})
_SWITCHES = ("train", "training")
_CHANCES = ("dropout", "dropout_p")


def draws(func: OpOverload, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether a call takes numbers from PyTorch's generator.

    PyTorch tags operators. Dropout, and what has it within, draws in training only, and if there is a chance to drop.
    """
    if torch.Tag.nondeterministic_seeded not in func.tags and func not in _UNTAGGED:
        return False
    given = {
        argument.name: args[place]
        if place < len(args)
        else kwargs.get(argument.name, argument.default_value)
        for place, argument in enumerate(func._schema.arguments)
    }
    is_switched = [name for name in _SWITCHES if name in given]
    if any(given[name] is False for name in is_switched):
        return False
    # native_dropout draws whatever the chance is
    is_dropout = bool(is_switched) and func is not aten.native_dropout.default
    chances = (*_CHANCES, "p") if is_dropout else _CHANCES
    return not any(name in given and _is_zero(given[name]) for name in chances)


def _is_zero(chance: Any) -> bool:
    return isinstance(chance, float | int) and chance == 0
