"""The torch dialect's hand-written ops: constants, literals, containers, symbols, value semantics, control flow."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from xdsl.dialects.builtin import (
    AffineMapAttr,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, OpTraits, Region, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.ops import IMPURE, PURE, TorchOp, parse_type_list
from torch2mlir.dialects.weights import WeightAttr

CONSTANT = OpTraits(lambda: (Pure(), ConstantLike()))
TERMINATOR = OpTraits(lambda: (IsTerminator(),))


class ConstantOp(TorchOp):
    """Base of the scalar constants; ``value`` is the Python value."""

    traits = CONSTANT
    result_type: ClassVar[Attribute]

    @classmethod
    def of(cls, attribute: Attribute, location: Any = None) -> ConstantOp:
        """The constant with this ``value`` attribute."""
        return cls.create(
            result_types=[cls.result_type], properties={"value": attribute}, location=location
        )

    @classmethod
    def parse(cls, parser: Parser) -> ConstantOp:
        value = cls.parse_value(parser)
        op = cls.of(value)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    @classmethod
    def parse_value(cls, parser: Parser) -> Attribute:
        """Parses the constant's own spelling."""
        raise NotImplementedError

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        self.print_value(printer)
        printer.print_op_attributes(self.attributes)

    def print_value(self, printer: Printer) -> None:
        """Prints the constant's own spelling."""
        printer.print_string(str(self.value))

    @property
    def value(self) -> Any:
        """The constant as a Python value."""
        return self.properties["value"].data  # type: ignore[attr-defined]


class ConstantIntOp(ConstantOp):
    """``torch.constant.int 3``."""

    name = "torch.constant.int"
    result_type = t.int_type

    @classmethod
    def parse_value(cls, parser: Parser) -> Attribute:
        return IntegerAttr(parser.parse_integer(allow_boolean=False), i64)

    @property
    def value(self) -> int:
        return self.properties["value"].value.data  # type: ignore[attr-defined, no-any-return]


class ConstantBoolOp(ConstantOp):
    """``torch.constant.bool true``."""

    name = "torch.constant.bool"
    result_type = t.bool_type

    @classmethod
    def parse_value(cls, parser: Parser) -> Attribute:
        return IntegerAttr(int(parser.parse_boolean()), i1)

    def print_value(self, printer: Printer) -> None:
        printer.print_string("true" if self.value else "false")

    @property
    def value(self) -> bool:
        return bool(self.properties["value"].value.data)  # type: ignore[attr-defined]


class ConstantFloatOp(ConstantOp):
    """``torch.constant.float 1.5``; infinities and NaN in hexadecimal."""

    name = "torch.constant.float"
    result_type = t.float_type

    @classmethod
    def parse_value(cls, parser: Parser) -> Attribute:
        number = parser.parse_number()
        if isinstance(number, int):  # hexadecimal: the bits of the double
            number = struct.unpack("<d", struct.pack("<Q", number))[0]
        return FloatAttr(number, f64)

    def print_value(self, printer: Printer) -> None:
        printer.print_float(self.value, f64)

    @property
    def value(self) -> float:
        return self.properties["value"].value.data  # type: ignore[attr-defined, no-any-return]


class ConstantStrOp(ConstantOp):
    """``torch.constant.str "abc"``."""

    name = "torch.constant.str"
    result_type = t.str_type

    @classmethod
    def parse_value(cls, parser: Parser) -> Attribute:
        return StringAttr(parser.parse_str_literal())

    def print_value(self, printer: Printer) -> None:
        printer.print_string_literal(self.value)


class ConstantDeviceOp(ConstantStrOp):
    """``torch.constant.device "cpu"``."""

    name = "torch.constant.device"
    result_type = t.device_type


class ConstantNumberOp(ConstantOp):
    """``"torch.constant.number"() <{value = 3 : i64}> : () -> !torch.number``; generic form only, as in Torch-MLIR."""

    name = "torch.constant.number"
    result_type = t.number_type
    print = Operation.print  # type: ignore[assignment]

    @property
    def value(self) -> int | float:
        return self.properties["value"].value.data  # type: ignore[attr-defined, no-any-return]


class ConstantNoneOp(ConstantOp):
    """``torch.constant.none``."""

    name = "torch.constant.none"
    result_type = t.none_type

    @classmethod
    def parse(cls, parser: Parser) -> ConstantNoneOp:
        return cls.create(
            result_types=[cls.result_type], attributes=parser.parse_optional_attr_dict()
        )

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)

    @property
    def value(self) -> None:
        return None


