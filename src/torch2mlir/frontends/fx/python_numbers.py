"""Python's arithmetic on sizes and on numbers computed from tensors, as FX graphs have it."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import torch
from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
from xdsl.ir import Attribute, SSAValue

from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.schema import find_schema
from torch2mlir.errors import CaptureError
from torch2mlir.frontends.dtypes import tensor_of
from torch2mlir.frontends.fx import data_sizes

if TYPE_CHECKING:
    from torch2mlir.frontends.fx.importer import GraphImporter

_BINARY: dict[Any, str] = {
    operator.add: "aten.add",
    operator.sub: "aten.sub",
    operator.mul: "aten.mul",
    operator.floordiv: "aten.floordiv",
    operator.truediv: "aten.div",
    operator.mod: "aten.remainder",
    operator.pow: "aten.pow",
    operator.eq: "aten.eq",
    operator.ne: "aten.ne",
    operator.lt: "aten.lt",
    operator.le: "aten.le",
    operator.gt: "aten.gt",
    operator.ge: "aten.ge",
    operator.and_: "aten.__and__",
    operator.or_: "aten.__or__",
    operator.xor: "aten.__xor__",
    torch.sym_max: "prim.max",
    torch.sym_min: "prim.min",
}
"""Operators; the overload follows the operands, ``int``, ``float`` or mixed, ``bool`` where both are."""

aten = torch.ops.aten
_CASTING = (
    aten.rsub.Scalar,
    *(getattr(aten, name).Scalar for name in ("bitwise_and", "bitwise_or", "bitwise_xor")),
    *(getattr(aten, name).Scalar for name in ("__and__", "__or__", "__xor__")),
)
"""Ops that take the lowest bits of a number; comparisons, whose results are booleans, are others."""
_COMPARED = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)

_OF_FLOAT: dict[Any, tuple[str, Attribute]] = {
    math.ceil: ("aten.ceil.float", t.int_type),
    math.floor: ("aten.floor.float", t.int_type),
    math.trunc: ("aten.Int.float", t.int_type),
} | {
    getattr(torch, f"_sym_{name}"): (f"aten.{name}.float", t.float_type)
    for name in ("sqrt", "sin", "cos", "tanh")
    if hasattr(torch, f"_sym_{name}")
}
"""Functions of a float; an int becomes one."""

_OF_ANY: dict[Any, tuple[str, Attribute]] = {
    torch.sym_float: ("aten.Float.Scalar", t.float_type),
    torch.sym_int: ("aten.Int.Scalar", t.int_type),
    torch.sym_not: ("aten.__not__", t.bool_type),
}

_FACTORS = range(1, 9)
"""Exponents for which a power of an integer is a product."""

_TO_INT = (math.ceil, math.floor, math.trunc, round, torch.sym_int)

_KEEP_KIND = {operator.neg: "aten.neg", abs: "prim.abs", operator.abs: "prim.abs"}
"""Functions whose result is an int or a float as the operand is."""


def as_tensors(arguments: Sequence[tuple[Any, str]]) -> list[tuple[Any, str]]:
    """Arguments with their schema types, with tensors for Python numbers where the schema has a tensor."""
    fakes = (value.meta.get("val") for value, _ in arguments if isinstance(value, Node))
    beside = next((fake for fake in fakes if isinstance(fake, torch.Tensor)), None)
    return [
        (tensor_of(value, beside), kind)
        if kind == "Tensor" and isinstance(value, int | float | complex)
        else (value, kind)
        for value, kind in arguments
    ]


def is_beyond(value: Any) -> bool:
    """Whether it is an integer that the dialect's, of 64 bits with a sign, cannot be."""
    return isinstance(value, int) and not -(2**63) <= value < 2**63


def unsigned(arguments: Sequence[tuple[Any, str]], node: Node) -> list[tuple[Any, str]]:
    """Arguments with integers of 64 bits without a sign as PyTorch takes them: floats for floats, or their bits.

    Args:
        arguments: of the call, with their schema types.
        node: the call.
    """
    fakes = [value.meta.get("val") for value, _ in arguments if isinstance(value, Node)]
    given = {fake.dtype for fake in fakes if isinstance(fake, torch.Tensor)}
    result = node.meta.get("val")
    dtypes = given | ({result.dtype} if isinstance(result, torch.Tensor) else set())
    if any(dtype.is_floating_point or dtype.is_complex for dtype in dtypes):
        return [(float(v) if is_beyond(v) else v, kind) for v, kind in arguments]
    if given == {torch.bool}:  # which PyTorch does not take them with
        return list(arguments)
    casts = not dtypes.isdisjoint((torch.uint64, torch.bool)) or node.target in _CASTING
    return [
        (v - 2**64 if is_beyond(v) and v > 0 and (casts or kind == "Tensor") else v, kind)
        for v, kind in arguments
    ]


