"""The torch dialect's hand-written ops: containers, TorchScript's control flow and value semantics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    SameVariadicOperandSize,
    irdl_op_definition,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects.rows import FormattedOp, FormattedRowOp, Kind, op_classes
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.constants import ConstantBoolOp as ConstantBoolOp
from torch2mlir.dialects.torch.constants import ConstantDeviceOp as ConstantDeviceOp
from torch2mlir.dialects.torch.constants import ConstantFloatOp as ConstantFloatOp
from torch2mlir.dialects.torch.constants import ConstantIntOp as ConstantIntOp
from torch2mlir.dialects.torch.constants import ConstantNoneOp as ConstantNoneOp
from torch2mlir.dialects.torch.constants import ConstantNumberOp as ConstantNumberOp
from torch2mlir.dialects.torch.constants import ConstantOp as ConstantOp
from torch2mlir.dialects.torch.constants import ConstantStrOp as ConstantStrOp
from torch2mlir.dialects.torch.constants import LiteralOp as LiteralOp
from torch2mlir.dialects.torch.constants import NonValueTensorLiteralOp as NonValueTensorLiteralOp
from torch2mlir.dialects.torch.constants import ValueTensorLiteralOp as ValueTensorLiteralOp
from torch2mlir.dialects.torch.ops import UsualOp, parse_type_list, registry_op
from torch2mlir.dialects.torch.symbolic import BindSymbolicShapeOp as BindSymbolicShapeOp
from torch2mlir.dialects.torch.symbolic import SymbolicIntOp as SymbolicIntOp

KINDS: dict[str, Kind] = {
    "tensor": Kind(),
    "bool": Kind(t.BoolType),
    "params": Kind(t.LinearParamsType),
    "text": Kind(StringAttr),
}

# --- values --------------------------------------------------------------------------------------

PrimListConstructOp, PromoteDtypesOp, LinearParamsCreateOp = op_classes(
    "torch",
    KINDS,
    """
    prim.ListConstruct arguments* -> result
      | $arguments attr-dict `:` functional-type($arguments, $result) |
      ``torch.prim.ListConstruct %a, %b : (!torch.int, !torch.int) -> !torch.list<int>``.
    promote_dtypes ranks, dtypes -> result
      | $ranks `,` $dtypes attr-dict `:` functional-type(operands, results) |
      The dtype PyTorch promotes operands of these ranks and dtypes to.
    linear_params.create arguments* -> result: params
      | $arguments attr-dict `:` type($arguments) |
      ``torch.linear_params.create %weight, %bias : !torch.tensor, !torch.tensor``; the result type is implied.
    """,
)
PrimTupleConstructOp, PrimListUnpackOp, HopFlexAttentionOp, PerTensorAffineCreateOp = op_classes(
    "torch",
    KINDS,
    """
    prim.TupleConstruct arguments* -> result
      ``torch.prim.TupleConstruct %a, %b : !t, !t -> !torch.tuple<t, t>``.
    prim.ListUnpack operand -> outputs*
      ``torch.prim.ListUnpack %l : !torch.list<int> -> !torch.int, !torch.int``.
    hop_flex_attention arguments* -> outputs*
      ``flex_attention``, its functions named by the attributes ``score_mod_fn`` and ``mask_mod_fn``.
    per_tensor_affine.create representation, scale, zero_point -> result
      A quantized tensor from its integer representation, scale and zero point.
    """,
    (Pure(),),
    UsualOp,
)
(ValsemBernoulliFloatOp,) = op_classes(
    "torch",
    KINDS,
    """
    valsem.aten.bernoulli.float arguments* -> outputs*
      ``aten.bernoulli_.float`` with value semantics.
    """,
    (),
    UsualOp,
)


class CastLikeOp(FormattedRowOp):
    """Base of ``torch.x %a : !t to !u``."""


DerefineOp, TensorStaticInfoCastOp = op_classes(
    "torch",
    KINDS,
    """
    derefine operand -> result
      | $operand attr-dict `:` type($operand) `to` type($result) |
      Forgets that a value is more specific: ``!torch.int`` to ``!torch.optional<int>``.
    tensor_static_info_cast operand -> result
      | $operand attr-dict `:` type($operand) `to` type($result) |
      Adds or removes static shape or dtype information without changing the tensor.
    """,
    (Pure(),),
    CastLikeOp,
)
(PrimDictConstructOp,) = op_classes(
    "torch",
    KINDS,
    """
    prim.DictConstruct keys*, values* -> result
      | `keys` `(` ($keys^ `:` type($keys))? `)` `values` `(` ($values^ `:` type($values))? `)` attr-dict
        `->` type($result) |
      ``torch.prim.DictConstruct keys(..) values(..) -> !torch.dict<str, int>``.
    """,
    (),
    options=(SameVariadicOperandSize(),),
)
OverwriteTensorContentsOp, RuntimeAssertOp = op_classes(
    "torch",
    KINDS,
    """
    overwrite.tensor.contents value, overwritten
      | $value `overwrites` $overwritten attr-dict `:` type($value) `,` type($overwritten) |
      ``torch.overwrite.tensor.contents %value overwrites %tensor : !torch.vtensor, !torch.tensor``.
    runtime.assert condition: bool {message: text}
      | $condition `,` $message attr-dict |
      ``torch.runtime.assert %ok, "message"``.
    """,
    (),
)


class CopyOp(IRDLOperation):
    """Base of the copies between value tensors and tensors: prints the result type only."""

    OPERAND: ClassVar[type[t.AnyTensorType]]
    operand = operand_def()
    result = result_def()

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operand = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        result = parser.parse_type()
        if not isinstance(result, t.AnyTensorType):
            parser.raise_error(f"expected a torch tensor type, got {result}")
        source = cls.OPERAND.of(result.sizes, result.dtype)
        return cls.create(
            operands=[parser.resolve_operand(operand, source)],
            result_types=[result],
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.operand)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class CopyToNonValueTensorOp(CopyOp):
    """A fresh mutable tensor with the contents of a value tensor."""

    name = "torch.copy.to_tensor"
    OPERAND: ClassVar[type[t.AnyTensorType]] = t.ValueTensorType


@irdl_op_definition
class CopyToValueTensorOp(CopyOp):
    """The contents of a tensor at this point of the program."""

    name = "torch.copy.to_vtensor"
    OPERAND: ClassVar[type[t.AnyTensorType]] = t.NonValueTensorType


# --- regions -------------------------------------------------------------------------------------


@irdl_op_definition
class PrimIfOp(FormattedOp):
    """``torch.prim.If %c -> (!t) { .. } else { .. }``."""

    name = "torch.prim.If"
    condition = operand_def(t.BoolType)
    then = region_def()
    otherwise = region_def()
    outputs = var_result_def()
    FORMAT: ClassVar[str] = (
        "$condition `->` `(` (type($outputs)^)? `)` $then `else` $otherwise attr-dict"
    )

    def verify_(self) -> None:
        for region in self.regions:
            _require_end(self, region, "torch.prim.If.yield", 0)


@irdl_op_definition
class PrimLoopOp(FormattedOp):
    """``torch.prim.Loop %n, %c, init(%a) { ^bb0(%i, %x): .. } : (!torch.int, !torch.bool, !t) -> !t``."""

    name = "torch.prim.Loop"
    trip_count = operand_def(t.IntType)
    condition = operand_def(t.BoolType)
    init = var_operand_def()
    body = region_def()
    outputs = var_result_def()
    FORMAT: ClassVar[str] = (
        "$trip_count `,` $condition `,` `init` `(` ($init^)? `)` $body attr-dict `:` functional-type(operands, results)"
    )

    def verify_(self) -> None:
        if len(self.init) != len(self.results):
            raise VerifyException(
                "requires a trip count, a condition and an operand for every result"
            )
        if not self.body.blocks or len(self.body.block.args) != len(self.results) + 1:
            raise VerifyException(
                "requires a body of the loop's counter and an argument for every result"
            )
        _require_end(self, self.body, "torch.prim.Loop.condition", 1)


def _require_end(op: Operation, region: Region, name: str, more: int) -> None:
    last = region.block.last_op if region.blocks else None
    if last is None or last.name != name:
        raise VerifyException(f"requires regions that end in '{name}'")
    if len(last.operands) != len(op.results) + more:
        raise VerifyException(
            f"has {len(op.results)} results, but a region yields {len(last.operands) - more} values"
        )


@irdl_op_definition
class PrimLoopConditionOp(FormattedOp):
    """``torch.prim.Loop.condition %c, iter(%x : !t)``: ends the body of ``torch.prim.Loop``."""

    name = "torch.prim.Loop.condition"
    condition = operand_def(t.BoolType)
    values = var_operand_def()
    traits = traits_def(IsTerminator(), HasParent(PrimLoopOp))
    FORMAT: ClassVar[str] = "$condition `,` `iter` `(` ($values^ `:` type($values))? `)` attr-dict"


@irdl_op_definition
class OperatorOp(IRDLOperation):
    """``torch.operator "torch.mylib.op"(%a) : (!t) -> !t``: an op outside the registry."""

    name = "torch.operator"
    named = prop_def(StringAttr, prop_name="name")
    arguments = var_operand_def()
    outputs = var_result_def()
    bodies = var_region_def()

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
        return self.named.data

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


(PrimIfYieldOp,) = op_classes(
    "torch",
    KINDS,
    """
    prim.If.yield arguments*
      Ends a branch of ``torch.prim.If``.
    """,
    (IsTerminator(), HasParent(PrimIfOp)),
    UsualOp,
)
(OperatorTerminatorOp,) = op_classes(
    "torch",
    KINDS,
    """
    operator_terminator arguments*
      Ends a region of ``torch.operator``.
    """,
    (IsTerminator(), HasParent(OperatorOp)),
    UsualOp,
)


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
