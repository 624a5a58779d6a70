"""StableHLO ops that make tensors: constants, counters, random numbers."""

from __future__ import annotations

from typing import Self

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, Pure

from torch2mlir.dialects.assembly import Read, created, functional_text, parse_functional
from torch2mlir.dialects.rows import RowOp
from torch2mlir.dialects.stablehlo import checks
from torch2mlir.dialects.stablehlo.kinds import StableHLO
from torch2mlir.dialects.tensor_rules import require, same_shape


class ConstantBase(RowOp):
    """A literal: ``stablehlo.constant dense<1.0> : tensor<2xf32>``.

    The value is any attribute whose ``type`` (if it has one) is the result's: a builtin ``dense`` or
    ``dense_resource``, or an attribute that keeps its numbers elsewhere.
    """

    def print(self, printer: Printer) -> None:
        if _value_type(self) != self.result.type:
            # MLIR's form for a value stored in another type than the result's (quantized).
            printer.print_string("() ")
            with printer.in_angle_brackets():
                printer.print_attr_dict(self.properties)
            printer.print_op_attributes(self.attributes)
            printer.print_string(f" : {functional_text(self)}")
            return
        printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        printer.print_attribute(self.value)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        read = Read(cls)
        if parser.parse_optional_punctuation("("):
            parser.parse_punctuation(")")
            read.properties = parser.parse_optional_properties_dict()
            read.attributes = dict(parser.parse_optional_attr_dict())
            parser.parse_punctuation(":")
            read.inputs, read.outputs = parse_functional(parser)
            return created(cls, parser, read)
        read.attributes = dict(parser.parse_optional_attr_dict())
        position = parser.pos
        value = read.properties["value"] = parser.parse_attribute()
        type_ = getattr(value, "type", None)
        if not isinstance(type_, TensorType):
            parser.raise_error("expected elements of a tensor type", position)
        read.outputs = [type_]
        return created(cls, parser, read)


def _value_type(op: RowOp) -> Attribute:
    return getattr(op.value, "type", op.result.type)


def verify_constant(op: RowOp) -> None:
    """The value has the shape of the result."""
    type_ = _value_type(op)
    fits = isinstance(type_, TensorType) and same_shape(
        type_.get_shape(), checks.shape_of(op.result)
    )
    require(fits, f"value of type {type_} does not fit a result of {op.result.type}")


def _verify_iota(op: RowOp) -> None:
    rank, dimension = len(checks.shape_of(op.results[0])), op.iota_dimension.value.data
    require(0 <= dimension < rank, f"iota_dimension {dimension} must be in [0, {rank})")


def _verify_rng_bit_generator(op: RowOp) -> None:
    require(
        checks.compatible_types(op.initial_state.type, op.output_state.type),
        "initial_state and output_state must have one type",
    )


CONSTANT = "constant {value: any} -> result\n  A literal."
StableHLO.rows(
    CONSTANT,
    rule=verify_constant,
    traits=(ConstantLike(), Pure()),
    bases={"constant": ConstantBase},
)
StableHLO.rows(
    """
    iota {iota_dimension: i64} -> output
      | same, dim = iota_dimension |
      Each element is its index along one dimension.
    dynamic_iota output_shape: [#r] {iota_dimension: i64} -> result: [*r]
      | dim = iota_dimension |
      ``iota`` whose shape is an operand.
    rng_bit_generator initial_state {rng_algorithm: rng_algorithm} -> output_state, output
      | algorithm = rng_algorithm |
      Random bits, and the generator's next state.
    partition_id -> result: device_number
      | same |
      The number of the partition that runs.
    replica_id -> result: device_number
      | same |
      The number of the replica that runs.
    """,
    rules={
        "iota": _verify_iota,
        "dynamic_iota": _verify_iota,
        "rng_bit_generator": _verify_rng_bit_generator,
    },
)
StableHLO.rows(
    """
    rng a: T[], b: T[], shape: [#r] {rng_distribution: distribution} -> result: T[*r]
      | distribution = rng_distribution |
      Random numbers between `a` and `b`, or of mean `a` and deviation `b`.
    """,
    traits=(),
)