class LiteralOp(TorchOp):
    """``torch.vtensor.literal(dense<..> : tensor<2xf32>) : !torch.vtensor<[2],f32>``."""

    traits = CONSTANT

    @property
    def value(self) -> Attribute:
        """The elements: a dense attribute, a resource reference or a weight in memory."""
        return self.properties["value"]

    @classmethod
    def parse(cls, parser: Parser) -> LiteralOp:
        with parser.in_parens():
            value = parser.parse_attribute()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        return cls.create(
            result_types=[parser.parse_type()], properties={"value": value}, attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        printer.print_string("(")
        printer.print_attribute(self.value)
        printer.print_string(")")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.results[0].type)

    def verify_(self) -> None:
        value = self.value
        if not isinstance(value, WeightAttr | DenseIntOrFPElementsAttr | DenseResourceAttr):
            raise VerifyException(f"{self.name} holds a dense literal, got {value}")
        type = self.results[0].type
        if (
            isinstance(type, t.AnyTensorType)
            and isinstance(value.type, TensorType)
            and type.sizes is not None
            and list(type.sizes) != list(value.type.get_shape())
        ):
            raise VerifyException(f"literal of type {value.type} cannot be a {type}")


class ValueTensorLiteralOp(LiteralOp):
    """A literal with value semantics."""

    name = "torch.vtensor.literal"


class NonValueTensorLiteralOp(LiteralOp):
    """A literal that may be mutated."""

    name = "torch.tensor.literal"


class FunctionalTypeOp(TorchOp):
    """Base of ops that print their type as a function: ``torch.x %a, %b : (!t, !t) -> !t``."""

    traits = PURE

    @classmethod
    def parse(cls, parser: Parser) -> TorchOp:
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


class PrimDictConstructOp(TorchOp):
    """``torch.prim.DictConstruct keys(..) values(..) -> !torch.dict<str, int>``."""

    name = "torch.prim.DictConstruct"

    @classmethod
    def parse(cls, parser: Parser) -> TorchOp:
        operands = list[SSAValue]()
        for keyword in ("keys", "values"):
            parser.parse_keyword(keyword)
            with parser.in_parens():
                names = parser.parse_optional_undelimited_comma_separated_list(
                    parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
                )
                if names:
                    parser.parse_punctuation(":")
                    types = parse_type_list(parser)
                    operands.extend(parser.resolve_operands(names, types, parser.pos))
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation("->")
        return cls.create(
            operands=operands, result_types=[parser.parse_type()], attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        half = len(self.operands) // 2
        for keyword, group in (("keys", self.operands[:half]), ("values", self.operands[half:])):
            printer.print_string(f" {keyword}(")
            printer.print_list(group, printer.print_ssa_value)
            if group:
                printer.print_string(" : ")
                printer.print_list([v.type for v in group], printer.print_attribute)
            printer.print_string(")")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" -> ")
        printer.print_attribute(self.results[0].type)


class PureDefaultOp(TorchOp):
    """Base of hand-written ops in the default format without side effects."""

    traits = PURE


class PrimTupleConstructOp(PureDefaultOp):
    """``torch.prim.TupleConstruct %a, %b : !t, !t -> !torch.tuple<t, t>``."""

    name = "torch.prim.TupleConstruct"


class PrimListUnpackOp(PureDefaultOp):
    """``torch.prim.ListUnpack %l : !torch.list<int> -> !torch.int, !torch.int``."""

    name = "torch.prim.ListUnpack"


class CastLikeOp(TorchOp):
    """Base of ``torch.x %a : !t to !u``."""

    traits = PURE

    @classmethod
    def parse(cls, parser: Parser) -> TorchOp:
        operand = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source = parser.parse_type()
        parser.parse_keyword("to")
        return cls.create(
            operands=[parser.resolve_operand(operand, source)],
            result_types=[parser.parse_type()],
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.operands[0])
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.operands[0].type)
        printer.print_string(" to ")
        printer.print_attribute(self.results[0].type)


class DerefineOp(CastLikeOp):
    """Forgets that a value is more specific: ``!torch.int`` to ``!torch.optional<int>``."""

    name = "torch.derefine"


class TensorStaticInfoCastOp(CastLikeOp):
    """Adds or removes static shape or dtype information without changing the tensor."""

    name = "torch.tensor_static_info_cast"


class CopyOp(TorchOp):
    """Base of the copies between value tensors and tensors: prints the result type only."""

    operand_class: ClassVar[Callable[..., t.AnyTensorType]]

    @classmethod
    def parse(cls, parser: Parser) -> TorchOp:
        operand = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        result = parser.parse_type()
        if not isinstance(result, t.AnyTensorType):
            parser.raise_error(f"expected a torch tensor type, got {result}")
        source = cls.operand_class(result.sizes, result.dtype)
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


