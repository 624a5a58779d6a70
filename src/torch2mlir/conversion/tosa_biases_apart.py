"""``tosa-biases-apart``: of several convolutions each begins with a bias that no other one has.

IREE 3.13 adds a convolution up in a tensor that holds its bias everywhere, and has one such tensor for convolutions
with equal biases, zero as a rule. With ``--iree-global-opt-use-im2col-for-convs``, where that tensor has other shapes
for them (a batch joined with places, and not), the second one begins with the result of the first. A barrier makes
biases differ, as far as the compiler knows.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.rewriter import InsertPoint, Rewriter

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects import tosa
from torch2mlir.dialects.iree_barriers import OptimizationBarrierOp

_CONVOLUTIONS = frozenset(
    each.name
    for each in (tosa.Conv2DOp, tosa.Conv3DOp, tosa.DepthwiseConv2DOp, tosa.TransposeConv2DOp)
)
_BIAS = 2
"""Which operand of them it is."""


class TosaBiasesApartPass(PassForOps):
    """See the module's docstring."""

    name = "tosa-biases-apart"
    looks_for = _CONVOLUTIONS

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = [each for each in op.walk() if each.name in _CONVOLUTIONS]
        for each in found if len(found) > 1 else ():
            bias = each.operands[_BIAS]
            own = OptimizationBarrierOp.create(
                operands=[bias], result_types=[bias.type], location=each.location
            )
            each.operands[_BIAS] = own.results[0]
            Rewriter.insert_op(own, InsertPoint.before(each))
