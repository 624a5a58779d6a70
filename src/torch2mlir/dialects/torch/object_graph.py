"""TorchScript's object graph and what it is globalized to: classes, modules with slots, global slots."""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    ArrayAttr,
    FlatSymbolRefAttr,
    StringAttr,
    SymbolNameConstraint,
    UnitAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    HasParent,
    IsTerminator,
    SingleBlockImplicitTerminator,
    SymbolOpInterface,
    ensure_terminator,
)

from torch2mlir.dialects.rows import FormattedOp
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.ops import parse_type_list


def _print_type(printer: Printer, type: Attribute) -> None:
    printer.print_string(" : ")
    printer.print_attribute(type)


@irdl_op_definition
class ClassTypeTerminatorOp(IRDLOperation):
    """Ends a class type; never printed."""

    name = "torch.class_type_terminator"
    traits = traits_def(IsTerminator())


@irdl_op_definition
class NnModuleTerminatorOp(IRDLOperation):
    """Ends a module object; never printed."""

    name = "torch.nn_module_terminator"
    traits = traits_def(IsTerminator())


@irdl_op_definition
class ClassTypeOp(IRDLOperation):
    """``torch.class_type @c { .. }``: the attributes and methods of a TorchScript class."""

    name = "torch.class_type"
    sym_name = prop_def(SymbolNameConstraint())
    body = region_def("single_block")
    traits = traits_def(SymbolOpInterface(), SingleBlockImplicitTerminator(ClassTypeTerminatorOp))

    def __post_init__(self) -> None:
        ensure_terminator(self, SingleBlockImplicitTerminator(ClassTypeTerminatorOp))

    @classmethod
    def parse(cls, parser: Parser) -> ClassTypeOp:
        name = parser.parse_symbol_name()
        return cls.create(properties={"sym_name": name}, regions=[parser.parse_region()])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" ")
        printer.print_region(self.body, print_block_terminators=False)


@irdl_op_definition
class AttrOp(FormattedOp):
    """``torch.attr private "b" : !torch.bool``: an attribute of a class."""

    name = "torch.attr"
    attr_name = prop_def(StringAttr, prop_name="name")
    type = prop_def(TypeAttribute)
    is_private = opt_prop_def(UnitAttr, prop_name="isPrivate")
    traits = traits_def(HasParent(ClassTypeOp))
    FORMAT: ClassVar[str] = "(`private` $isPrivate^)? $name `:` $type attr-dict"


@irdl_op_definition
class MethodOp(FormattedOp):
    """``torch.method "f", @f``: a method of a class and the function that implements it."""

    name = "torch.method"
    method_name = prop_def(StringAttr, prop_name="name")
    function = prop_def(FlatSymbolRefAttr)
    is_private = opt_prop_def(UnitAttr, prop_name="isPrivate")
    traits = traits_def(HasParent(ClassTypeOp))
    FORMAT: ClassVar[str] = "(`private` $isPrivate^)? $name `,` $function attr-dict"


@irdl_op_definition
class NnModuleOp(IRDLOperation):
    """``torch.nn_module { .. } : !torch.nn.Module<"c">``: an object of a class, with its slots."""

    name = "torch.nn_module"
    body = region_def("single_block")
    result = result_def(t.NnModuleType)
    traits = traits_def(SingleBlockImplicitTerminator(NnModuleTerminatorOp))

    def __post_init__(self) -> None:
        ensure_terminator(self, SingleBlockImplicitTerminator(NnModuleTerminatorOp))

    @classmethod
    def parse(cls, parser: Parser) -> NnModuleOp:
        region = parser.parse_region()
        parser.parse_punctuation(":")
        return cls.create(regions=[region], result_types=[parser.parse_type()])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_region(self.body, print_block_terminators=False)
        _print_type(printer, self.result.type)


@irdl_op_definition
class SlotOp(FormattedOp):
    """``torch.slot "b", %x : !torch.bool``: the value of an attribute of a module object."""

    name = "torch.slot"
    slot_name = prop_def(StringAttr, prop_name="name")
    value = operand_def()
    traits = traits_def(HasParent(NnModuleOp))
    FORMAT: ClassVar[str] = "$name `,` $value attr-dict `:` type($value)"


