"""The ``onnx`` dialect: ONNX's operators under the names and with the attributes that onnx-mlir gives them.

An op is a row of ``ops.txt``. It prints in MLIR's generic form, ``"onnx.Add"(%0, %1) : (..) -> ..``. An input that is
left out is the result of ``onnx.NoValue``; graphs among the attributes are regions, ended by ``onnx.Yield``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, ClassVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    NoneType,
    Signedness,
    StringAttr,
    f32,
    i64,
)
from xdsl.ir import Attribute, Dialect, Operation, OpTraits, TypeAttribute
from xdsl.traits import IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects.onnx.schema import OpRow, Parameter, op_rows
from torch2mlir.dialects.weights import WeightAttr

_SI64 = IntegerType(64, Signedness.SIGNED)
NONE = NoneType()
"""The type of an input that is left out."""
_LITERALS = (DenseIntOrFPElementsAttr, WeightAttr)
_KINDS: dict[str, tuple[type[Attribute], ...]] = {
    "int": (IntegerAttr, TypeAttribute),
    "ints": (ArrayAttr,),
    "float": (FloatAttr,),
    "floats": (ArrayAttr,),
    "string": (StringAttr,),
    "tensor": _LITERALS,
}


class OnnxOp(Operation):
    """Base of the dialect's ops: ``row`` says what an op takes and gives."""

    row: ClassVar[OpRow]
    traits: ClassVar[OpTraits] = OpTraits(lambda: (Pure(),))

    def verify_(self) -> None:
        row = self.row
        _check_count(self.name, "operands", len(self.operands), row.inputs)
        _check_count(self.name, "results", len(self.results), row.outputs)
        if len(self.regions) != len(row.graphs):
            raise VerifyException(f"{self.name} has {len(row.graphs)} regions")
        for name, value in self.properties.items():
            kind = row.attributes.get(name)
            if kind is None:
                raise VerifyException(f"{self.name} has no attribute '{name}'")
            if kind in _KINDS and not isinstance(value, _KINDS[kind]):
                raise VerifyException(f"the attribute '{name}' of {self.name} is a {kind}")


def _check_count(op: str, what: str, count: int, parameters: Sequence[Parameter]) -> None:
    least = sum(parameter.mark == "" for parameter in parameters)
    open_ended = bool(parameters) and parameters[-1].mark == "*"
    if count < least or (count > len(parameters) and not open_ended):
        raise VerifyException(f"{op} takes {least} to {len(parameters)} {what}, got {count}")


class YieldOp(Operation):
    """The end of a region: what its graph returns."""

    name = "onnx.Yield"
    traits = OpTraits(lambda: (IsTerminator(),))


class NoValueOp(Operation):
    """An input that is left out."""

    name = "onnx.NoValue"
    traits = OpTraits(lambda: (Pure(),))


@cache
def op_class(name: str) -> type[OnnxOp]:
    """The class of an operator by ONNX's name for it.

    Raises:
        KeyError: ONNX has no such operator.
    """
    row = op_rows()[name]
    return type(
        f"{name}Op", (OnnxOp,), {"name": f"onnx.{name}", "row": row, "__module__": __name__}
    )


def attribute(value: Any, kind: str) -> Attribute:
    """A Python value as an attribute of one of ONNX's types, spelled as onnx-mlir spells it."""
    if isinstance(value, Attribute):
        return value
    match kind:
        case "int":
            return IntegerAttr(int(value), _SI64)
        case "ints":
            return ArrayAttr([IntegerAttr(int(item), i64) for item in value])
        case "float":
            return FloatAttr(float(value), f32)
        case "floats":
            return ArrayAttr([FloatAttr(float(item), f32) for item in value])
        case "string":
            return StringAttr(value)
    raise ValueError(f"no attribute of type {kind} is made of a Python value")


def attributes(name: str, values: dict[str, Any]) -> dict[str, Attribute]:
    """The attributes of an operator; those that are None are left out."""
    types = op_rows()[name].attributes
    return {key: attribute(v, types[key]) for key, v in values.items() if v is not None}


def _dialect() -> Dialect:
    return Dialect("onnx", [*(op_class(name) for name in op_rows()), YieldOp, NoValueOp], [])


ONNX = _dialect()
