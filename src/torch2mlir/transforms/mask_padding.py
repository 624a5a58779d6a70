"""``torch-mask-padding``: sizes of a program may be rounded up, or an error says which op is in the way.

Inputs are padded at the end of each dimension that is rounded up. Op by op it is shown that real elements are computed
from real elements only; reductions and products that would take padding in get it masked by their neutral element, for
which the function takes real sizes as further arguments, tensors of rank 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim
from torch2mlir.dialects.torch.symbols import resolve_shapes
from torch2mlir.transforms.padding.facts import Padding, is_monotone, refuse
from torch2mlir.transforms.padding.rules import RULES


def mask_padding(function: FuncOp, symbols: Iterable[str]) -> list[Dim]:
    """Makes a function at the contract right for sizes that are rounded up, in place.

    Args:
        function: its tensors have symbolic sizes.
        symbols: those that are rounded up.

    Returns:
        The sizes whose real values the function takes as its last arguments, in order.

    Raises:
        BackendContractError: an op is not known to keep padding apart.
    """
    padding = Padding(frozenset(symbols))
    for op in list(function.body.block.ops):
        _check(padding, op)
    return list(padding.extents)


def _check(padding: Padding, op: Operation) -> None:
    if isinstance(op, ReturnOp):
        if not all(map(padding.is_right, op.operands)):
            refuse(op, "a size that is rounded up is a result, or decides an assertion")
        return
    if op.regions:
        if any(map(padding.touches, op.walk())):
            refuse(op, "nobody has shown that branches and loops keep padding apart")
        return
    # numbers are looked at where tensors are made with them
    makes_tensors = any(isinstance(result.type, t.AnyTensorType) for result in op.results)
    if not makes_tensors or not padding.touches(op):
        return
    rule = RULES.get(op.name)
    if rule is None:
        refuse(op, "nobody has shown that this op keeps padding apart")
    for result in op.results:
        for size in padding.sizes(result):
            if padding.is_padded(size) and not is_monotone(size):
                refuse(op, f"the size {size} may shrink when what it is made of is rounded up")
    rule(padding, op)


@dataclass(frozen=True)
class MaskPaddingPass(ModulePass):
    """See the module's docstring; ``symbols`` are the sizes that are rounded up."""

    name = "torch-mask-padding"

    symbols: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        resolve_shapes(op)
        for function in op.body.block.ops:
            if isinstance(function, FuncOp):
                mask_padding(function, self.symbols)
