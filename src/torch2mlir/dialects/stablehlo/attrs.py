"""Attributes and types of StableHLO, and short constructors for the builtin ones its ops take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, TypeAlias, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    TensorType,
    f32,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects.enum_attributes import attributes_of
from torch2mlir.dialects.stablehlo import enums
from torch2mlir.dialects.tensors import i64_array

I64Array: TypeAlias = DenseArrayBase[IntegerType]
I64_ARRAY = DenseArrayBase.constr(i64)
"""Constraint of a property that is an ``array<i64: ...>``."""
BOOL_ARRAY = DenseArrayBase.constr(i1)
"""Constraint of a property that is an ``array<i1: ...>``."""


def bool_array(values: Sequence[bool]) -> I64Array:
    """``array<i1: ...>``: the window reversal of a convolution."""
    return DenseArrayBase.from_list(i1, [int(value) for value in values])


@lru_cache(maxsize=1024)
def i64_attr(value: int) -> IntegerAttr:
    """``value : i64``."""
    return IntegerAttr(value, i64)


def padding_attr(pairs: Sequence[tuple[int, int]]) -> DenseIntOrFPElementsAttr:
    """``dense<[[low, high], ...]> : tensor<Nx2xi64>``, one pair per dimension."""
    flat = [edge for pair in pairs for edge in pair]
    return DenseIntOrFPElementsAttr.from_list(TensorType(i64, [len(pairs), 2]), flat)


def padding_pairs(padding: DenseIntOrFPElementsAttr) -> list[tuple[int, int]]:
    """Low and high padding per dimension, from a ``tensor<Nx2xi64>`` literal."""
    values = list(cast(DenseIntOrFPElementsAttr[IntegerType], padding).get_values())
    if len(values) == 1:
        values *= 2 * padding.get_shape()[0]
    return list(zip(values[::2], values[1::2]))


# --- structures: ``#stablehlo.dot<lhs_contracting_dimensions = [1], ...>`` -----------------------

Field = Sequence[int] | float | Attribute


def parse_i64_list(parser: AttrParser) -> list[int]:
    """``[1, 2]``."""
    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)


class StructAttr(ParametrizedAttribute):
    """Base of the structures, whose parameters have Python values and come by name: ``<name = value, ...>``.

    What is not given has its default, which also says what a field is; a list of integers is the usual. Fields that are
    zero or empty are left out, as MLIR does, but for structures that write all.
    """

    DEFAULTS: ClassVar[Mapping[str, Field]] = {"index_vector_dim": 0, "operand_index": 0}
    WRITES_ALL: ClassVar[bool] = False

    def __init__(self, **fields: Field) -> None:
        names = self.names()
        if unknown := fields.keys() - names:
            raise TypeError(f"{self.name} has no {', '.join(sorted(unknown))}")
        values = (fields.get(name, self.DEFAULTS.get(name, ())) for name in names)
        super().__init__(*map(_attribute, values))

    @classmethod
    def names(cls) -> list[str]:
        """The fields, in the order of the text."""
        return [name for name, _ in cls.get_irdl_definition().parameters]

    def fields(self) -> dict[str, Any]:
        """Field names and Python values, in the order of the text."""
        return {name: _value(getattr(self, name)) for name in self.names()}

    def print_parameters(self, printer: Printer) -> None:
        written = [each for each in self.fields().items() if each[1] or self.WRITES_ALL]
        with printer.in_angle_brackets():
            printer.print_list(written, lambda each: _print_field(printer, *each))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        fields, names = dict[str, Field](), cls.names()

        def parse_field() -> None:
            position = parser.pos
            name = parser.parse_identifier(" as field name")
            if name not in names:
                parser.raise_error(f"unknown field '{name}', expected one of {names}", position)
            parser.parse_punctuation("=")
            fields[name] = _parse_value(parser, cls.DEFAULTS.get(name, ()))

        parser.parse_comma_separated_list(parser.Delimiter.ANGLE, parse_field)
        if cls.WRITES_ALL and len(fields) < len(names):
            parser.raise_error(f"expected all of {names}")
        return cls(**fields).parameters


def _attribute(value: Field) -> Attribute:
    if isinstance(value, Attribute):
        return value
    if isinstance(value, bool):
        return IntegerAttr.from_bool(value)
    if isinstance(value, int):
        return i64_attr(value)
    return FloatAttr(value, f64) if isinstance(value, float) else i64_array(value)


def _value(attribute: Attribute) -> Any:
    if isinstance(attribute, IntegerAttr):
        return bool(attribute.value.data) if attribute.type == i1 else attribute.value.data
    if isinstance(attribute, FloatAttr):
        return attribute.value.data
    return attribute.get_values() if isinstance(attribute, DenseArrayBase) else attribute


def _print_field(printer: Printer, name: str, value: Field) -> None:
    printer.print_string(f"{name} = ")
    if isinstance(value, Attribute):
        printer.print_attribute(value)
    elif isinstance(value, int):
        printer.print_int(value, i1 if isinstance(value, bool) else i64)
    elif isinstance(value, float):
        printer.print_float(value, f64)
    else:
        printer.print_string(str(list(value)))


def _parse_value(parser: AttrParser, like: Field) -> Field:
    if isinstance(like, Attribute):
        is_type = isinstance(like, TypeAttribute)
        return parser.parse_type() if is_type else parser.parse_attribute()
    if isinstance(like, bool):
        return parser.parse_boolean()
    if isinstance(like, int):
        return parser.parse_integer()
    return float(parser.parse_number()) if isinstance(like, float) else parse_i64_list(parser)


@irdl_attr_definition(init=False)
class DotDimensionNumbersAttr(StructAttr):
    """Batching and contracting dimensions of ``dot_general``."""

    name = "stablehlo.dot"

    lhs_batching_dimensions: I64Array
    rhs_batching_dimensions: I64Array
    lhs_contracting_dimensions: I64Array
    rhs_contracting_dimensions: I64Array


@irdl_attr_definition(init=False)
class GatherDimensionNumbersAttr(StructAttr):
    """Which dimensions of operand, indices and result of ``gather`` correspond."""

    name = "stablehlo.gather"

    offset_dims: I64Array
    collapsed_slice_dims: I64Array
    operand_batching_dims: I64Array
    start_indices_batching_dims: I64Array
    start_index_map: I64Array
    index_vector_dim: IntegerAttr


@irdl_attr_definition(init=False)
class ScatterDimensionNumbersAttr(StructAttr):
    """Which dimensions of operand, indices and updates of ``scatter`` correspond."""

    name = "stablehlo.scatter"

    update_window_dims: I64Array
    inserted_window_dims: I64Array
    input_batching_dims: I64Array
    scatter_indices_batching_dims: I64Array
    scatter_dims_to_operand_dims: I64Array
    index_vector_dim: IntegerAttr


@irdl_attr_definition(init=False)
class OutputOperandAliasAttr(StructAttr):
    """Which result of a ``custom_call`` lives in which operand's buffer."""

    name = "stablehlo.output_operand_alias"

    output_tuple_indices: I64Array
    operand_index: IntegerAttr
    operand_tuple_indices: I64Array
    WRITES_ALL: ClassVar[bool] = True