class OverwriteTensorContentsOp(TorchOp):
    """``torch.overwrite.tensor.contents %value overwrites %tensor : !torch.vtensor, !torch.tensor``."""

    name = "torch.overwrite.tensor.contents"

    @classmethod
    def parse(cls, parser: Parser) -> TorchOp:
        value = parser.parse_unresolved_operand()
        parser.parse_keyword("overwrites")
        overwritten = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = parse_type_list(parser)
        operands = parser.resolve_operands([value, overwritten], types, parser.pos)
        return cls.create(operands=operands, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.operands[0])
        printer.print_string(" overwrites ")
        printer.print_ssa_value(self.operands[1])
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list(self.operand_types, printer.print_attribute)


class SymbolicIntOp(TorchOp):
    """``torch.symbolic_int "s0" {min_val = 2, max_val = 64} : !torch.int``: a symbol and its range."""

    name = "torch.symbolic_int"
    traits = IMPURE  # kept although nothing uses it: it carries the symbol's range

    @classmethod
    def of(cls, symbol: str, minimum: int, maximum: int) -> SymbolicIntOp:
        """The op declaring ``symbol`` in ``[minimum, maximum]``."""
        return cls.create(
            result_types=[t.int_type],
            properties={
                "symbol_name": StringAttr(symbol),
                "min_val": IntegerAttr(minimum, i64),
                "max_val": IntegerAttr(maximum, i64),
            },
        )

    @property
    def symbol(self) -> str:
        """The symbol's name."""
        return self.properties["symbol_name"].data  # type: ignore[attr-defined, no-any-return]

    @property
    def range(self) -> tuple[int, int]:
        """Smallest and largest value."""
        low, high = self.properties["min_val"], self.properties["max_val"]
        return low.value.data, high.value.data  # type: ignore[attr-defined]

    @classmethod
    def parse(cls, parser: Parser) -> SymbolicIntOp:
        symbol = parser.parse_str_literal()
        bounds = dict[str, int]()

        def bound() -> None:
            key = parser.parse_identifier()
            parser.parse_punctuation("=")
            bounds[key] = parser.parse_integer()
            if parser.parse_optional_punctuation(":"):
                parser.parse_type()

        parser.parse_comma_separated_list(parser.Delimiter.BRACES, bound)
        if set(bounds) != {"min_val", "max_val"}:
            parser.raise_error("torch.symbolic_int wants {min_val = .., max_val = ..}")
        parser.parse_punctuation(":")
        parser.parse_type()
        return cls.of(symbol, bounds["min_val"], bounds["max_val"])

    def print(self, printer: Printer) -> None:
        low, high = self.range
        printer.print_string(" ")
        printer.print_string_literal(self.symbol)
        printer.print_string(f" {{min_val = {low}, max_val = {high}}} : !torch.int")


class BindSymbolicShapeOp(TorchOp):
    """``torch.bind_symbolic_shape %x, [%s0], affine_map<()[s0] -> (s0, 8)> : !torch.vtensor<[?,8],f32>``."""

    name = "torch.bind_symbolic_shape"

    @classmethod
    def parse(cls, parser: Parser) -> TorchOp:
        operand = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        symbols = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, parser.parse_unresolved_operand
        )
        parser.parse_punctuation(",")
        expressions = parser.parse_attribute()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        operands = [
            parser.resolve_operand(operand, type),
            *(parser.resolve_operand(s, t.int_type) for s in symbols),
        ]
        return cls.create(
            operands=operands,
            properties={"shape_expressions": expressions},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.operands[0])
        printer.print_string(", [")
        printer.print_list(self.operands[1:], printer.print_ssa_value)
        printer.print_string("], ")
        printer.print_attribute(self.properties["shape_expressions"])
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.operands[0].type)

    def verify_(self) -> None:
        if not isinstance(self.properties.get("shape_expressions"), AffineMapAttr):
            raise VerifyException("torch.bind_symbolic_shape wants an affine map")


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
    ) -> OperatorOp:
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
        return self.properties["name"].data  # type: ignore[attr-defined, no-any-return]

    @classmethod
    def parse(cls, parser: Parser) -> OperatorOp:
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
            op_name,
            parser.resolve_operands(operands, types, parser.pos),
            results,
            regions=regions,
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


