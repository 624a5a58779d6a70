"""``torch.func.grad`` and its kin, and ``torch.autocast``: captured below autograd, as the ops that they come to.

PyTorch 2.13 exports above autograd, and takes the wrapped tensors of a transform for constants there: the graph does
not read the arguments, and with ``strict=True`` all gradients are zeros. Of a region with autocast it keeps the ops as
they are written, of operands that have not been cast. Results of ``torch.vmap`` it may take for constants that have no
elements, where their dimensions are in another order than it computed them (``out_dims=1``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any
from unittest import mock

import torch
from torch._functorch import eager_transforms, vmap

from torch2mlir.errors import CaptureError

_BY_AUTOGRAD = ("_grad_increment_nesting", "_jvp_increment_nesting")
_VMAP = "_vmap_increment_nesting"
"""What a transform calls first, by the name that its module has for it."""


class TransformsNoted:
    """Around a capture: which transforms it enters."""

    def __init__(self) -> None:
        self._entered = set[str]()

    @property
    def by_autograd(self) -> bool:
        """Whether there is one that is captured below autograd only."""
        return not self._entered.isdisjoint(_BY_AUTOGRAD)

    def have_lost(self, error: Exception) -> bool:
        """Whether a capture fails because a result of ``torch.vmap`` is taken for a constant."""
        return _VMAP in self._entered and "fake tensor in the exported program" in str(error)

    def __enter__(self) -> TransformsNoted:
        with ExitStack() as patches:
            for file, names in ((eager_transforms, _BY_AUTOGRAD), (vmap, (_VMAP,))):
                for name in names:
                    begin = partial(self._begin, name, getattr(file, name))
                    patches.enter_context(mock.patch.object(file, name, begin))
            self._patches = patches.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._patches.close()

    def _begin(self, name: str, begin: Callable[..., int], *args: Any) -> int:
        self._entered.add(name)
        return begin(*args)


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