# --- attributes with a syntax of their own -------------------------------------------------------


class ConvSide:
    """Labels of one tensor of a convolution: two letters and the spatial dimensions, in order."""

    def __init__(self, letters: str) -> None:
        self.letters = letters

    def text(self, first: int, second: int, spatial: Sequence[int]) -> str:
        """``[b, f, 0, 1]`` from the positions of the two letters and of the spatial dimensions."""
        labels: dict[int, str] = {first: self.letters[0], second: self.letters[1]}
        labels |= {position: str(index) for index, position in enumerate(spatial)}
        return f"[{', '.join(labels.get(i, '?') for i in range(max(labels) + 1))}]"

    def parse(self, parser: AttrParser) -> tuple[int, int, list[int]]:
        """The inverse of :meth:`text`."""

        def parse_label() -> str:
            if (number := parser.parse_optional_integer(allow_boolean=False)) is not None:
                return str(number)
            return parser.parse_identifier(" as dimension label")

        position = parser.pos
        labels = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_label)
        spatial = [str(index) for index in range(len(labels) - 2)]
        if sorted(labels) != sorted([*self.letters, *spatial]):
            parser.raise_error(
                f"expected the labels {', '.join(self.letters)} and 0 to {len(spatial) - 1}",
                position,
            )
        first, second = (labels.index(letter) for letter in self.letters)
        return first, second, [labels.index(label) for label in spatial]


DATA_SIDE = ConvSide("bf")
KERNEL_SIDE = ConvSide("oi")


