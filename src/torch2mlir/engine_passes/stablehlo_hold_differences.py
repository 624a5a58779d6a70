"""``stablehlo-hold-differences``: what is subtracted from itself, element from element, is computed once.

XLA (jaxlib 0.10.2) computes both operands of ``n[:, None] - n[None]`` within the loop that subtracts them, and rounds
one of them only after that, as a fused multiplication and addition does: with ``n = x / s`` the diagonal is not 0 but
1e-8. A distance is then no 0, and what is divided by it, as gradients of distances are, has any value. A barrier keeps
the computation of ``n`` apart; ``DISABLED_PASS`` takes barriers away before ops are fused.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, ModuleOp, TensorType
from xdsl.ir import Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps, op_names
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
            meeting = _meeting(each) if isinstance(each, hlo.SubtractOp) else None
            if meeting is not None and meeting not in held:
                held.add(meeting)
                _hold(meeting)


def _meeting(difference: Operation) -> SSAValue | None:
    """The value from which the operands part that are one product or quotient of floats in two arrangements."""
    type = difference.results[0].type
    if not isinstance(type, TensorType) or not isinstance(type.element_type, AnyFloat):
        return None
    one, other = (list(_sources(operand)) for operand in difference.operands)
    if one[0] is other[0] or one[-1] is not other[-1] or not isinstance(one[-1].owner, _ROUNDED):
        return None
    return next(value for value in one if value in other)


def _sources(value: SSAValue) -> Iterator[SSAValue]:
    """A value, and what it is an arrangement of."""
    yield value
    while isinstance(value.owner, _MOVES):
        value = value.owner.operands[0]
        yield value


def _hold(value: SSAValue) -> None:
    op = value.owner
    assert isinstance(op, Operation)
    barrier = Beside(op, behind=True).create(hlo.OptimizationBarrierOp, [value], [value.type])
    value.replace_all_uses_with(barrier.results[0])
    barrier.operands[0] = value


def computes_once(module: ModuleOp) -> bool:
    """Whether a barrier has several readers: it is there because they are not to compute its operand each, when fused.

    One that has a single reader keeps XLA from simplifying, which it has done when it drops barriers.
    """
    name = hlo.OptimizationBarrierOp.name
    return name in op_names(module) and any(
        len(list(result.uses)) > 1
        for op in module.walk()
        if op.name == name
        for result in op.results
    )
