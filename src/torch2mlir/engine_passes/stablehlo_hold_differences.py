"""``stablehlo-hold-differences``: what is subtracted from itself, element from element, is computed once.

XLA (jaxlib 0.10.2) computes both operands of ``n[:, None] - n[None]`` within the loop that subtracts them, and rounds
one of them only after that, as a fused multiplication and addition does: with ``n = x / s`` the diagonal is not 0 but
1e-8. A distance is then no 0, and what is divided by it, as gradients of distances are, has any value. A barrier keeps
the computation of ``n`` apart; ``DISABLED_PASS`` takes barriers away before ops are fused.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, ModuleOp, TensorType
from xdsl.ir import Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.engine_passes.beside import Beside

_MOVES = (hlo.BroadcastInDimOp, hlo.ReshapeOp, hlo.TransposeOp)
_ROUNDED = (hlo.MulOp, hlo.DivOp)
"""What is rounded late where a difference is fused with it."""


class StablehloHoldDifferencesPass(PassForOps):
    """See the module's docstring."""

    name = "stablehlo-hold-differences"
    looks_for = frozenset({hlo.SubtractOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        held = set[SSAValue]()
        for each in list(op.walk()):
            source = _source_of_both(each) if isinstance(each, hlo.SubtractOp) else None
            if source is not None and source not in held and isinstance(source.owner, _ROUNDED):
                held.add(source)
                _hold(source)


def _source_of_both(difference: Operation) -> SSAValue | None:
    """The floats that both operands are, in two arrangements."""
    type = difference.results[0].type
    if not isinstance(type, TensorType) or not isinstance(type.element_type, AnyFloat):
        return None
    one, other = difference.operands
    first, second = _moved(one), _moved(other)
    return first if first is second and one is not other else None


def _moved(value: SSAValue) -> SSAValue:
    while isinstance(value.owner, _MOVES):
        value = value.owner.operands[0]
    return value


def _hold(value: SSAValue) -> None:
    op = value.owner
    assert isinstance(op, Operation)
    barrier = Beside(op, behind=True).create(hlo.OptimizationBarrierOp, [value], [value.type])
    value.replace_all_uses_with(barrier.results[0])
    barrier.operands[0] = value
