"""What all TOSA operations share: their assembly and the checks their verifiers are made of."""

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IntegerAttr,
    TensorType,
    UnitAttr,
    UnrankedTensorType,
    i32,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, base
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects.assembly import results_text, types_text, values_text
from torch2mlir.dialects.tosa.attributes import (
    BlockSizeAttr,
    NanMode,
    NanModeAttr,
    ResizeModeAttr,
    RoundingModeAttr,
    ShapeType,
)

TENSOR = base(TensorType) | base(UnrankedTensorType)
SHAPE = base(ShapeType)
INT_LIST = base(DenseArrayBase)
PROPAGATE = NanModeAttr(NanMode.PROPAGATE)

_ENUMS: dict[str, type[EnumAttribute]] = {
    "nan_mode": NanModeAttr,
    "rounding_mode": RoundingModeAttr,
    "mode": ResizeModeAttr,
    "block_size": BlockSizeAttr,
}


class TosaOp(IRDLOperation, ABC):
    """An operation written `tosa.name %operands {attributes} : (types) -> types`.

    Newer MLIR writes attributes as clauses, `axis(1) nan_mode<IGNORE>`; the parser reads both.
    """

    BARE_ENUMS: ClassVar[bool] = True
    """Whether an enumeration in the attribute dictionary is its bare keyword."""

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {values_text(printer, self.operands)}")
        self._print_attributes(printer)
        inputs, outputs = types_text(self.operand_types), results_text(self.result_types)
        printer.print_string(f" : ({inputs}) -> {outputs}")

    def _print_attributes(self, printer: Printer) -> None:
        named = {**self.properties, **self.attributes}
        if named.get("nan_mode") == PROPAGATE:
            del named["nan_mode"]
        if not named:
            return
        separator = " {"
        for name in sorted(named):
            printer.print_string(separator)
            separator = ", "
            value = named[name]
            if self.BARE_ENUMS and isinstance(value, EnumAttribute):
                printer.print_string(f"{name} = {value.data.value}")
            else:
                printer.print_identifier_or_string_literal(name)
                # torch-mlir-opt wants a value even for unit attributes.
                printer.print_string(" = ")
                printer.print_attribute(value)
        printer.print_string("}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        operands = (
            parser.parse_optional_undelimited_comma_separated_list(
                parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
            )
            or ()
        )
        named = _parse_clauses(parser)
        parser.parse_punctuation(":")
        signature = parser.parse_function_type()
        properties, attributes = split_properties(cls, named)
        return cls.create(
            operands=parser.resolve_operands(operands, signature.inputs.data, position),
            result_types=signature.outputs.data,
            properties=properties,
            attributes=attributes,
        )


def split_properties(
    op: type[IRDLOperation], named: dict[str, Attribute]
) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
    """Divide a parsed dictionary into the op's own properties and discardable attributes."""
    own = op.get_irdl_definition().properties
    properties = {name: value for name, value in named.items() if name in own}
    attributes = {name: value for name, value in named.items() if name not in own}
    return properties, attributes


def _parse_clauses(parser: Parser) -> dict[str, Attribute]:
    """Parse `clause(value) clause<KEYWORD> {name = value, ...}`, all of it optional."""
    named: dict[str, Attribute] = {}
    while (name := parser.parse_optional_identifier()) is not None:
        if name in _ENUMS:
            with parser.in_angle_brackets():
                named[name] = _parse_enum(parser, name)
        else:
            with parser.in_parens():
                named[name] = _parse_clause_value(parser, name)

    def entry() -> None:
        key = parser.parse_identifier_or_str_literal()
        if parser.parse_optional_punctuation("=") is None:
            named[key] = UnitAttr()
        elif key in _ENUMS:
            named[key] = _parse_enum(parser, key)
        else:
            named[key] = parser.parse_attribute()

    parser.parse_optional_comma_separated_list(parser.Delimiter.BRACES, entry)
    return named


def _parse_enum(parser: Parser, name: str) -> Attribute:
    """Parse an enumeration as its bare keyword or in full."""
    if (attribute := parser.parse_optional_attribute()) is not None:
        return attribute
    return _ENUMS[name](parser.parse_str_enum(_ENUMS[name].enum_type))


def _parse_clause_value(parser: Parser, name: str) -> Attribute:
    """Parse what a clause's parentheses hold; integers there have no type of their own."""
    if name == "axis":
        return IntegerAttr(parser.parse_integer(), i32)
    if parser.parse_optional_punctuation("["):
        values: list[int] = []
        if parser.parse_optional_punctuation("]") is None:
            values = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_integer)
            parser.parse_punctuation("]")
        return DenseArrayBase.from_list(i32 if name == "perms" else i64, values)
    return parser.parse_attribute()


# Checks


def require(condition: bool, message: str) -> None:
    """Fail verification with `message` unless `condition` holds."""
    if not condition:
        raise VerifyException(message)