class RuntimeAssertOp(TorchOp):
    """``torch.runtime.assert %ok, "message"``."""

    name = "torch.runtime.assert"

    @classmethod
    def parse(cls, parser: Parser) -> TorchOp:
        condition = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        message = StringAttr(parser.parse_str_literal())
        return cls.create(
            operands=[parser.resolve_operand(condition, t.bool_type)],
            properties={"message": message},
            attributes=parser.parse_optional_attr_dict(),
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.operands[0])
        printer.print_string(", ")
        printer.print_attribute(self.properties["message"])
        printer.print_op_attributes(self.attributes)


class PrimIfOp(TorchOp):
    """``torch.prim.If %c -> (!t) { .. } else { .. }``."""

    name = "torch.prim.If"

    @classmethod
    def parse(cls, parser: Parser) -> TorchOp:
        condition = parser.parse_unresolved_operand()
        parser.parse_punctuation("->")
        results = parse_type_list(parser)
        then = parser.parse_region()
        parser.parse_keyword("else")
        otherwise = parser.parse_region()
        return cls.create(
            operands=[parser.resolve_operand(condition, t.bool_type)],
            result_types=results,
            regions=[then, otherwise],
            attributes=parser.parse_optional_attr_dict(),
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.operands[0])
        printer.print_string(" -> (")
        printer.print_list(self.result_types, printer.print_attribute)
        printer.print_string(") ")
        printer.print_region(self.regions[0], print_entry_block_args=False)
        printer.print_string(" else ")
        printer.print_region(self.regions[1], print_entry_block_args=False)
        printer.print_op_attributes(self.attributes)


class PrimIfYieldOp(TorchOp):
    """Ends a branch of ``torch.prim.If``."""

    name = "torch.prim.If.yield"
    traits = TERMINATOR


class PrimLoopOp(TorchOp):
    """``torch.prim.Loop %n, %c, init(%a) { ^bb0(%i, %x): .. } : (!torch.int, !torch.bool, !t) -> !t``."""

    name = "torch.prim.Loop"

    @classmethod
    def parse(cls, parser: Parser) -> TorchOp:
        trip_count = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        condition = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        parser.parse_keyword("init")
        init = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        region = parser.parse_region()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = parse_type_list(parser)
        parser.parse_punctuation("->")
        operands = parser.resolve_operands([trip_count, condition, *init], types, parser.pos)
        return cls.create(
            operands=operands,
            result_types=parse_type_list(parser),
            regions=[region],
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands[:2], printer.print_ssa_value)
        printer.print_string(", init(")
        printer.print_list(self.operands[2:], printer.print_ssa_value)
        printer.print_string(") ")
        printer.print_region(self.regions[0])
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_function_type(self.operand_types, self.result_types)


class PrimLoopConditionOp(TorchOp):
    """``torch.prim.Loop.condition %c, iter(%x : !t)``: ends the body of ``torch.prim.Loop``."""

    name = "torch.prim.Loop.condition"
    traits = TERMINATOR

    @classmethod
    def parse(cls, parser: Parser) -> TorchOp:
        condition = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        parser.parse_keyword("iter")
        operands = [parser.resolve_operand(condition, t.bool_type)]
        with parser.in_parens():
            values = parser.parse_optional_undelimited_comma_separated_list(
                parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
            )
            if values:
                parser.parse_punctuation(":")
                operands += parser.resolve_operands(values, parse_type_list(parser), parser.pos)
        return cls.create(operands=operands, attributes=parser.parse_optional_attr_dict())

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.operands[0])
        printer.print_string(", iter(")
        if values := self.operands[1:]:
            printer.print_list(values, printer.print_ssa_value)
            printer.print_string(" : ")
            printer.print_list([v.type for v in values], printer.print_attribute)
        printer.print_string(")")
        printer.print_op_attributes(self.attributes)


CONSTANT_OPS: list[type[ConstantOp]] = [
    ConstantIntOp,
    ConstantBoolOp,
    ConstantFloatOp,
    ConstantStrOp,
    ConstantDeviceOp,
    ConstantNumberOp,
    ConstantNoneOp,
]
OPS: list[type[TorchOp]] = [
    *CONSTANT_OPS,
    ValueTensorLiteralOp,
    NonValueTensorLiteralOp,
    PrimListConstructOp,
    PrimDictConstructOp,
    PrimTupleConstructOp,
    PrimListUnpackOp,
    DerefineOp,
    TensorStaticInfoCastOp,
    CopyToNonValueTensorOp,
    CopyToValueTensorOp,
    OverwriteTensorContentsOp,
    SymbolicIntOp,
    BindSymbolicShapeOp,
    OperatorOp,
    RuntimeAssertOp,
    PrimIfOp,
    PrimIfYieldOp,
    PrimLoopOp,
    PrimLoopConditionOp,
]
