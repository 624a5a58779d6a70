"""StableHLO ops that make tensors: constants, counters, random numbers."""

from __future__ import annotations

from typing import Self

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, OpTrait, Pure

from torch2mlir.dialects.assembly import Read, created, functional_text, parse_functional
from torch2mlir.dialects.rows import Row, RowOp
from torch2mlir.dialects.stablehlo import checks
from torch2mlir.dialects.stablehlo.kinds import SAME, StableHLO, syntax


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


def _verify_constant(op: RowOp) -> None:
    type_ = _value_type(op)
    fits = isinstance(type_, TensorType) and checks.same_shape(
        type_.get_shape(), checks.shape_of(op.result)
    )
    checks.require(fits, f"value of type {type_} does not fit a result of {op.result.type}")


def constant(*traits: OpTrait) -> Row:
    """A literal."""
    signature = "{value: any} -> result"
    return Row("constant", signature, None, _verify_constant, "A literal.", traits, ConstantBase)


def _verify_iota(op: RowOp) -> None:
    rank, dimension = len(checks.shape_of(op.results[0])), op.iota_dimension.value.data
    checks.require(0 <= dimension < rank, f"iota_dimension {dimension} must be in [0, {rank})")
    if op.operands:
        checks.require_shape(op.output_shape, [rank], "output_shape")


def _verify_rng(op: RowOp) -> None:
    checks.require_shape(op.a, [], "a")
    checks.require_shape(op.b, [], "b")
    checks.require_shape(op.shape, [len(checks.shape_of(op.result))], "shape")
    element_type = checks.tensor_type(op.result).element_type
    checks.require_element_type(op.a, element_type, "a")
    checks.require_element_type(op.b, element_type, "b")


def _verify_rng_bit_generator(op: RowOp) -> None:
    checks.require(
        checks.compatible_types(op.initial_state.type, op.output_state.type),
        "initial_state and output_state must have one type",
    )


StableHLO.add(
    {
        "ConstantOp": constant(ConstantLike(), Pure()),
        "IotaOp": Row(
            "iota",
            "{iota_dimension: i64} -> output",
            syntax("same", dim="iota_dimension"),
            _verify_iota,
            "Each element is its index along one dimension.",
        ),
        "DynamicIotaOp": Row(
            "dynamic_iota",
            "output_shape {iota_dimension: i64} -> result",
            syntax(dim="iota_dimension"),
            _verify_iota,
            "``iota`` whose shape is an operand.",
        ),
        "RngOp": Row(
            "rng",
            "a, b, shape {rng_distribution: distribution} -> result",
            syntax(distribution="rng_distribution"),
            _verify_rng,
            "Random numbers between `a` and `b`, or of mean `a` and deviation `b`.",
            traits=(),
        ),
        "RngBitGeneratorOp": Row(
            "rng_bit_generator",
            "initial_state {rng_algorithm: rng_algorithm} -> output_state, output",
            syntax(algorithm="rng_algorithm"),
            _verify_rng_bit_generator,
            "Random bits, and the generator's next state.",
        ),
        "PartitionIdOp": Row("partition_id", "-> result: device_number", SAME),
        "ReplicaIdOp": Row("replica_id", "-> result: device_number", SAME),
    }
)
