"""``erf-of-doubles``: the error function of 64-bit floats, which IREE 3.13 has no code for.

``torch.erf``, ``gelu`` and ``erfc`` of doubles do not compile there. In place of it: W. J. Cody's rational functions,
of ``x**2`` next to 0, and of the complement elsewhere.
"""

from __future__ import annotations

import math as numbers
from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import Float64Type, FloatAttr, IntegerAttr, ModuleOp, f64, i1, i64
from xdsl.ir import Operation, SSAValue

from torch2mlir.contract.approximations import ERF_CENTRAL, ERFCX_MIDDLE, ERFCX_TAIL
from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.conversion.torch_to_linalg.scalars import default_properties
from torch2mlir.dialects import chlo
from torch2mlir.dialects.tensors import element_of
from torch2mlir.engine_passes.beside import Beside
from torch2mlir.engine_passes.loop_nests import over_elements

_CENTRE = 0.46875
_AT_MOST = IntegerAttr(5, i64)


class ErfOfDoublesPass(PassForOps):
    """See the module's docstring."""

    name = "erf-of-doubles"
    looks_for = frozenset({math.ErfOp.name, chlo.ErfOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in list(op.walk()):
            if isinstance(each, chlo.ErfOp) and element_of(each.operands[0]) == f64:
                over_elements(each, _erf)
            elif isinstance(each, math.ErfOp) and isinstance(each.operands[0].type, Float64Type):
                before = Beside(each)
                before.replace(_erf(before, each.operands[0]))


def _erf(before: Beside, x: SSAValue) -> SSAValue:
    def number(value: float) -> SSAValue:
        return before.constant(FloatAttr(value, f64))

    def f(op: type[Operation], *operands: SSAValue) -> SSAValue:
        return before.value(op, operands, f64, default_properties(op))

    def ratio(x: SSAValue, of: tuple[Sequence[float], Sequence[float]]) -> SSAValue:
        sums = []
        for coefficients in of:
            sum = number(coefficients[0])
            for coefficient in coefficients[1:]:
                sum = f(math.FmaOp, sum, x, number(coefficient))
            sums.append(sum)
        return f(arith.DivfOp, *sums)

    def choose(bound: float, near: SSAValue, far: SSAValue) -> SSAValue:
        properties = {**default_properties(arith.CmpfOp), "predicate": _AT_MOST}
        is_near = before.value(arith.CmpfOp, [size, number(bound)], i1, properties)
        return f(arith.SelectOp, is_near, near, far)

    size, square = f(math.AbsFOp, x), f(arith.MulfOp, x, x)
    central = f(arith.MulfOp, x, ratio(square, ERF_CENTRAL))
    inverse = f(arith.DivfOp, number(1.0), square)
    correction = f(arith.MulfOp, inverse, ratio(inverse, ERFCX_TAIL))
    tail = f(arith.SubfOp, number(1 / numbers.sqrt(numbers.pi)), correction)
    scaled = choose(4.0, ratio(size, ERFCX_MIDDLE), f(arith.DivfOp, tail, size))
    complement = f(arith.MulfOp, f(math.ExpOp, f(arith.NegfOp, square)), scaled)
    outer = f(math.CopySignOp, f(arith.SubfOp, number(1.0), complement), x)
    return choose(_CENTRE, central, outer)
