"""Arithmetic on numbers of any kind, said as arithmetic of their kind once that is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import FloatAttr, f64
from xdsl.ir import Attribute, Operation, SSAValue

from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.ops import registry_op
from torch2mlir.dialects.torch.values import Values
from torch2mlir.transforms.folding.constants import insert_before, int_before

Fold = Callable[[Operation, Values], Sequence[SSAValue] | None]

_ATEN = "add sub mul div floordiv remainder neg pow eq ne lt le gt ge"


def _of_kind(base: str) -> Fold:
    """The overload for ints, or for floats with ints made floats."""

    def fold(op: Operation, values: Values) -> Sequence[SSAValue] | None:
        kinds = {type(operand) for operand in op.operand_types}
        if not kinds <= {t.IntType, t.FloatType, t.BoolType}:
            return None
        floating = t.FloatType in kinds
        name = f"{base}.float" if floating else f"{base}.int"
        if registry_op(name) is None or name == op.name:
            return None
        operands = [_as_kind(op, operand, floating) for operand in op.operands]
        new = core.build(name, operands, [_result(op, base, floating)])
        insert_before(op, new)
        return new.results

    return fold


def _as_kind(op: Operation, operand: SSAValue, floating: bool) -> SSAValue:
    if isinstance(operand.type, t.FloatType if floating else t.IntType):
        return operand
    name, type = ("Float", t.float_type) if floating else ("Int", t.int_type)
    new = core.build(f"torch.aten.{name}.Scalar", [operand], [type])
    insert_before(op, new)
    return new.results[0]


def _result(op: Operation, base: str, floating: bool) -> Attribute:
    type = op.results[0].type
    if not isinstance(type, t.NumberType):
        return type
    divides = base in ("torch.aten.div", "torch.aten.pow")
    return t.float_type if floating or divides else t.int_type


def _of_a_float(name: str, result: Attribute) -> Fold:
    """A function of a float: integers become floats, unless its result is an integer, which they are already."""

    def fold(op: Operation, values: Values) -> Sequence[SSAValue] | None:
        (operand,) = op.operands
        if not isinstance(operand.type, t.IntType | t.FloatType | t.BoolType):
            return None
        if result == t.int_type and not isinstance(operand.type, t.FloatType):
            return [_as_kind(op, operand, floating=False)]
        return [_emit(op, f"{name}.float", result, _as_kind(op, operand, floating=True))]

    return fold


def _shifted(name: str) -> Fold:
    """Shifted by a known number of bits: times, or divided by, a power of two."""

    def fold(op: Operation, values: Values) -> Sequence[SSAValue] | None:
        bits = values.of(op.operands[1])
        if not isinstance(bits, int) or not 0 <= bits < _MOST_BITS:
            return None
        power = int_before(op, 1 << bits)
        return [_emit(op, f"torch.aten.{name}.int", t.int_type, op.operands[0], power)]

    return fold


_MOST_BITS = 63
"""Powers of two below this are numbers of 64 bits."""


def _is_nan(op: Operation, values: Values) -> Sequence[SSAValue]:
    (number,) = op.operands
    return [_emit(op, "torch.aten.ne.float", t.bool_type, number, number)]


def _compared_with_infinity(comparison: str) -> Fold:
    def fold(op: Operation, values: Values) -> Sequence[SSAValue]:
        size = _emit(op, "torch.prim.abs.float", t.float_type, op.operands[0])
        infinity = core.ConstantFloatOp.of(FloatAttr(math.inf, f64))
        insert_before(op, infinity)
        name = f"torch.aten.{comparison}.float"
        return [_emit(op, name, t.bool_type, size, infinity.results[0])]

    return fold


def _emit(op: Operation, name: str, result: Attribute, *operands: SSAValue) -> SSAValue:
    new = core.build(name, operands, [result])
    insert_before(op, new)
    return new.results[0]


_FUNCTIONS = {
    **dict.fromkeys(("ceil", "floor"), t.int_type),
    **dict.fromkeys(("sqrt", "exp", "log", "sin", "cos", "tanh", "round"), t.float_type),
}
"""Function of a number -> what its result is."""

NUMBER_FOLDS: dict[str, Fold] = {
    **{
        f"torch.aten.{name}.{kind}": _of_a_float(f"torch.aten.{name}", result)
        for name, result in _FUNCTIONS.items()
        for kind in ("Scalar", "int")
    },
    "torch.aten.__lshift__.int": _shifted("mul"),
    "torch.aten.__rshift__.int": _shifted("floordiv"),
    "torch.aten.isnan.float": _is_nan,
    "torch.aten.isinf.float": _compared_with_infinity("eq"),
    "torch.aten.isfinite.float": _compared_with_infinity("lt"),
    **{
        f"{base}{overload}": _of_kind(base)
        for base in (
            *(f"torch.aten.{name}" for name in _ATEN.split()),
            "torch.prim.max",
            "torch.prim.min",
        )
        for overload in ("", ".int_float", ".float_int")
        if (base, overload)
        not in {("torch.aten.pow", ".int_float"), ("torch.aten.pow", ".float_int")}
    },
}
"""Op on numbers -> the same on numbers of one kind, for which the contract has a word."""