@irdl_attr_definition
class ConvDimensionNumbersAttr(ParametrizedAttribute):
    """Layout of input, kernel and output: ``#stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>``."""

    name = "stablehlo.conv"

    input_batch_dimension: IntegerAttr
    input_feature_dimension: IntegerAttr
    input_spatial_dimensions: I64Array
    kernel_output_feature_dimension: IntegerAttr
    kernel_input_feature_dimension: IntegerAttr
    kernel_spatial_dimensions: I64Array
    output_batch_dimension: IntegerAttr
    output_feature_dimension: IntegerAttr
    output_spatial_dimensions: I64Array

    @classmethod
    def from_sides(
        cls,
        lhs: tuple[int, int, Sequence[int]],
        kernel: tuple[int, int, Sequence[int]],
        output: tuple[int, int, Sequence[int]],
    ) -> ConvDimensionNumbersAttr:
        """From (batch, feature, spatial), (output feature, input feature, spatial) and (batch,
        feature, spatial) positions.
        """
        parameters: list[Attribute] = []
        for first, second, spatial in (lhs, kernel, output):
            parameters += [i64_attr(first), i64_attr(second), i64_array(spatial)]
        return cls.new(parameters)

    @classmethod
    def channels_first(
        cls, spatial_rank: int, kernel: tuple[int, int] = (0, 1)
    ) -> ConvDimensionNumbersAttr:
        """PyTorch's layout; ``kernel`` tells where the weight's output and input channels are."""
        space = range(2, spatial_rank + 2)
        return cls.from_sides((0, 1, space), (*kernel, space), (0, 1, space))

    def sides(self) -> tuple[tuple[int, int, tuple[int, ...]], ...]:
        """The three tuples :meth:`from_sides` takes."""
        positions = [_value(parameter) for parameter in self.parameters]
        return tuple(tuple(positions[start : start + 3]) for start in (0, 3, 6))

    def bare_text(self) -> str:
        """The labels without the attribute's name, as the op prints them."""
        lhs, kernel, output = self.sides()
        return f"{DATA_SIDE.text(*lhs)}x{KERNEL_SIDE.text(*kernel)}->{DATA_SIDE.text(*output)}"

    @classmethod
    def parse_bare(cls, parser: AttrParser) -> ConvDimensionNumbersAttr:
        """The inverse of :meth:`bare_text`."""
        lhs = DATA_SIDE.parse(parser)
        parser.parse_keyword("x")
        kernel = KERNEL_SIDE.parse(parser)
        parser.parse_punctuation("->")
        return cls.from_sides(lhs, kernel, DATA_SIDE.parse(parser))

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{self.bare_text()}>")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return cls.parse_bare(parser).parameters


@irdl_attr_definition(init=False)
class DotAlgorithmAttr(StructAttr):
    """How a ``dot_general`` computes: precision of operands and accumulator, number of products."""

    name = "stablehlo.dot_algorithm"

    lhs_precision_type: TypeAttribute
    rhs_precision_type: TypeAttribute
    accumulation_type: TypeAttribute
    lhs_component_count: IntegerAttr
    rhs_component_count: IntegerAttr
    num_primitive_operations: IntegerAttr
    allow_imprecise_accumulation: IntegerAttr
    DEFAULTS: ClassVar[Mapping[str, Field]] = {
        **dict.fromkeys(("lhs_precision_type", "rhs_precision_type", "accumulation_type"), f32),
        **dict.fromkeys(("lhs_component_count", "rhs_component_count"), 1),
        "num_primitive_operations": 1,
        "allow_imprecise_accumulation": False,
    }
    WRITES_ALL: ClassVar[bool] = True


@irdl_attr_definition(init=False)
class ResultAccuracyAttr(StructAttr):
    """Error bound of a transcendental function; the bounds count in mode ``TOLERANCE`` only."""

    name = "stablehlo.result_accuracy"

    atol: FloatAttr
    rtol: FloatAttr
    ulps: IntegerAttr
    mode: enums.ResultAccuracyModeAttr
    DEFAULTS: ClassVar[Mapping[str, Field]] = {
        "atol": 0.0,
        "rtol": 0.0,
        "ulps": 0,
        "mode": enums.ResultAccuracyModeAttr(enums.ResultAccuracyMode.DEFAULT),
    }


@irdl_attr_definition
class BoundsAttr(ParametrizedAttribute):
    """Upper bounds of dynamic dimensions, a tensor encoding: ``#stablehlo.bounds<?, 2>``."""

    name = "stablehlo.bounds"

    bounds: I64Array

    def __init__(self, bounds: Sequence[int]) -> None:
        super().__init__(i64_array(bounds))

    def print_parameters(self, printer: Printer) -> None:
        labels = (
            "?" if bound == DYNAMIC_INDEX else str(bound) for bound in self.bounds.get_values()
        )
        printer.print_string(f"<{', '.join(labels)}>")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        def parse_bound() -> int:
            if parser.parse_optional_punctuation("?"):
                return DYNAMIC_INDEX
            return parser.parse_integer()

        bounds = parser.parse_comma_separated_list(parser.Delimiter.ANGLE, parse_bound)
        return [i64_array(bounds)]

    def verify(self) -> None:
        if any(bound < 0 and bound != DYNAMIC_INDEX for bound in self.bounds.get_values()):
            raise VerifyException("a bound is '?' or not negative")


@irdl_attr_definition
class TokenType(ParametrizedAttribute, TypeAttribute):
    """``!stablehlo.token``: orders side effects."""

    name = "stablehlo.token"


ATTRIBUTES = attributes_of("stablehlo", vars(enums), globals())