@irdl_op_definition
class GlobalSlotOp(IRDLOperation):
    """``torch.global_slot "private" @slot : !torch.int``: a global variable."""

    name = "torch.global_slot"
    sym_name = prop_def(SymbolNameConstraint())
    type_bound = prop_def(TypeAttribute, prop_name="typeBound")
    sym_visibility = opt_prop_def(StringAttr)
    traits = traits_def(SymbolOpInterface())

    @classmethod
    def parse(cls, parser: Parser) -> GlobalSlotOp:
        visibility = parser.parse_optional_str_literal()
        name = parser.parse_symbol_name()
        parser.parse_punctuation(":")
        properties: dict[str, Attribute] = {"sym_name": name, "typeBound": parser.parse_type()}
        if visibility is not None:
            properties["sym_visibility"] = StringAttr(visibility)
        return cls.create(properties=properties)

    def print(self, printer: Printer) -> None:
        if self.sym_visibility is not None:
            printer.print_string(" ")
            printer.print_attribute(self.sym_visibility)
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        _print_type(printer, self.type_bound)


@irdl_op_definition
class GlobalSlotGetOp(FormattedOp):
    """``torch.global_slot.get @slot : !torch.int``."""

    name = "torch.global_slot.get"
    slot = prop_def(FlatSymbolRefAttr)
    result = result_def()
    FORMAT: ClassVar[str] = "$slot attr-dict `:` type($result)"


@irdl_op_definition
class GlobalSlotSetOp(FormattedOp):
    """``torch.global_slot.set @slot = %x : !torch.int``."""

    name = "torch.global_slot.set"
    slot = prop_def(FlatSymbolRefAttr)
    value = operand_def()
    FORMAT: ClassVar[str] = "$slot `=` $value attr-dict `:` type($value)"


@irdl_op_definition
class InitializeGlobalSlotsOp(IRDLOperation):
    """``torch.initialize.global_slots [ @slot(%x : !torch.int) ]``: ends the module initializer."""

    name = "torch.initialize.global_slots"
    slot_names = prop_def(ArrayAttr[FlatSymbolRefAttr], prop_name="slotSymNames")
    initial_values = var_operand_def()
    traits = traits_def(IsTerminator())

    @classmethod
    def parse(cls, parser: Parser) -> InitializeGlobalSlotsOp:
        names, values = list[Attribute](), list[SSAValue]()
        parser.parse_punctuation("[")
        while parser.parse_optional_punctuation("]") is None:
            names.append(parser.parse_attribute())
            with parser.in_parens():
                value = parser.parse_unresolved_operand()
                parser.parse_punctuation(":")
                values.append(parser.resolve_operand(value, parser.parse_type()))
        return cls.create(operands=values, properties={"slotSymNames": ArrayAttr(names)})

    def print(self, printer: Printer) -> None:
        printer.print_string(" [")
        with printer.indented():
            for name, value in zip(self.slot_names.data, self.initial_values, strict=True):
                printer.print_string("\n")
                printer.print_attribute(name)
                printer.print_string("(")
                printer.print_ssa_value(value)
                _print_type(printer, value.type)
                printer.print_string(")")
        printer.print_string("\n]")


@irdl_op_definition
class GlobalSlotModuleInitializerOp(FormattedOp):
    """``torch.global_slot.module_initializer { .. }``: computes the initial values of the global slots."""

    name = "torch.global_slot.module_initializer"
    body = region_def("single_block")
    FORMAT: ClassVar[str] = "$body attr-dict"


@irdl_op_definition
class GetAttrOp(FormattedOp):
    """``torch.prim.GetAttr %m["name"] : !torch.nn.Module<"c"> -> !torch.int``."""

    name = "torch.prim.GetAttr"
    receiver = operand_def(t.NnModuleType)
    attr_name = prop_def(StringAttr, prop_name="name")
    result = result_def()
    FORMAT: ClassVar[str] = (
        "$receiver `` `[` $name `]` attr-dict `:` type($receiver) `->` type($result)"
    )


@irdl_op_definition
class SetAttrOp(FormattedOp):
    """``torch.prim.SetAttr %m["name"] = %v : !torch.nn.Module<"c">, !torch.int``."""

    name = "torch.prim.SetAttr"
    receiver = operand_def(t.NnModuleType)
    value = operand_def()
    attr_name = prop_def(StringAttr, prop_name="name")
    FORMAT: ClassVar[str] = (
        "$receiver `` `[` $name `]` `=` $value attr-dict `:` type($receiver) `,` type($value)"
    )


@irdl_op_definition
class CallMethodOp(FormattedOp):
    """``torch.prim.CallMethod %m["f"] (%a) : !torch.nn.Module<"c">, (!torch.int) -> !torch.int``."""

    name = "torch.prim.CallMethod"
    receiver = operand_def(t.NnModuleType)
    arguments = var_operand_def()
    method_name = prop_def(StringAttr, prop_name="name")
    result = result_def()
    FORMAT: ClassVar[str] = (
        "$receiver `` `[` $name `]` ` ` `(` $arguments `)` attr-dict `:` type($receiver) `,` "
        "functional-type($arguments, $result)"
    )


