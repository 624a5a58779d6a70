"""``stablehlo-roots-by-quotients``: ``1 / sqrt(x)`` of many f32 as ``sqrt(x) / x``, which XLA has vectors for.

XLA on the CPU (jaxlib 0.10.2) computes ``rsqrt`` one element at a time, 6 times slower than eager mode, and takes
``1 / sqrt(x)`` for it. The root divided by the number is rounded as often; of zeros and infinity it is the inverse.
"""

from __future__ import annotations

import math
from functools import partial
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, f32
from xdsl.ir import Operation

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.conversion.expressions import Expr
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.tensors import element_of, shape_of
from torch2mlir.engine_passes.in_place_of import as_tensor, replace

_FEW = 4096
"""Up to so many elements, those of a factor for each row, it does not matter."""


class StablehloRootsByQuotientsPass(PassForOps):
    """See the module's docstring."""

    name = "stablehlo-roots-by-quotients"
    looks_for = frozenset({hlo.RsqrtOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if isinstance(each, hlo.RsqrtOp)]:
            sizes = shape_of(each.results[0])
            is_static = DYNAMIC_INDEX not in sizes
            if element_of(each.results[0]) == f32 and is_static and prod(sizes) > _FEW:
                replace(each, partial(_quotient, op=each))


def _quotient(lower: StablehloLowering, op: Operation) -> list[Tensor | None]:
    x = Expr(lower.words, as_tensor(op.operands[0]))
    is_inverse = x.equals(0.0) | x.equals(math.inf)
    return [is_inverse.where(1.0 / x, x.of("sqrt") / x).value]
