"""StableHLO in the spelling of MHLO, its predecessor, for consumers that still read that.

The two dialects have the same ops. MHLO keeps lists of numbers as dense tensors where StableHLO has arrays, and spells
some enumerations and bounds in its own way. CHLO ops that MHLO has itself become those; the others stay CHLO, as in
XLA's own pass of this name.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from io import StringIO

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FunctionType,
    ModuleOp,
    TensorType,
    TupleType,
    UnregisteredAttr,
    UnregisteredOp,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.printer import Printer
from xdsl.rewriter import Rewriter

from torch2mlir.dialects.stablehlo import BoundsAttr, TokenType
from torch2mlir.errors import UnsupportedOpError

MHLO_OF_CHLO = {
    "chlo.erf": "mhlo.erf",
    "chlo.mulhi": "mhlo.mulhi",
    "chlo.top_k": "mhlo.topk",
}
"""CHLO ops that become MHLO; XLA leaves the others to the expansion of CHLO, though MHLO has some of them."""

ABSENT = {"stablehlo.unary_einsum"}
"""StableHLO ops that MHLO has dropped."""

BRACKETED = ("rng_distribution", "rng_algorithm", "result_accuracy_mode")
"""Enumerations spelled ``#mhlo.name<VALUE>`` where StableHLO has ``#stablehlo<name VALUE>``."""


@dataclass(frozen=True)
class StablehloLegalizeToHloPass(ModulePass):
    """Every ``stablehlo`` op as ``mhlo``; the name is that of XLA's pass."""

    name = "stablehlo-legalize-to-hlo"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        # Inner ops first: an op moves its regions into its successor, with what they have become.
        for inner in reversed(list(op.walk())):
            _retype_blocks(inner)
            if isinstance(inner, FuncOp):
                inner.function_type = _function_type(inner.function_type)
            elif inner.name in ABSENT:
                raise UnsupportedOpError(f"MHLO has no '{inner.name}'", op=inner.name)
            elif inner.name.startswith("stablehlo."):
                _respell(inner, "mhlo." + inner.name.removeprefix("stablehlo."))
            elif inner.name in MHLO_OF_CHLO:
                _respell(inner, MHLO_OF_CHLO[inner.name])


def _respell(op: Operation, name: str) -> None:
    attributes = {n: _attribute(value) for n, value in (op.attributes | op.properties).items()}
    new = _op_class(name).create(
        operands=op.operands,
        result_types=[_type(type) for type in op.result_types],
        attributes=attributes,
        successors=op.successors,
        regions=[op.detach_region(region) for region in list(op.regions)],
        location=op.location,
    )
    for old, result in zip(op.results, new.results, strict=True):
        result.name_hint = old.name_hint
    Rewriter.replace_op(op, new)


def _attribute(value: Attribute) -> Attribute:
    match value:
        case DenseArrayBase():
            elements = value.get_values()
            type = TensorType(value.elt_type, [len(elements)])
            return DenseIntOrFPElementsAttr.from_list(type, elements)
        case ArrayAttr():
            return ArrayAttr([_attribute(item) for item in value])
        case DictionaryAttr():
            return value  # a frontend's own: handed on as it is
    if value.name.startswith("stablehlo."):
        return _unregistered(value)
    return _type(value)


def _unregistered(value: Attribute) -> UnregisteredAttr:
    """An attribute of StableHLO under MHLO's name; the parameters are the same."""
    stream = StringIO()
    Printer(stream).print_attribute(value)
    text = stream.getvalue().replace("#stablehlo", "#mhlo")
    for name in BRACKETED:
        text = _bracketed(text, name)
    if text.startswith("#mhlo<"):
        name, _, parameters = text.removeprefix("#mhlo<").partition(" ")
        return _made(f"mhlo.{name}", f" {parameters[:-1]}", opaque=True)
    name, _, parameters = text.removeprefix("#").partition("<")
    # Without parameters the attribute still needs its brackets.
    return _made(name, parameters[:-1] or " ", opaque=False)


def _bracketed(text: str, name: str) -> str:
    before, found, after = text.partition(f"#mhlo<{name} ")
    if not found:
        return text
    value, _, rest = after.partition(">")
    return f"{before}#mhlo.{name}<{value}>{rest}"


def _made(name: str, parameters: str, opaque: bool, is_type: bool = False) -> UnregisteredAttr:
    return _attribute_class(name, is_type)(name, is_type, opaque, parameters)


@cache
def _attribute_class(name: str, is_type: bool) -> type[UnregisteredAttr]:
    return UnregisteredAttr.with_name_and_type(name, is_type)


@cache
def _op_class(name: str) -> type[Operation]:
    return UnregisteredOp.with_name(name)


def _type(type: Attribute) -> Attribute:
    match type:
        case TokenType():
            return _made("mhlo.token", "", opaque=False, is_type=True)
        case TensorType() if isinstance(type.encoding, BoundsAttr):
            bounds = str(type.encoding).partition("<")[2].rstrip(">")
            encoding = _made("mhlo.type_extensions", f"bounds = [{bounds}]", opaque=False)
            return TensorType(type.element_type, type.get_shape(), encoding)
        case TupleType():
            inner = [_type(each) for each in type.types]
            return TupleType(ArrayAttr(inner))  # type: ignore[arg-type]
    return type


def _function_type(type: FunctionType) -> FunctionType:
    return FunctionType.from_lists(
        [_type(input) for input in type.inputs], [_type(output) for output in type.outputs]
    )


def _retype_blocks(op: Operation) -> None:
    for region in op.regions:
        for block in region.blocks:
            for argument in block.args:
                if (type := _type(argument.type)) != argument.type:
                    Rewriter.replace_value_with_new_type(argument, type)