@irdl_op_definition
class StoreOp(FormattedOp):
    """``torch.prim.Store "q", %x : !torch.int``."""

    name = "torch.prim.Store"
    variable = prop_def(StringAttr, prop_name="name")
    value = operand_def()
    FORMAT: ClassVar[str] = "$name `,` $value attr-dict `:` type($value)"


@irdl_op_definition
class LoadOp(FormattedOp):
    """``torch.prim.Load "q" : !torch.int``."""

    name = "torch.prim.Load"
    variable = prop_def(StringAttr, prop_name="name")
    result = result_def()
    FORMAT: ClassVar[str] = "$name attr-dict `:` type($result)"


@irdl_op_definition
class CreateObjectOp(FormattedOp):
    """``torch.prim.CreateObject !torch.nn.Module<"c">``."""

    name = "torch.prim.CreateObject"
    result = result_def(t.NnModuleType)
    FORMAT: ClassVar[str] = "type($result) attr-dict"


@irdl_op_definition
class ToListOp(FormattedOp):
    """``torch.prim.tolist(%x) : !torch.vtensor<[2],f32> -> !torch.list<float>``."""

    name = "torch.prim.tolist"
    arguments = var_operand_def()
    outputs = var_result_def()
    FORMAT: ClassVar[str] = "`(` $arguments `)` attr-dict `:` type($arguments) `->` type($outputs)"


@irdl_op_definition
class PrintOp(FormattedOp):
    """``torch.prim.Print(%x) : !torch.str``."""

    name = "torch.prim.Print"
    arguments = var_operand_def()
    FORMAT: ClassVar[str] = "`(` $arguments `)` attr-dict (`:` type($arguments)^)?"


class CalculateOp(IRDLOperation):
    """Base of a computation beside the function that calculates its shapes or dtypes."""

    KEYWORD: ClassVar[str]

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        body = parser.parse_region()
        parser.parse_keyword(cls.KEYWORD)
        calculation = parser.parse_region()
        parser.parse_punctuation(":")
        return cls.create(regions=[body, calculation], result_types=parse_type_list(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_region(self.regions[0])
        printer.print_string(f" {self.KEYWORD} ")
        printer.print_region(self.regions[1])
        printer.print_string(" : ")
        printer.print_list(self.result_types, printer.print_attribute)


@irdl_op_definition
class ShapeCalculateOp(CalculateOp):
    """``torch.shape.calculate { .. } shapes { .. } : !t``."""

    name = "torch.shape.calculate"
    KEYWORD: ClassVar[str] = "shapes"
    body = region_def("single_block")
    calculation = region_def("single_block")
    outputs = var_result_def()


@irdl_op_definition
class DtypeCalculateOp(CalculateOp):
    """``torch.dtype.calculate { .. } dtypes { .. } : !t``."""

    name = "torch.dtype.calculate"
    KEYWORD: ClassVar[str] = "dtypes"
    body = region_def("single_block")
    calculation = region_def("single_block")
    outputs = var_result_def()


class YieldOp(FormattedOp):
    """Base of the terminators of calculations."""

    FORMAT: ClassVar[str] = "attr-dict ($values^ `:` type($values))?"


@irdl_op_definition
class ShapeCalculateYieldOp(YieldOp):
    """Yields the computed values."""

    name = "torch.shape.calculate.yield"
    values = var_operand_def()
    traits = traits_def(IsTerminator())


@irdl_op_definition
class ShapeCalculateYieldShapesOp(YieldOp):
    """Yields the calculated shapes."""

    name = "torch.shape.calculate.yield.shapes"
    values = var_operand_def()
    traits = traits_def(IsTerminator())


@irdl_op_definition
class DtypeCalculateYieldOp(YieldOp):
    """Yields the computed values."""

    name = "torch.dtype.calculate.yield"
    values = var_operand_def()
    traits = traits_def(IsTerminator())


@irdl_op_definition
class DtypeCalculateYieldDtypesOp(YieldOp):
    """Yields the calculated dtypes."""

    name = "torch.dtype.calculate.yield.dtypes"
    values = var_operand_def()
    traits = traits_def(IsTerminator())


OPS: list[type[Operation]] = [
    op
    for op in list(globals().values())
    if isinstance(op, type) and issubclass(op, IRDLOperation) and "name" in vars(op)
]
