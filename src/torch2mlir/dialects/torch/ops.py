"""Operations of the torch dialect: the registry's, made from their schema on first use, and the shared format."""

from __future__ import annotations

from functools import cache
from typing import ClassVar, Self

from xdsl.ir import Attribute, Operation, OpTraits
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects.assembly import parse_types
from torch2mlir.dialects.rows import RowOp
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.schema import Schema, find_schema

PURE = OpTraits(lambda: (Pure(),))
IMPURE = OpTraits(lambda: ())


class TorchOp(Operation):
    """Base of the dialect's ops; prints as ``torch.x %a, %b : !t, !t -> !t``, the form Torch-MLIR's own ops have."""

    traits: ClassVar[OpTraits] = IMPURE

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        types: list[Attribute] = []
        results: list[Attribute] = []
        if parser.parse_optional_punctuation(":"):
            first = parse_type_list(parser)
            if operands:
                types = first
                if parser.parse_optional_punctuation("->"):
                    results = parse_type_list(parser)
            else:
                results = first
        return cls.create(
            operands=parser.resolve_operands(operands or (), types, parser.pos),
            result_types=results,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        if self.operands:
            printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        if self.operands or self.results:
            printer.print_string(" : ")
        printer.print_list(self.operand_types, printer.print_attribute)
        if self.operands and self.results:
            printer.print_string(" -> ")
        printer.print_list(self.result_types, printer.print_attribute)


class UsualOp(TorchOp, RowOp):
    """A hand-written op in that form."""


def parse_type_list(parser: Parser) -> list[Attribute]:
    """Parses ``!t, !t`` or ``(!t, !t)`` or ``()``."""
    types = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    return parse_types(parser) if types is None else [*types]


class RegistryOp(TorchOp):
    """An op of PyTorch's registry; ``schema`` says what it takes and gives."""

    schema: ClassVar[Schema]

    def verify_(self) -> None:
        schema = self.schema
        if self.regions:
            raise VerifyException(f"{self.name} has no regions")
        if schema.is_variadic:
            return
        if len(self.operands) != len(schema.arguments):
            raise VerifyException(
                f"{self.name} takes {len(schema.arguments)} operands "
                f"({', '.join(a.name for a in schema.arguments)}), got {len(self.operands)}"
            )
        if len(self.results) != len(schema.returns):
            raise VerifyException(
                f"{self.name} has {len(schema.returns)} results, got {len(self.results)}"
            )
        for argument, operand in zip(schema.arguments, self.operands, strict=True):
            if not accepts(argument.type, operand.type):
                raise VerifyException(
                    f"operand '{argument.name}' of {self.name} is a {argument.type}, got {operand.type}"
                )


_SCALAR_ACCEPTS: dict[str, tuple[type[Attribute], ...]] = {
    "int": (t.IntType, t.NumberType),
    "SymInt": (t.IntType, t.NumberType),
    "float": (t.FloatType, t.IntType, t.NumberType),
    "bool": (t.BoolType, t.IntType),
    "Scalar": (t.IntType, t.FloatType, t.BoolType, t.NumberType),
    "str": (t.StringType,),
    "ScalarType": (t.IntType,),
    "Layout": (t.IntType,),
    "MemoryFormat": (t.IntType,),
    "Device": (t.DeviceType,),
    "Generator": (t.GeneratorType,),
    "Dimname": (t.StringType,),
    "Tensor": (t.AnyTensorType,),
}


def accepts(schema_type: str, type: Attribute) -> bool:
    """Whether a value of a dialect type can be passed where the schema wants ``schema_type``."""
    if schema_type.endswith("?"):
        return isinstance(type, t.NoneType | t.OptionalType) or accepts(schema_type[:-1], type)
    if schema_type.endswith("]"):
        return isinstance(type, t.ListType | t.IntType | t.FloatType | t.BoolType)
    expected = _SCALAR_ACCEPTS.get(schema_type)
    return expected is None or isinstance(type, (*expected, t.AnyType, t.UnionType))


@cache
def registry_op(name: str) -> type[RegistryOp] | None:
    """The class of the op named ``torch.aten.add.Tensor``, made on first use; None outside the registry."""
    schema = find_schema(name)
    if schema is None:
        return None
    class_name = "".join(p[:1].upper() + p[1:] for p in name.split(".")[1:]) + "Op"
    traits = IMPURE if schema.is_mutating or not schema.returns else PURE
    return type(class_name, (RegistryOp,), {"name": name, "schema": schema, "traits": traits})
