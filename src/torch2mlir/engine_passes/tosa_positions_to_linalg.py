"""``tosa-positions-to-linalg``: ``tosa.argmax`` of known sizes is two loops, of the extremum and of where it is.

MLIR's TosaToLinalg makes one loop of both, of which IREE 3.13 makes no vectors: 4 to 5 times the time of eager mode for
the words of a vocabulary, the two loops 1.5 times. NaN is beyond all numbers in both, and the first one is found.
"""

from __future__ import annotations

from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.ir import Operation

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_linalg.lowering import LinalgLowering
from torch2mlir.dialects import tosa
from torch2mlir.dialects.tensors import shape_of
from torch2mlir.engine_passes.in_place_of import as_tensor, replace
from torch2mlir.engine_passes.tosa_hits_to_scatters import axis_of

MIN_LENGTH = 64
"""Shorter lines are not worth two loops."""


class TosaPositionsToLinalgPass(PassForOps):
    """See the module's docstring."""

    name = "tosa-positions-to-linalg"
    looks_for = frozenset({tosa.ArgMaxOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if isinstance(each, tosa.ArgMaxOp)]:
            sizes = shape_of(each.operands[0])
            is_static = DYNAMIC_INDEX not in sizes and 0 not in sizes
            if is_static and sizes[axis_of(each)] >= MIN_LENGTH:
                replace(each, partial(_in_two_loops, op=each), "linalg-on-tensors")


def _in_two_loops(lower: LinalgLowering, op: Operation) -> list[Tensor]:
    result = as_tensor(op.results[0])
    _, places = lower.extremum("max", as_tensor(op.operands[0]), axis_of(op), result.sizes)
    return [lower.cast(places, result.dtype)]
