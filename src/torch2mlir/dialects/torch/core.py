"""The torch dialect's hand-written ops: containers and value semantics here, the rest from its own files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import (
    SameVariadicOperandSize,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure

from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.constants import (
    ConstantBoolOp,
    ConstantDeviceOp,
    ConstantFloatOp,
    ConstantIntOp,
    ConstantNoneOp,
    ConstantNumberOp,
    ConstantOp,
    ConstantStrOp,
    LiteralOp,
    NonValueTensorLiteralOp,
    ValueTensorLiteralOp,
)
from torch2mlir.dialects.torch.control_flow import (
    TERMINATOR,
    PrimIfOp,
    PrimIfYieldOp,
    PrimLoopConditionOp,
    PrimLoopOp,
)
from torch2mlir.dialects.torch.ops import (
    PURE,
    FormattedTorchOp,
    TorchOp,
    parse_type_list,
    registry_op,
)
from torch2mlir.dialects.torch.symbolic import BindSymbolicShapeOp, SymbolicIntOp


class FunctionalTypeOp(TorchOp):
    """Base of ops that print their type as a function: ``torch.x %a, %b : (!t, !t) -> !t``."""

    traits = PURE

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = parse_type_list(parser)
        parser.parse_punctuation("->")
        return cls.create(
            operands=parser.resolve_operands(operands or (), types, parser.pos),
            result_types=parse_type_list(parser),
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : (")
        printer.print_list(self.operand_types, printer.print_attribute)
        printer.print_string(") -> ")
        printer.print_list(self.result_types, printer.print_attribute)


class PrimListConstructOp(FunctionalTypeOp):
    """``torch.prim.ListConstruct %a, %b : (!torch.int, !torch.int) -> !torch.list<int>``."""

    name = "torch.prim.ListConstruct"


class PromoteDtypesOp(FunctionalTypeOp):
    """The dtype PyTorch promotes operands of these ranks and dtypes to."""

    name = "torch.promote_dtypes"


@irdl_op_definition
class PrimDictConstructOp(FormattedTorchOp):
    """``torch.prim.DictConstruct keys(..) values(..) -> !torch.dict<str, int>``."""

    name = "torch.prim.DictConstruct"
    keys = var_operand_def()
    values = var_operand_def()
    result = result_def()
    irdl_options = (SameVariadicOperandSize(),)
    FORMAT: ClassVar[str] = (
        "`keys` `(` ($keys^ `:` type($keys))? `)` `values` `(` ($values^ `:` type($values))? `)` attr-dict "
        "`->` type($result)"
    )


class PureDefaultOp(TorchOp):
    """Base of hand-written ops in the default format without side effects."""

    traits = PURE


class PrimTupleConstructOp(PureDefaultOp):
    """``torch.prim.TupleConstruct %a, %b : !t, !t -> !torch.tuple<t, t>``."""

    name = "torch.prim.TupleConstruct"


class PrimListUnpackOp(PureDefaultOp):
    """``torch.prim.ListUnpack %l : !torch.list<int> -> !torch.int, !torch.int``."""

    name = "torch.prim.ListUnpack"


class HopFlexAttentionOp(PureDefaultOp):
    """``flex_attention``, its functions named by the attributes ``score_mod_fn`` and ``mask_mod_fn``."""

    name = "torch.hop_flex_attention"


class PerTensorAffineCreateOp(PureDefaultOp):
    """A quantized tensor from its integer representation, scale and zero point."""

    name = "torch.per_tensor_affine.create"


@irdl_op_definition
class LinearParamsCreateOp(FormattedTorchOp):
    """``torch.linear_params.create %weight, %bias : !torch.tensor, !torch.tensor``; the result type is implied."""

    name = "torch.linear_params.create"
    arguments = var_operand_def()
    result = result_def(t.LinearParamsType)
    traits = traits_def(Pure())
    FORMAT: ClassVar[str] = "$arguments attr-dict `:` type($arguments)"


class ValsemBernoulliFloatOp(TorchOp):
    """``aten.bernoulli_.float`` with value semantics."""

    name = "torch.valsem.aten.bernoulli.float"


class OperatorTerminatorOp(TorchOp):
    """Ends a region of ``torch.operator``."""

    name = "torch.operator_terminator"
    traits = TERMINATOR


class CastLikeOp(FormattedTorchOp):
    """Base of ``torch.x %a : !t to !u``."""

    operand = operand_def()
    result = result_def()
    traits = traits_def(Pure())
    FORMAT: ClassVar[str] = "$operand attr-dict `:` type($operand) `to` type($result)"


@irdl_op_definition
class DerefineOp(CastLikeOp):
    """Forgets that a value is more specific: ``!torch.int`` to ``!torch.optional<int>``."""

    name = "torch.derefine"


@irdl_op_definition
class TensorStaticInfoCastOp(CastLikeOp):
    """Adds or removes static shape or dtype information without changing the tensor."""

    name = "torch.tensor_static_info_cast"


class CopyOp(TorchOp):
    """Base of the copies between value tensors and tensors: prints the result type only."""

    operand_class: ClassVar[type[t.AnyTensorType]]

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operand = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        result = parser.parse_type()
        if not isinstance(result, t.AnyTensorType):
            parser.raise_error(f"expected a torch tensor type, got {result}")
        source = cls.operand_class.of(result.sizes, result.dtype)
        return cls.create(
            operands=[parser.resolve_operand(operand, source)],
            result_types=[result],
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.operands[0])
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.results[0].type)


class CopyToNonValueTensorOp(CopyOp):
    """A fresh mutable tensor with the contents of a value tensor."""

    name = "torch.copy.to_tensor"
    operand_class = t.ValueTensorType


class CopyToValueTensorOp(CopyOp):
    """The contents of a tensor at this point of the program."""

    name = "torch.copy.to_vtensor"
    operand_class = t.NonValueTensorType


@irdl_op_definition
class OverwriteTensorContentsOp(FormattedTorchOp):
    """``torch.overwrite.tensor.contents %value overwrites %tensor : !torch.vtensor, !torch.tensor``."""

    name = "torch.overwrite.tensor.contents"
    value = operand_def()
    overwritten = operand_def()
    FORMAT: ClassVar[str] = (
        "$value `overwrites` $overwritten attr-dict `:` type($value) `,` type($overwritten)"
    )


class OperatorOp(TorchOp):
    """``torch.operator "torch.mylib.op"(%a) : (!t) -> !t``: an op outside the registry."""

    name = "torch.operator"

    @classmethod
    def build_named(
        cls,
        op_name: str,
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        location: Any = None,
        regions: Sequence[Region] = (),
    ) -> Self:
        """The op called ``op_name``, ``torch.mylib.op.overload``."""
        return cls.create(
            operands=operands,
            result_types=result_types,
            properties={"name": StringAttr(op_name)},
            location=location,
            regions=regions,
        )

    @property
    def op_name(self) -> str:
        """The operator's own name."""
        return self.properties["name"].data  # type: ignore[attr-defined]

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        op_name = parser.parse_str_literal()
        operands = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = parse_type_list(parser)
        parser.parse_punctuation("->")
        results = parse_type_list(parser)
        regions = list[Region]()
        while (region := parser.parse_optional_region()) is not None:
            regions.append(region)
            parser.parse_optional_punctuation(",")
        op = cls.build_named(
            op_name, parser.resolve_operands(operands, types, parser.pos), results, regions=regions
        )
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.op_name)
        printer.print_operands(self.operands)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_function_type(self.operand_types, self.result_types)
        for index, region in enumerate(self.regions):
            printer.print_string(", " if index else " ")
            printer.print_region(region)


