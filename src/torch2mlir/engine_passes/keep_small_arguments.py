"""``keep-small-arguments``: an odd function of a small argument is that argument.

IREE 3.13 approximates ``sin``, ``tan`` and ``erf`` by polynomials of a reduced argument: ``sin`` and ``tan`` of 1e-20
are 6e-16, and all three give 0.0 for -0.0. The argument itself is right for ``sin`` and ``tan`` where the next term of
the series, ``x**3 / 6`` or ``x**3 / 3``, is less than half a unit of the last place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.context import Context
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    ComplexType,
    DenseIntOrFPElementsAttr,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    TensorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects import arith_ext, chlo, tosa
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.stablehlo import ComparisonDirection, ComparisonDirectionAttr
from torch2mlir.dialects.tensors import shape_of
from torch2mlir.dialects.tosa.attributes import NanMode, NanModeAttr
from torch2mlir.engine_passes.beside import Beside

Ask = Callable[[Beside, SSAValue, float], SSAValue]
"""Whether an argument is no larger than a number."""

_AT_MOST = IntegerAttr(5, i64)


def _scalar(before: Beside, x: SSAValue, bound: float) -> SSAValue:
    limit = before.constant(FloatAttr(bound, _element(x)))
    size = before.value(math.AbsFOp, [x], x.type, {"fastmath": arith_ext.NO_FLAGS})
    properties = {"predicate": _AT_MOST, "fastmath": arith_ext.NO_FLAGS}
    return before.value(arith.CmpfOp, [size, limit], i1, properties)


def _tosa(before: Beside, x: SSAValue, bound: float) -> SSAValue:
    """Small is what a clamp leaves as it is: it needs no constant of the tensor's rank."""
    properties = {
        "min_val": FloatAttr(-bound, _element(x)),
        "max_val": FloatAttr(bound, _element(x)),
        "nan_mode": NanModeAttr(NanMode.PROPAGATE),
    }
    clamped = before.value(tosa.ClampOp, [x], x.type, properties)
    return before.value(tosa.EqualOp, [clamped, x], _booleans(x))


def _stablehlo(before: Beside, x: SSAValue, bound: float) -> SSAValue:
    """The same; bounds without dimensions stand for all sizes, known or not."""
    scalar = TensorType(_element(x), [])
    literals = (DenseIntOrFPElementsAttr.from_list(scalar, [b]) for b in (-bound, bound))
    low, high = (before.value(hlo.ConstantOp, [], scalar, {"value": each}) for each in literals)
    clamped = before.value(hlo.ClampOp, [low, x, high], x.type)
    equal = {"comparison_direction": ComparisonDirectionAttr(ComparisonDirection.EQ)}
    return before.value(hlo.CompareOp, [clamped, x], _booleans(x), equal)


_SMALL = 2.0**-12
_ZERO = 0.0
_FUNCTIONS: dict[type[Operation], tuple[float, Ask, type[Operation]]] = {
    math.ErfOp: (_ZERO, _scalar, arith.SelectOp),
    math.SinOp: (_SMALL, _scalar, arith.SelectOp),
    math.TanOp: (_SMALL, _scalar, arith.SelectOp),
    tosa.ErfOp: (_ZERO, _tosa, tosa.SelectOp),
    tosa.SinOp: (_SMALL, _tosa, tosa.SelectOp),
    chlo.ErfOp: (_ZERO, _stablehlo, hlo.SelectOp),
    hlo.SineOp: (_SMALL, _stablehlo, hlo.SelectOp),
    hlo.TanOp: (_SMALL, _stablehlo, hlo.SelectOp),
}
"""Function -> the largest argument that is its result, how that is asked, and what chooses."""


class KeepSmallArgumentsPass(PassForOps):
    """See the module's docstring."""

    name = "keep-small-arguments"
    looks_for = frozenset(op.name for op in _FUNCTIONS)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if type(each) in _FUNCTIONS]:
            # functions of 64-bit floats are the C library's
            is_right = isinstance(_element(each.operands[0]), ComplexType | Float64Type)
            bound = _FUNCTIONS[type(each)][0]
            if not is_right and not (bound == _ZERO and _is_moved_from_zero(each.results[0])):
                _guard(each)


def _is_moved_from_zero(value: SSAValue) -> bool:
    """Whether a value is only added to numbers, as in ``1 + erf(x)``, where the sign of a zero is lost."""
    return bool(value.uses) and all(
        isinstance(use.operation, tosa.AddOp | hlo.AddOp)
        and any(_is_number(operand) for operand in use.operation.operands)
        for use in value.uses
    )


def _is_number(value: SSAValue) -> bool:
    """Whether all elements of a value are one number that is not 0."""
    op = value.owner
    while isinstance(op, hlo.BroadcastInDimOp | hlo.DynamicBroadcastInDimOp):
        op = op.operands[0].owner
    if not isinstance(op, tosa.ConstOp | hlo.ConstantOp):
        return False
    literal = op.properties.get("values", op.properties.get("value"))
    if not isinstance(literal, DenseIntOrFPElementsAttr) or not literal.is_splat():
        return False
    return bool(literal.get_values()[0] != 0)


def _guard(function: Operation) -> None:
    bound, ask, choose = _FUNCTIONS[type(function)]
    (x,), (result,) = function.operands, function.results
    users = {use.operation for use in result.uses}
    small = ask(Beside(function), x, bound)
    selected = Beside(function, behind=True).value(choose, [small, x, result], result.type)
    result.replace_uses_with_if(selected, lambda use: use.operation in users)


def _element(x: SSAValue) -> Any:
    return x.type.element_type if isinstance(x.type, TensorType) else x.type


def _booleans(x: SSAValue) -> Attribute:
    return TensorType(i1, shape_of(x))
