"""``torch.func.grad`` and its kin, and ``torch.autocast``: captured below autograd, as the ops that they come to.

PyTorch 2.13 exports above autograd, and takes the wrapped tensors of a transform for constants there: the graph does
not read the arguments, and with ``strict=True`` all gradients are zeros. Of a region with autocast it keeps the ops as
they are written, of operands that have not been cast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from operator import attrgetter
from typing import Any

import torch
from torch._functorch import eager_transforms

from torch2mlir.errors import CaptureError

_BEGINS = ("_grad_increment_nesting", "_jvp_increment_nesting")
"""What a transform calls first, by the name that its module has for it."""


@contextmanager
def gradients_noted() -> Iterator[list[str]]:
    """Notes the transforms by autograd that are entered."""
    noted = list[str]()
    real = list(zip(_BEGINS, attrgetter(*_BEGINS)(eager_transforms), strict=True))
    try:
        for name, begin in real:
            setattr(eager_transforms, name, partial(_begin_noted, noted, name, begin))
        yield noted
    finally:
        for name, begin in real:
            setattr(eager_transforms, name, begin)


def _begin_noted(noted: list[str], name: str, begin: Callable[[], int]) -> int:
    noted.append(name)
    return begin()


@contextmanager
def transforms_ended() -> Iterator[None]:
    """Ends the transforms that a failure leaves begun, or PyTorch takes all that follows for a part of them.

    Captured, the beginning and the end of a ``torch.vmap`` are calls of a graph, and no ``finally``.
    """
    depth = torch._C._functorch.get_dynamic_layer_stack_depth()
    try:
        yield
    finally:
        torch._C._functorch.pop_dynamic_layer_stack_and_undo_to_depth(depth)


def has_autocast(exported: torch.export.ExportedProgram) -> bool:
    """Whether a region of the program is computed with casts that are not in it.

    Most models that enter a region turn autocast off there, for what needs all its bits, or turn it on for GPUs: that
    changes nothing where it is off for CPUs anyway.
    """
    regions = [
        node
        for body in exported.graph_module.modules()
        if isinstance(body, torch.fx.GraphModule)
        for node in body.graph.find_nodes(
            op="call_function", target=torch.ops.higher_order.wrap_with_autocast
        )
    ]
    if torch.is_autocast_enabled("cpu"):
        return bool(regions)
    return any(device == "cpu" and enabled for device, _, enabled, *_ in (r.args for r in regions))


def exported_below_autograd(
    model: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], dynamic_shapes: Any
) -> torch.export.ExportedProgram:
    """``torch.export.export`` of a model whose transforms are resolved."""
    from torch.export._trace import _export

    return _export(
        model, args, kwargs, dynamic_shapes=dynamic_shapes, strict=False, pre_dispatch=False
    )


def check_transforms(exported: torch.export.ExportedProgram) -> None:
    """Refuses a program that has the wrapped tensors of a transform among its constants.

    Raises:
        CaptureError: it has.
    """
    is_wrapped = torch._C._functorch.is_functorch_wrapped_tensor
    if exported.constants and any(
        isinstance(c, torch.Tensor) and is_wrapped(c) for c in exported.constants.values()
    ):
        raise CaptureError(
            "PyTorch exports the arguments of torch.func.grad (or vjp, jvp, jacrev, ..) as constants of the program",
            hint="compile the model itself, which is captured another way, and let no number or branch in it "
            "depend on elements of tensors",
        )
