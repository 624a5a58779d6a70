"""``divisions-that-do-not-trap``: integers are divided by 1 where they would be divided by 0, or by -1.

A processor stops a process that divides an integer by 0, or the lowest one by -1. IREE 3.13 computes the places of a
vector that lie beyond a tensor's end too, on processors without masks for them, where what it divides by is 0: a
program that divides by no zero dies. By 0 the result is -1 and the remainder all, as on XLA; eager mode raises.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, IntegerType, ModuleOp, i1, i64
from xdsl.ir import Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.conversion.torch_to_linalg.scalars import default_properties
from torch2mlir.dialects import arith_ext, linalg
from torch2mlir.engine_passes.beside import Beside

_SIGNED = {arith.DivSIOp.name, arith.RemSIOp.name}
_REMAINDERS = {arith.RemSIOp.name, arith.RemUIOp.name}
_EQUAL = {"predicate": IntegerAttr(0, i64)}


class DivisionsThatDoNotTrapPass(PassForOps):
    """See the module's docstring."""

    name = "divisions-that-do-not-trap"
    looks_for = frozenset(_SIGNED | _REMAINDERS | {arith.DivUIOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = [each for each in op.walk() if each.name in self.looks_for]
        for each in found:
            if isinstance(each.parent_op(), linalg.GenericOp) and _may_trap(each):
                _guard(each)


def _may_trap(op: Operation) -> bool:
    divisor = op.operands[1]
    if not isinstance(divisor.type, IntegerType):
        return False
    owner = divisor.owner
    number = owner.properties.get("value") if isinstance(owner, Operation) else None
    is_constant = isinstance(owner, Operation) and owner.name == arith_ext.ConstantOp.name
    if is_constant and isinstance(number, IntegerAttr):
        return number.value.data in (0, -1)
    return True


def _guard(op: Operation) -> None:
    before, (x, divisor), element = Beside(op), op.operands, op.results[0].type
    if not isinstance(element, IntegerType):
        return

    def constant(value: int) -> SSAValue:
        return before.constant(IntegerAttr(value, element))

    def is_equal(value: int) -> SSAValue:
        return before.value(arith.CmpiOp, [divisor, constant(value)], i1, _EQUAL)

    def select(where: SSAValue, one: SSAValue, other: SSAValue) -> SSAValue:
        return before.value(arith.SelectOp, [where, one, other], element)

    is_zero = is_equal(0)
    is_minus_one = is_equal(-1) if op.name in _SIGNED else None
    safe = select(is_zero, constant(1), divisor)
    if is_minus_one is not None:
        safe = select(is_minus_one, constant(1), safe)
    result = before.value(type(op), [x, safe], element, op.properties)
    if op.name in _REMAINDERS:
        before.replace(select(is_zero, x, result))
        return
    if is_minus_one is not None:
        flags = default_properties(arith.SubiOp)
        negative = before.value(arith.SubiOp, [constant(0), x], element, flags)
        result = select(is_minus_one, negative, result)
    before.replace(select(is_zero, constant(-1), result))
