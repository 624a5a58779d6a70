"""``stablehlo-hold-identities``: what engines simplify as if floats were real numbers, said so that they do not.

XLA (jaxlib 0.10.2), and IREE 3.13 in the first case, hold these for the same:

- a product with a converted boolean and a choice between the other factor and 0: NaN or an infinity times false is 0
  there instead of NaN, -1 times false 0.0 instead of -0.0. Of a choice between 1 and 0 they make nothing else;
- ``x + 0.0`` and ``x``, which differ for -0.0: the sum is a choice too. Where a zero may come of what is computed from
  constants, or of ``n - n`` of integers, and of ``x - -0.0``, a barrier keeps the number from them;
- ``(x + 1e30) - 1e30`` and ``x``, by adding up the constants: a barrier stands between the two sums;
- ``log(exp(x))`` and ``x``, which differ where ``exp`` overflows: likewise;
- ``x >= 0`` and true, where ``x`` is a magnitude, a square, an exponential or the like and may be NaN: it has to be
  equal to itself too. Of integers ``x * x`` and the magnitude of the lowest one are negative: a barrier stands before.
"""

from __future__ import annotations

import math

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    ModuleOp,
    TensorType,
    i1,
)
from xdsl.ir import Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects import chlo
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.stablehlo import ComparisonDirection, ComparisonDirectionAttr
from torch2mlir.dialects.tensors import shape_of
from torch2mlir.engine_passes.beside import Beside
from torch2mlir.engine_passes.stablehlo_held import hold, is_of_floats, number_of

_SUMS = (hlo.AddOp, hlo.SubtractOp)


class StablehloHoldIdentitiesPass(PassForOps):
    """See the module's docstring."""

    name = "stablehlo-hold-identities"
    looks_for = frozenset(op.name for op in (hlo.CompareOp, hlo.ConvertOp, hlo.LogOp, *_SUMS))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        known = dict[SSAValue, bool]()
        for each in list(op.walk()):
            if isinstance(each, hlo.ConvertOp) and _is_number_of_boolean(each):
                _choose_number(each)
            elif isinstance(each, hlo.LogOp) and isinstance(each.operands[0].owner, hlo.ExpOp):
                hold(each, 0)
            elif isinstance(each, hlo.CompareOp):
                _hold_comparison(each)
            elif isinstance(each, _SUMS) and is_of_floats(each.results[0]):
                _hold_sum(each, known)


def _is_number_of_boolean(op: Operation) -> bool:
    source, result = op.operands[0].type, op.results[0]
    if not isinstance(source, TensorType):
        return False
    # IREE takes a conversion of a conversion for one
    converted = (isinstance(use.operation, hlo.ConvertOp) for use in result.uses)
    return source.element_type == i1 and (is_of_floats(result) or any(converted))


def _choose_number(op: Operation) -> None:
    type = op.results[0].type
    assert isinstance(type, TensorType)
    scalar = TensorType(type.element_type, [])
    before = Beside(op)
    literals = (DenseIntOrFPElementsAttr.from_list(scalar, [number]) for number in (1, 0))
    numbers = [before.value(hlo.ConstantOp, [], scalar, {"value": each}) for each in literals]
    # it broadcasts the numbers to sizes that are known at run time too
    before.replace(before.value(chlo.BroadcastSelectOp, [op.operands[0], *numbers], type))


def _is_foldable(value: SSAValue, known: dict[SSAValue, bool]) -> bool:
    """Whether a value is computed from constants alone; XLA computes what is made of places at every call."""
    op = value.owner
    if not isinstance(op, Operation) or op.regions:
        return False
    if isinstance(op, hlo.ConstantOp) or number_of(value) is not None or _is_zero_of_integers(op):
        return True
    if value not in known:
        known[value] = bool(op.operands) and all(_is_foldable(x, known) for x in op.operands)
    return known[value]


def _is_zero_of_integers(op: Operation) -> bool:
    """Whether it is zero whatever the integers are."""
    if is_of_floats(op.results[0]):
        return False
    if isinstance(op, hlo.SubtractOp | hlo.XorOp):
        return op.operands[0] is op.operands[1]
    is_product = isinstance(op, hlo.MulOp | hlo.AndOp)
    return is_product and any(number_of(operand) == 0 for operand in op.operands)


def _hold_sum(op: Operation, known: dict[SSAValue, bool]) -> None:
    numbers = [number_of(operand) for operand in op.operands]
    for place, number in enumerate(numbers):
        if number is None:
            value = op.operands[place]
            if not isinstance(value.owner, hlo.ConstantOp) and _is_foldable(value, known):
                hold(op, place)
            continue
        other = op.operands[1 - place]
        if number == 0 and math.copysign(1, number) > 0 and isinstance(op, hlo.AddOp):
            _choose_sum(op, other, op.operands[place])
        elif number == 0 and place == 1 and isinstance(op, hlo.SubtractOp):
            hold(op, place)
        elif isinstance(other.owner, _SUMS) and any(
            number_of(operand) is not None for operand in other.owner.operands
        ):
            hold(op, 1 - place)
        return


def _choose_sum(op: Operation, x: SSAValue, zero: SSAValue) -> None:
    """``zero`` where ``x`` is one, else ``x``."""
    type, before = op.results[0].type, Beside(op)
    equal = {"comparison_direction": ComparisonDirectionAttr(ComparisonDirection.EQ)}
    booleans = TensorType(i1, shape_of(x))
    is_zero = before.value(hlo.CompareOp, [x, zero], booleans, equal)
    before.replace(before.value(hlo.SelectOp, [is_zero, zero, x], type))


_WITH_ZERO = {
    ComparisonDirection.GE: 0,
    ComparisonDirection.LT: 0,
    ComparisonDirection.LE: 1,
    ComparisonDirection.GT: 1,
}
"""Comparisons that are decided where one of the operands, here, is not negative and the other one is 0."""
_NEITHER = (*_SUMS, hlo.ConstantOp, hlo.DotGeneralOp, hlo.NegOp)
"""Ops whose results are of either sign, as far as XLA knows."""


def _hold_comparison(op: Operation) -> None:
    direction = op.properties["comparison_direction"]
    if not isinstance(direction, ComparisonDirectionAttr):
        return
    place = _WITH_ZERO.get(direction.data)
    if place is None or number_of(op.operands[1 - place]) != 0:
        return
    value = op.operands[place]
    if not isinstance(value.owner, Operation) or isinstance(value.owner, _NEITHER):
        return
    if not is_of_floats(value):
        hold(op, place)
    elif direction.data in (ComparisonDirection.GE, ComparisonDirection.LE):
        _compare_numbers(op, value)


def _compare_numbers(op: Operation, x: SSAValue) -> None:
    """The same, and ``x`` equal to itself."""
    behind, type = Beside(op, behind=True), op.results[0].type
    equal = {"comparison_direction": ComparisonDirectionAttr(ComparisonDirection.EQ)}
    is_number = behind.value(hlo.CompareOp, [x, x], type, equal)
    both = behind.value(hlo.AndOp, [op.results[0], is_number], type)
    op.results[0].replace_uses_with_if(both, lambda use: use.operation is not both.owner)
