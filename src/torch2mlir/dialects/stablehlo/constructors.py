"""StableHLO ops that make tensors: constants, counters, random numbers."""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.dialects.builtin import IntegerAttr, IntegerType, TensorType
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, Pure

from torch2mlir.dialects.stablehlo import checks, syntax
from torch2mlir.dialects.stablehlo.enums import (
    RngAlgorithmAttr,
    RngDistributionAttr,
)
from torch2mlir.dialects.stablehlo.syntax import SAME, Clause, HloOp, TypeSyntax


class HloConstantOp(HloOp):
    """A literal: ``stablehlo.constant dense<1.0> : tensor<2xf32>``.

    The value is any attribute whose ``type`` (if it has one) is the result's: a builtin ``dense`` or
    ``dense_resource``, or an attribute that keeps its numbers elsewhere.
    """

    value = prop_def(Attribute)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def print(self, printer: Printer) -> None:
        if self._value_type() != self.result.type:
            # MLIR's form for a value stored in another type than the result's (quantized).
            printer.print_string("() ")
            with printer.in_angle_brackets():
                printer.print_attr_dict(self.properties)
            printer.print_op_attributes(self.attributes)
            printer.print_string(f" : {syntax.function_type_text(self)}")
            return
        printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        printer.print_attribute(self.value)

    def _value_type(self) -> Attribute:
        return getattr(self.value, "type", self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        if parser.parse_optional_punctuation("("):
            parser.parse_punctuation(")")
            properties = parser.parse_optional_properties_dict()
            attributes = dict(parser.parse_optional_attr_dict())
            signature = syntax.parse_function_signature(parser)
            return syntax.build(cls, parser, [], signature, properties, attributes)
        attributes = dict(parser.parse_optional_attr_dict())
        position = parser.pos
        value = parser.parse_attribute()
        type_ = getattr(value, "type", None)
        if not isinstance(type_, TensorType):
            parser.raise_error("expected elements of a tensor type", position)
        signature = syntax.Signature([], [type_])
        return syntax.build(cls, parser, [], signature, {"value": value}, attributes)

    def verify_(self) -> None:
        type_ = self._value_type()
        fits = isinstance(type_, TensorType) and checks.same_shape(
            type_.get_shape(), checks.shape_of(self.result)
        )
        checks.require(fits, f"value of type {type_} does not fit a result of {self.result.type}")


class IsConstant(ConstantLike):
    """The result is the ``value`` property."""

    @classmethod
    def get_constant_value(cls, op: HloConstantOp) -> Attribute:  # type: ignore[override]
        """The literal."""
        return op.value


@irdl_op_definition
class ConstantOp(HloConstantOp):
    """A literal."""

    name = "stablehlo.constant"

    traits = traits_def(IsConstant())


IOTA_CLAUSES = (syntax.i64_clause("dim", "iota_dimension"),)


def _verify_iota(result: TensorType, dimension: int) -> None:
    rank = result.get_num_dims()
    checks.require(0 <= dimension < rank, f"iota_dimension {dimension} must be in [0, {rank})")


@irdl_op_definition
class IotaOp(HloOp):
    """Each element is its index along one dimension."""

    name = "stablehlo.iota"
    CLAUSES: ClassVar[tuple[Clause, ...]] = IOTA_CLAUSES
    TYPES: ClassVar[TypeSyntax] = SAME

    iota_dimension = prop_def(IntegerAttr)
    output = result_def(TensorType)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        _verify_iota(checks.tensor_type(self.output), self.iota_dimension.value.data)


@irdl_op_definition
class DynamicIotaOp(HloOp):
    """``iota`` whose shape is an operand."""

    name = "stablehlo.dynamic_iota"
    CLAUSES: ClassVar[tuple[Clause, ...]] = IOTA_CLAUSES

    output_shape = operand_def(TensorType)
    iota_dimension = prop_def(IntegerAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        _verify_iota(checks.tensor_type(self.result), self.iota_dimension.value.data)
        checks.require_shape(self.output_shape, [len(checks.shape_of(self.result))], "output_shape")


@irdl_op_definition
class RngOp(HloOp):
    """Random numbers between `a` and `b`, or of mean `a` and deviation `b`."""

    name = "stablehlo.rng"
    CLAUSES: ClassVar[tuple[Clause, ...]] = (
        syntax.enum_clause("distribution", "rng_distribution", RngDistributionAttr),
    )

    a = operand_def(TensorType)
    b = operand_def(TensorType)
    shape = operand_def(TensorType)
    rng_distribution = prop_def(RngDistributionAttr)
    result = result_def(TensorType)

    def verify_(self) -> None:
        checks.require_shape(self.a, [], "a")
        checks.require_shape(self.b, [], "b")
        checks.require_shape(self.shape, [len(checks.shape_of(self.result))], "shape")
        element_type = checks.tensor_type(self.result).element_type
        checks.require_element_type(self.a, element_type, "a")
        checks.require_element_type(self.b, element_type, "b")


@irdl_op_definition
class RngBitGeneratorOp(HloOp):
    """Random bits, and the generator's next state."""

    name = "stablehlo.rng_bit_generator"
    CLAUSES: ClassVar[tuple[Clause, ...]] = (
        syntax.enum_clause("algorithm", "rng_algorithm", RngAlgorithmAttr),
    )

    initial_state = operand_def(TensorType)
    rng_algorithm = prop_def(RngAlgorithmAttr)
    output_state = result_def(TensorType)
    output = result_def(TensorType)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        checks.require(
            checks.compatible_types(self.initial_state.type, self.output_state.type),
            "initial_state and output_state must have one type",
        )


class DeviceNumberOp(HloOp):
    """A number of the device the program runs on."""

    TYPES: ClassVar[TypeSyntax] = SAME

    result = result_def(TensorType.constr(IntegerType))
    traits = traits_def(Pure())


@irdl_op_definition
class PartitionIdOp(DeviceNumberOp):
    """Number of the partition this is."""

    name = "stablehlo.partition_id"


@irdl_op_definition
class ReplicaIdOp(DeviceNumberOp):
    """Number of the replica this is."""

    name = "stablehlo.replica_id"


OPERATIONS = (
    ConstantOp,
    DynamicIotaOp,
    IotaOp,
    PartitionIdOp,
    ReplicaIdOp,
    RngBitGeneratorOp,
    RngOp,
)