def shape_of(value: SSAValue) -> tuple[int, ...] | None:
    """The dimensions of a ranked tensor (-1 where dynamic), None of an unranked one."""
    return value.type.get_shape() if isinstance(value.type, TensorType) else None


def element_type(value: SSAValue) -> Attribute | None:
    """The element type of a tensor value."""
    if isinstance(value.type, TensorType | UnrankedTensorType):
        return value.type.element_type
    return None


def require_rank(op: Operation, name: str, value: SSAValue, *ranks: int) -> None:
    """`value` is unranked or has one of the given ranks."""
    shape = shape_of(value)
    if shape is not None and len(shape) not in ranks:
        wanted = " or ".join(map(str, ranks))
        raise VerifyException(f"{op.name}: {name} must have rank {wanted}, got {value.type}")


def require_shape_rank(op: Operation, name: str, value: SSAValue, rank: int, reason: str) -> None:
    """A `!tosa.shape` operand lists `rank` sizes."""
    assert isinstance(value.type, ShapeType)
    if value.type.rank.data != rank:
        raise VerifyException(
            f"{op.name}: {name} must be !tosa.shape<{rank}> ({reason}), got {value.type}"
        )


def require_same_element_type(op: Operation, **values: SSAValue) -> None:
    """The named tensors have one element type."""
    types = {name: element_type(value) for name, value in values.items()}
    if len(set(types.values())) > 1:
        listed = ", ".join(f"{name} has {type_}" for name, type_ in types.items())
        raise VerifyException(f"{op.name}: element types must be equal: {listed}")


def require_single_element(op: Operation, **values: SSAValue) -> None:
    """The named tensors hold one element, as zero points and shifts do."""
    for name, value in values.items():
        if shape_of(value) not in (None, (1,), (DYNAMIC_INDEX,)):
            raise VerifyException(f"{op.name}: {name} must be a tensor<1x..>, got {value.type}")


def require_length(op: Operation, name: str, array: Attribute, length: int) -> None:
    """An integer-list attribute has `length` entries."""
    assert isinstance(array, DenseArrayBase)
    if len(array) != length:
        raise VerifyException(f"{op.name}: {name} must list {length} integers, got {array}")


def require_positive(op: Operation, name: str, array: Attribute, length: int) -> None:
    """An integer-list attribute has `length` entries, all of them positive."""
    require_length(op, name, array, length)
    assert isinstance(array, DenseArrayBase)
    if any(value <= 0 for value in array.iter_values()):
        raise VerifyException(f"{op.name}: {name} must be positive, got {array}")


def same_dim(first: int, second: int) -> bool:
    """Whether two dimensions may be equal."""
    return first == second or DYNAMIC_INDEX in (first, second)


def require_same_shape(op: Operation, **values: SSAValue) -> None:
    """The named tensors may all have one shape."""
    (first, reference), *others = values.items()
    for name, value in others:
        left, right = shape_of(reference), shape_of(value)
        if left is None or right is None:
            continue
        if len(left) != len(right) or not all(map(same_dim, left, right)):
            raise VerifyException(
                f"{op.name}: shapes of {first} and {name} must be equal, "
                f"got {reference.type} and {value.type}"
            )


def broadcast_dim(dims: Sequence[int]) -> int | None:
    """The dimension that sizes broadcast to: -1 if not known, None if they do not broadcast."""
    known = {dim for dim in dims if dim not in (1, DYNAMIC_INDEX)}
    if len(known) > 1:
        return None
    if known:
        return known.pop()
    return DYNAMIC_INDEX if DYNAMIC_INDEX in dims else 1


def require_broadcast(op: Operation, inputs: Sequence[SSAValue], output: SSAValue) -> None:
    """Inputs of equal rank broadcast to the output; TOSA does not add leading dimensions."""
    shapes = [shape for value in inputs if (shape := shape_of(value)) is not None]
    result = shape_of(output)
    if result is None or not shapes:
        return
    listed = ", ".join(str(value.type) for value in inputs)
    if any(len(shape) != len(result) for shape in shapes):
        raise VerifyException(
            f"{op.name}: operands and result must have equal rank, got {listed} and {output.type}"
        )
    for axis, dims in enumerate(zip(*shapes, strict=True)):
        dim = broadcast_dim(dims)
        if dim is None or (len(shapes) == len(inputs) and not same_dim(dim, result[axis])):
            raise VerifyException(
                f"{op.name}: dimension {axis} of {listed} does not broadcast to {output.type}"
            )


def axis_of(op: Operation, axis: IntegerAttr, value: SSAValue) -> int:
    """The axis attribute's value, checked against the rank of `value`."""
    index = axis.value.data
    shape = shape_of(value)
    if index < 0 or (shape is not None and index >= len(shape)):
        raise VerifyException(f"{op.name}: axis {index} is out of range for {value.type}")
    return index
