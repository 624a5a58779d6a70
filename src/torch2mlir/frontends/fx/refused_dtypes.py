"""Calls that PyTorch's kernels refuse for their dtypes, and its kernels on fake tensors take: ``mask *= 0.5``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.fx import Node

from torch2mlir.errors import CaptureError

_PROMOTING = frozenset({"mul_", "multiply_", "__imul__", "imul", "addcmul_", "addcdiv_"})
"""What writes a product to its first operand, whose dtype has to hold it."""
_OF_ONE_DTYPE = frozenset({"heaviside", "heaviside_"})
_VALUES = torch.Tensor | int | float | complex
_OPERANDS = ("other", "tensor1", "tensor2", "values")
"""Names of operands, whose dtypes a result has to hold; numbers beside them are cast."""


def refused_call(
    name: str, node: Node, values: str, location: str | None = None
) -> CaptureError | None:
    """What PyTorch says against the dtypes of a call in a graph, if it does.

    Args:
        name: of the function or method, without namespace and overload.
        node: the call.
        values: the key of what ``meta`` of a node knows of its value, a fake tensor or a number.
        location: the line of the call.
    """
    named = [node.kwargs[each] for each in _OPERANDS if each in node.kwargs]
    given = (*node.args, *named)
    operands = [each.meta.get(values) if isinstance(each, Node) else each for each in given]
    return refused_dtypes(name, operands, location)


def refused_dtypes(
    name: str, operands: Sequence[Any], location: str | None = None
) -> CaptureError | None:
    """What PyTorch says against a call, if it does.

    Args:
        name: of the function or method, without namespace and overload.
        operands: tensors and numbers.
        location: the line of the call.
    """
    first = next(iter(operands), None)
    if name not in _PROMOTING | _OF_ONE_DTYPE or not isinstance(first, torch.Tensor):
        return None
    for other in (each for each in operands[1:] if isinstance(each, _VALUES)):
        if name in _OF_ONE_DTYPE:
            refused = isinstance(other, torch.Tensor) and other.dtype != first.dtype
            what = "operands of two dtypes"
        else:
            promoted = torch.result_type(first, other)
            refused = not torch.can_cast(promoted, first.dtype)
            what = f"a result of {promoted}, which cannot be cast to {first.dtype}, the dtype it writes to"
        if refused:
            return CaptureError(
                f"PyTorch refuses {name} here: {what}",
                op=name,
                location=location,
                hint="convert an operand with .to(dtype), or compute a new tensor",
            )
    return None


def _heaviside(input: torch.Tensor, values: torch.Tensor, **kwargs: Any) -> torch.Tensor:
    """Of tensors of one dtype."""
    if (refused := refused_dtypes("heaviside", [input, values])) is not None:
        raise refused
    return torch.heaviside(input, values, **kwargs)


CHECKED: Mapping[Any, Callable[..., Any]] = {
    torch.heaviside: _heaviside,
    torch.Tensor.heaviside: _heaviside,
}
"""Functions whose call in a graph has its operands converted already."""
