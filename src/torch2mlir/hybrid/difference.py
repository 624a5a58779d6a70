"""What is different about two lists of results, beyond the rounding of sums in another order."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils import _pytree as pytree

from torch2mlir.runtime import agreement


def difference(actual: Any, expected: Any) -> str | None:
    """What is different about results; None if nothing is."""
    left, spec = pytree.tree_flatten(list(actual))
    right, other = pytree.tree_flatten(list(expected))
    if spec != other:
        return "another structure of results"
    for index, (a, b) in enumerate(zip(left, right)):
        if isinstance(b, torch.Tensor):
            said = agreement.difference(a, b)
        else:
            said = None if a == b else f"is {a!r} where it is {b!r}"
        if said is not None:
            return f"result {index} {said}"
    return None
