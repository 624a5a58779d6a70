"""``stablehlo-hold-divisors``: divisors that XLA would multiply with the inverse of, where the quotient then jumps.

XLA (jaxlib 0.10.2) computes ``x / 3``, and ``x / y`` of a ``y`` that is broadcast, as a product with the inverse: a
unit in the last place off for two elements of three. Where that is rounded to an integer, converted to one or compared,
``floor(x / 0.3)`` of 9 is 30, not 29; so it is where ``(x / y) / z`` becomes ``x / (y * z)``. Barriers stand before
such divisors, and behind quotients that are multiplied and divided; others keep the product, which is faster.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.conversion.jumps import Jumps
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.engine_passes.stablehlo_held import hold, is_of_floats, number_of


def _is_zero(value: SSAValue) -> bool:
    return number_of(value) == 0.0


_EXACT = (
    *(hlo.AbsOp, hlo.AddOp, hlo.ClampOp, hlo.DivOp, hlo.MaxOp, hlo.MinOp, hlo.MulOp, hlo.NegOp),
    *(hlo.SelectOp, hlo.SubtractOp, hlo.BroadcastInDimOp, hlo.ConcatenateOp, hlo.GatherOp),
    *(hlo.PadOp, hlo.ReshapeOp, hlo.ReverseOp, hlo.SliceOp, hlo.TransposeOp),
    *(hlo.ExpOp, hlo.Expm1Op, hlo.Log1pOp, hlo.LogOp, hlo.PowOp, hlo.RsqrtOp, hlo.SqrtOp),
    hlo.OptimizationBarrierOp,
)
_ROUNDINGS = (hlo.CeilOp, hlo.FloorOp, hlo.RemOp, hlo.RoundNearestEvenOp, hlo.SignOp)
_JUMPS = Jumps(
    roundings=frozenset(op.name for op in _ROUNDINGS),
    comparisons=frozenset({hlo.CompareOp.name}),
    choices=frozenset({hlo.SelectOp.name}),
    conversions=frozenset({hlo.ConvertOp.name}),
    exact=frozenset(op.name for op in _EXACT),
    is_zero=_is_zero,
)


class StablehloHoldDivisorsPass(PassForOps):
    """See the module's docstring."""

    name = "stablehlo-hold-divisors"
    looks_for = frozenset({hlo.DivOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        graph = _JUMPS.graph()
        for each in list(op.walk()):
            if (
                isinstance(each, hlo.DivOp)
                and is_of_floats(each.results[0])
                and _JUMPS.follow(each, graph)
            ):
                hold(each, 1)
                for use in list(each.results[0].uses):
                    if isinstance(use.operation, hlo.DivOp | hlo.MulOp):
                        hold(use.operation, use.index)
