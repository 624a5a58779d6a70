"""``--dynamic``: which dimensions of which inputs may vary, from the command line to ``torch.export``.

--dynamic                              every dimension of every tensor; PyTorch finds out which can
--dynamic 0:0=batch,0:1=seq:2-512      dimension 0 and 1 of input 0, with names and a range
--dynamic input_ids:1,attention_mask:1 inputs by name, dimensions without a name
"""

from __future__ import annotations

import argparse
import inspect
import re
from dataclasses import dataclass
from typing import Any

from torch2mlir.errors import InputError
from torch2mlir.tools.source import Source

HELP = (
    "let dimensions vary: alone, all of them; or INPUT:DIM[=NAME[:MIN-MAX]],... where INPUT is a "
    "number or a parameter's name, and equal NAMEs are equal sizes (0:0=batch,0:1=seq:2-512)"
)

_ITEM = re.compile(
    r"(?P<input>\w+):(?P<dim>\d+)(=(?P<name>[A-Za-z_]\w*)(:(?P<min>\d*)-(?P<max>\d*))?)?"
)


@dataclass(frozen=True)
class VaryingDim:
    """One item of ``--dynamic``; ``input`` is a position or a parameter name."""

    input: str
    dim: int
    name: str | None = None
    min: int | None = None
    max: int | None = None


@dataclass(frozen=True)
class DynamicRequest:
    """What ``--dynamic`` asks for; no items means every dimension."""

    items: tuple[VaryingDim, ...] = ()


EVERYTHING = DynamicRequest()


def dynamic_request(text: str) -> DynamicRequest:
    """Parse the value of ``--dynamic``; made for argparse's ``type=``."""
    items = []
    for part in text.split(","):
        match = _ITEM.fullmatch(part.strip())
        if match is None:
            raise argparse.ArgumentTypeError(
                f"'{part}' is not INPUT:DIM[=NAME[:MIN-MAX]], for example 0:0=batch"
            )
        low, high = (int(match[end]) if match[end] else None for end in ("min", "max"))
        if low is not None and high is not None and low > high:
            raise argparse.ArgumentTypeError(f"'{part}' has no sizes: {low} is more than {high}")
        items.append(VaryingDim(match["input"], int(match["dim"]), match["name"], low, high))
    return DynamicRequest(tuple(items))


def dynamic_shapes(source: Source, request: DynamicRequest) -> Any:
    """``dynamic_shapes`` of ``torch.export.export`` for the program's example inputs.

    Raises:
        InputError: an item names an input or a dimension that is not there.
    """
    import torch
    from torch.export import Dim, ShapesCollection
    from torch.utils._pytree import tree_leaves

    shapes = ShapesCollection()
    tensors = [
        leaf for leaf in tree_leaves((source.args, source.kwargs)) if isinstance(leaf, torch.Tensor)
    ]
    if not request.items:
        for tensor in tensors:
            shapes[tensor] = dict.fromkeys(range(tensor.dim()), Dim.AUTO)
    wanted: dict[int, dict[int, Any]] = {}
    dims: dict[str, Any] = {}
    for item in request.items:
        tensor = _find(source, tensors, item)
        dim: Any = Dim.DYNAMIC
        if item.name is not None:
            dim = dims.setdefault(item.name, Dim(item.name, min=item.min, max=item.max))
        wanted.setdefault(id(tensor), {})[item.dim] = dim
    for tensor in tensors:
        if id(tensor) in wanted:
            shapes[tensor] = wanted[id(tensor)]
    return shapes.dynamic_shapes(source.model, source.args, source.kwargs)


def placeholders(source: Source, request: DynamicRequest | None) -> list[Any]:
    """The example inputs of a TorchScript program, those with dimensions that vary as placeholders.

    Raises:
        InputError: an item names an input or a dimension that is not there, or says what TorchScript cannot.
    """
    from torch2mlir.torchscript import TensorPlaceholder

    if request == EVERYTHING:
        raise InputError(
            "--dynamic alone asks PyTorch which dimensions can vary, which it does not know of a TorchScript program",
            hint="say which: --dynamic 0:0=batch",
        )
    shapes = {id(tensor): list[int | str](tensor.shape) for tensor in source.args}
    for item in request.items if request is not None else ():
        if item.min is not None or item.max is not None:
            raise InputError(
                f"--dynamic {item.input}:{item.dim} has a range, and TorchScript has none",
                hint="leave the range out",
            )
        tensor = _find(source, list(source.args), item)
        shapes[id(tensor)][item.dim] = -1 if item.name is None else item.name
    return [TensorPlaceholder(shapes[id(tensor)], tensor.dtype) for tensor in source.args]


def _find(source: Source, tensors: list[Any], item: VaryingDim) -> Any:
    import torch

    named = named_inputs(source)
    if item.input.isdigit():
        position = int(item.input)
        tensor = tensors[position] if position < len(tensors) else None
    else:
        tensor = named.get(item.input)
    if not isinstance(tensor, torch.Tensor):
        raise InputError(
            f"--dynamic {item.input}:{item.dim} names no tensor input",
            hint=f"inputs are 0 to {len(tensors) - 1}, or {', '.join(named)}",
        )
    if item.dim >= tensor.dim():
        raise InputError(
            f"--dynamic {item.input}:{item.dim}: that input has {tensor.dim()} dimensions",
            hint="dimensions count from 0",
        )
    if tensor.shape[item.dim] < 2 and not source.is_script:
        raise InputError(
            f"--dynamic {item.input}:{item.dim}: the example has size {tensor.shape[item.dim]} "
            "there, which torch.export takes for a constant",
            hint="give an example of size 2 or more",
        )
    return tensor


def named_inputs(source: Source) -> dict[str, Any]:
    """The example inputs under the names of the parameters they are passed to."""
    if source.is_exported:
        from torch.utils._pytree import tree_leaves

        leaves = tree_leaves((source.args, source.kwargs))
        return dict(zip(source.model.graph_signature.user_inputs, leaves))
    if source.is_script:
        names = [argument.name for argument in source.model.forward.schema.arguments][1:]
        return dict(zip(names, source.args))
    forward = getattr(source.model, "forward", source.model)
    try:
        return dict(inspect.signature(forward).bind(*source.args, **source.kwargs).arguments)
    except (TypeError, ValueError):  # no signature, or one that the inputs do not fit
        return dict(source.kwargs)
