"""Example arguments as tensors of their own: capture takes equal objects for one tensor.

``torch.export`` knows a tensor by its object. Of ``compile(model, x, x)`` it would make a program that reads one of its
two arguments alone, and of an example that is a weight of the model one that reads that argument for the weight.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils import _pytree as pytree

from torch2mlir.frontends.memory import share_elements


def apart(
    args: Sequence[Any], kwargs: Mapping[str, Any], held: Iterable[torch.Tensor] = ()
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments with another object for each tensor; of the same memory, unless it is another one's as well.

    Args:
        args, kwargs: of a call.
        held: tensors of the model that is called.
    """
    leaves, spec = pytree.tree_flatten((tuple(args), dict(kwargs)))
    taken = [tensor for tensor in held if tensor.layout is torch.strided]
    given: tuple[tuple[Any, ...], dict[str, Any]]
    given = pytree.tree_unflatten([_twin(leaf, taken) for leaf in leaves], spec)
    return given


def _twin(leaf: Any, taken: list[torch.Tensor]) -> Any:
    if not isinstance(leaf, torch.Tensor) or isinstance(leaf, FakeTensor):
        return leaf
    twin = leaf.detach()
    if leaf.layout is torch.strided:
        if any(share_elements(twin, other) for other in taken):
            twin = twin.clone()
        taken.append(twin)
    return twin.requires_grad_(leaf.requires_grad)