def number(importer: GraphImporter, node: Node) -> SSAValue:
    """The value of a call of a Python function on numbers.

    Raises:
        CaptureError: the torch dialect has no op for it.
    """
    value = _computed(importer, node)
    if node.target in _TO_INT and _is_float_of_elements(node.args[0]):
        return data_sizes.of_number(importer, node, value)
    return value


def _computed(importer: GraphImporter, node: Node) -> SSAValue:
    target = node.target
    if target in _COMPARED and any(map(is_beyond, node.args)):
        near = [0 if isinstance(value, Node) else value for value in node.args]
        return importer.constants.scalar(target(*near))  # every size is between
    if target is torch.sym_sum:
        terms = [importer.operand(term) for term in node.args[0]]  # type: ignore[union-attr]
        return reduce(lambda a, b: _binary(importer, "aten.add", [a, b], a.type), terms)
    operands = [importer.operand(argument) for argument in node.args]
    exponent = node.args[1] if target is operator.pow else None
    if type(exponent) is int and exponent in _FACTORS and _kind(operands[0]) == "int":
        # sizes have products, and AOTAutograd says not what their powers are
        factors = operands[:1] * exponent
        return reduce(lambda a, b: _emit(importer, "aten.mul.int", t.int_type, [a, b]), factors)
    if target in _BINARY:
        return _binary(importer, _BINARY[target], operands, importer.type_of(node.meta.get("val")))
    if target in _OF_ANY:
        return _emit(importer, *_OF_ANY[target], operands)
    if target in _OF_FLOAT:
        return _emit(importer, *_OF_FLOAT[target], [_as_float(importer, operands[0])])
    if target in _KEEP_KIND:
        kind = _kind(operands[0])
        name = f"{_KEEP_KIND[target]}.{'int' if kind == 'bool' else kind}"
        return _emit(importer, name, operands[0].type, operands)
    if target is round and node.args[1:] in ((), (None,)):
        rounded = [_as_float(importer, operands[0])]
        rounded = [_emit(importer, "aten.round.float", t.float_type, rounded)]
        return _emit(importer, "aten.Int.float", t.int_type, rounded)
    if target is torch.sym_ite and node.args[1:] == (1, 0):
        return _emit(importer, "aten.Int.bool", t.int_type, operands[:1])
    raise CaptureError(
        f"'{getattr(target, '__name__', target)}' of a number that the program computes has no op in the torch dialect",
        hint="compute it with tensors, or make the number an argument of the model",
    )


def _is_float_of_elements(argument: Any) -> bool:
    fake = argument.meta.get("val") if isinstance(argument, Node) else None
    return isinstance(fake, torch.SymFloat) and bool(free_unbacked_symbols(fake))


def _binary(
    importer: GraphImporter, base: str, operands: Sequence[SSAValue], result: Attribute
) -> SSAValue:
    kinds = [_kind(operand) for operand in operands]
    both_bool = kinds == ["bool", "bool"] and find_schema(f"torch.{base}.bool") is not None
    if not both_bool:
        kinds = ["int" if kind == "bool" else kind for kind in kinds]
    overload = kinds[0] if kinds[0] == kinds[1] else "_".join(kinds)
    if find_schema(f"torch.{base}.{overload}") is None:
        raise CaptureError(f"no '{base}' on {kinds[0]} and {kinds[1]}")
    return _emit(importer, f"{base}.{overload}", result, operands)


def _kind(value: SSAValue) -> str:
    if value.type == t.float_type:
        return "float"
    return "bool" if value.type == t.bool_type else "int"


def _as_float(importer: GraphImporter, value: SSAValue) -> SSAValue:
    if value.type == t.float_type:
        return value
    return _emit(importer, "aten.Float.Scalar", t.float_type, [value])


def _emit(
    importer: GraphImporter, name: str, result: Attribute, operands: Sequence[SSAValue]
) -> SSAValue:
    op = core.build(f"torch.{name}", operands, [result])
    importer.insert(op)
    return op.results[0]
