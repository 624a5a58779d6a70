"""``stablehlo-hold-products``: products, quotients and powers of floats that XLA would compute from other ones.

What XLA (jaxlib 0.10.2) makes of them is the same for real numbers, and not where a number in between is beyond the
largest float or below the smallest:

- ``(x * c) * d`` of single numbers by the product of these, quotients likewise: NaN for ``tanh(x) * 1e30 * 1e30`` at 0;
- ``x / c`` by the inverse of a constant, which is 0 for XLA where it is subnormal: 0 for ``3e38 / 3e38``;
- ``(x / y) / z`` by ``y * z``, and ``x / (y / z)`` by ``x * z``;
- ``sqrt(x * x)`` as the magnitude of ``x``;
- ``exp(x) * exp(y)``, ``exp(x) / exp(y)`` and ``exp(x) ** y`` as one exponential.

A barrier stands before what is joined.
"""

from __future__ import annotations

from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import Float16Type, Float64Type, ModuleOp
from xdsl.ir import Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.tensors import element_of, shape_of
from torch2mlir.engine_passes.stablehlo_held import hold, is_of_floats, number_of

_PRODUCTS = (hlo.DivOp, hlo.MulOp)


class StablehloHoldProductsPass(PassForOps):
    """See the module's docstring."""

    name = "stablehlo-hold-products"
    looks_for = frozenset(op.name for op in (*_PRODUCTS, hlo.PowOp, hlo.SqrtOp))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in list(op.walk()):
            if not each.results or not is_of_floats(each.results[0]):
                continue
            if isinstance(each, _PRODUCTS):
                _hold_product(each)
            elif _is_undone(each):
                hold(each, 0)


def _is_undone(op: Operation) -> bool:
    """Whether it is the root of a square, or the power of an exponential."""
    if not isinstance(op, hlo.PowOp | hlo.SqrtOp):
        return False
    first = op.operands[0].owner
    if isinstance(op, hlo.PowOp):
        return isinstance(first, hlo.ExpOp)
    return isinstance(first, hlo.MulOp) and first.operands[0] == first.operands[1]


def _hold_product(op: Operation) -> None:
    owners = [operand.owner for operand in op.operands]
    for place, operand in enumerate(op.operands):
        if _is_single(operand):
            if _is_lost(op, place):
                hold(op, place)
            other = owners[1 - place]
            if isinstance(other, _PRODUCTS) and any(map(_is_single, other.operands)):
                hold(op, 1 - place)
            return
    if all(isinstance(owner, hlo.ExpOp) for owner in owners):
        hold(op, 1)
    elif isinstance(op, hlo.DivOp):
        for place, owner in enumerate(owners):
            if isinstance(owner, hlo.DivOp) and not _is_single(owner.operands[1]):
                hold(op, place)


def _is_single(value: SSAValue) -> bool:
    """Whether all elements are one number, a constant or not."""
    op = value.owner
    if isinstance(op, hlo.BroadcastInDimOp) and prod(shape_of(op.operands[0])) == 1:
        return True
    return number_of(value) is not None


def _is_lost(op: Operation, place: int) -> bool:
    """Whether an operand is a constant that divides, and has an inverse that is subnormal."""
    number = number_of(op.operands[place])
    if place == 0 or number is None or not isinstance(op, hlo.DivOp):
        return False
    match element_of(op.operands[place]):
        case Float16Type():
            farthest = 2.0**14
        case Float64Type():
            farthest = 2.0**1022
        case _:
            farthest = 2.0**126
    return abs(number) > farthest
