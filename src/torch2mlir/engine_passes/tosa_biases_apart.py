"""``tosa-biases-apart``: each of several convolutions begins with a bias that no other one has.

IREE 3.13 adds a convolution up in a tensor that holds its bias everywhere, and has one such tensor for convolutions
with equal biases, zero as a rule. With ``--iree-global-opt-use-im2col-for-convs``, where that tensor has other shapes
for them (a batch joined with places, and not), the second one begins with the result of the first. A batch of 1 has
one shape, but a tensor of constants that is too large to be kept (from some 400,000 elements on) is computed again for
each of them only until the compiler finds that it is the same: their sum is that of the second one twice. A barrier
makes biases differ, as far as the compiler knows. With one place the bias is the tensor itself, and a barrier would
have the convolution written into it: of a batch of 1 only those with large results get one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, ShapedType
from xdsl.ir import Block, Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects import tosa
from torch2mlir.dialects.iree_barriers import OptimizationBarrierOp
from torch2mlir.engine_passes.beside import Beside

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
        equal = defaultdict[Hashable, list[Operation]](list)
        for each in op.walk():
            if each.name not in _CONVOLUTIONS:
                continue
            bias, (batch, *places, _) = each.operands[_BIAS], _sizes(each)
            is_large = prod(_sizes(each)) >= _NOT_KEPT and DYNAMIC_INDEX not in _sizes(each)
            is_computed = not isinstance(bias.owner, Block) and is_large and prod(places) > 1
            if batch != 1 or is_computed:
                equal[_content(bias)].append(each)
        for convolutions in equal.values():
            for each in convolutions if len(convolutions) > 1 else ():
                bias = each.operands[_BIAS]
                each.operands[_BIAS] = Beside(each).value(OptimizationBarrierOp, [bias], bias.type)


_NOT_KEPT = 1 << 17
"""Elements of a result: IREE keeps constants of a mebibyte, and more of some types."""


def _sizes(convolution: Operation) -> Sequence[int]:
    """Of its result."""
    shaped = convolution.results[0].type
    assert isinstance(shaped, ShapedType)
    return shaped.get_shape()


def _content(bias: SSAValue) -> Hashable:
    """What biases share that may be equal: an argument is equal to itself only, and what is computed to any other."""
    return bias if isinstance(bias.owner, Block) else "computed"