@irdl_op_definition
class RuntimeAssertOp(FormattedTorchOp):
    """``torch.runtime.assert %ok, "message"``."""

    name = "torch.runtime.assert"
    condition = operand_def(t.BoolType)
    message = prop_def(StringAttr)
    FORMAT: ClassVar[str] = "$condition `,` $message attr-dict"


def build(
    name: str,
    operands: Sequence[SSAValue],
    result_types: Sequence[Attribute],
    location: Attribute | None = None,
) -> Operation:
    """A torch op by its name; one outside the registry becomes ``torch.operator``."""
    cls = registry_op(name)
    if cls is None:
        return OperatorOp.build_named(name, operands, result_types, location)
    return cls.create(operands=operands, result_types=result_types, location=location)  # type: ignore[arg-type]


OPS: list[type[Operation]] = [
    op
    for op in list(globals().values())
    if isinstance(op, type) and issubclass(op, Operation) and "name" in vars(op)
]
"""The ops defined or named here; their bases have no name."""

__all__ = [
    "BindSymbolicShapeOp",
    "CastLikeOp",
    "ConstantBoolOp",
    "ConstantDeviceOp",
    "ConstantFloatOp",
    "ConstantIntOp",
    "ConstantNoneOp",
    "ConstantNumberOp",
    "ConstantOp",
    "ConstantStrOp",
    "CopyOp",
    "CopyToNonValueTensorOp",
    "CopyToValueTensorOp",
    "DerefineOp",
    "FunctionalTypeOp",
    "HopFlexAttentionOp",
    "LinearParamsCreateOp",
    "LiteralOp",
    "NonValueTensorLiteralOp",
    "OPS",
    "build",
    "OperatorOp",
    "OperatorTerminatorOp",
    "OverwriteTensorContentsOp",
    "PerTensorAffineCreateOp",
    "PrimDictConstructOp",
    "PrimIfOp",
    "PrimIfYieldOp",
    "PrimListConstructOp",
    "PrimListUnpackOp",
    "PrimLoopConditionOp",
    "PrimLoopOp",
    "PrimTupleConstructOp",
    "PromoteDtypesOp",
    "PureDefaultOp",
    "RuntimeAssertOp",
    "SymbolicIntOp",
    "TensorStaticInfoCastOp",
    "ValsemBernoulliFloatOp",
    "ValueTensorLiteralOp",
]
