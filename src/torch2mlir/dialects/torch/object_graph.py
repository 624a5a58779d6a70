"""TorchScript's object graph and what it is globalized to: classes, modules with slots, global slots."""

from __future__ import annotations

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
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
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

from torch2mlir.dialects.rows import FormattedRowOp, Kind, op_classes
from torch2mlir.dialects.torch import types as t

KINDS: dict[str, Kind] = {
    "tensor": Kind(),
    "module": Kind(t.NnModuleType),
    "symbol": Kind(FlatSymbolRefAttr),
    "text": Kind(StringAttr),
    "type": Kind(TypeAttribute),
    "unit": Kind(UnitAttr),
}


def _print_type(printer: Printer, type: Attribute) -> None:
    printer.print_string(" : ")
    printer.print_attribute(type)


_ENDS = (IsTerminator(),)
ClassTypeTerminatorOp, NnModuleTerminatorOp = op_classes(
    "torch",
    KINDS,
    """
    class_type_terminator
      Ends a class type; never printed.
    nn_module_terminator
      Ends a module object; never printed.
    """,
    _ENDS,
)


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


class CalculateOp(FormattedRowOp):
    """Base of a computation beside the function that calculates its shapes or dtypes."""


# --- ops that are a signature and a format -------------------------------------------------------

AttrOp, MethodOp = op_classes(
    "torch",
    KINDS,
    """
    attr {attr_name=name: text, type: type, is_private=isPrivate?: unit}
      | (`private` $isPrivate^)? $name `:` $type attr-dict |
      An attribute of a class: ``torch.attr private "b" : !torch.bool``.
    method {method_name=name: text, function: symbol, is_private=isPrivate?: unit}
      | (`private` $isPrivate^)? $name `,` $function attr-dict |
      A method of a class and the function that implements it: ``torch.method "f", @f``.
    """,
    (HasParent(ClassTypeOp),),
)
(SlotOp,) = op_classes(
    "torch",
    KINDS,
    """
    slot value {slot_name=name: text}
      | $name `,` $value attr-dict `:` type($value) |
      The value of an attribute of a module object: ``torch.slot "b", %x : !torch.bool``.
    """,
    (HasParent(NnModuleOp),),
)
ShapeCalculateOp, DtypeCalculateOp = op_classes(
    "torch",
    KINDS,
    """
    shape.calculate (body, calculation) -> outputs*
      | $body `shapes` $calculation attr-dict `:` type($outputs) |
      ``torch.shape.calculate { .. } shapes { .. } : !t``: a computation beside what calculates its shapes.
    dtype.calculate (body, calculation) -> outputs*
      | $body `dtypes` $calculation attr-dict `:` type($outputs) |
      ``torch.dtype.calculate { .. } dtypes { .. } : !t``: a computation beside what calculates its dtypes.
    """,
    (),
    CalculateOp,
)
GlobalSlotGetOp, GlobalSlotSetOp, GlobalSlotModuleInitializerOp = op_classes(
    "torch",
    KINDS,
    """
    global_slot.get {slot: symbol} -> result
      | $slot attr-dict `:` type($result) |
      ``torch.global_slot.get @slot : !torch.int``.
    global_slot.set value {slot: symbol}
      | $slot `=` $value attr-dict `:` type($value) |
      ``torch.global_slot.set @slot = %x : !torch.int``.
    global_slot.module_initializer (body)
      | $body attr-dict |
      ``torch.global_slot.module_initializer { .. }``: computes the initial values of the global slots.
    """,
    (),
)
GetAttrOp, SetAttrOp, CallMethodOp, StoreOp, LoadOp, CreateObjectOp, ToListOp, PrintOp = op_classes(
    "torch.prim",
    KINDS,
    """
    GetAttr receiver: module {attr_name=name: text} -> result
      | $receiver `` `[` $name `]` attr-dict `:` type($receiver) `->` type($result) |
      ``torch.prim.GetAttr %m["name"] : !torch.nn.Module<"c"> -> !torch.int``.
    SetAttr receiver: module, value {attr_name=name: text}
      | $receiver `` `[` $name `]` `=` $value attr-dict `:` type($receiver) `,` type($value) |
      ``torch.prim.SetAttr %m["name"] = %v : !torch.nn.Module<"c">, !torch.int``.
    CallMethod receiver: module, arguments* {method_name=name: text} -> result
      | $receiver `` `[` $name `]` ` ` `(` $arguments `)` attr-dict `:` type($receiver) `,`
        functional-type($arguments, $result) |
      ``torch.prim.CallMethod %m["f"] (%a) : !torch.nn.Module<"c">, (!torch.int) -> !torch.int``.
    Store value {variable=name: text}
      | $name `,` $value attr-dict `:` type($value) |
      ``torch.prim.Store "q", %x : !torch.int``.
    Load {variable=name: text} -> result
      | $name attr-dict `:` type($result) |
      ``torch.prim.Load "q" : !torch.int``.
    CreateObject -> result: module
      | type($result) attr-dict |
      ``torch.prim.CreateObject !torch.nn.Module<"c">``.
    tolist arguments* -> outputs*
      | `(` $arguments `)` attr-dict `:` type($arguments) `->` type($outputs) |
      ``torch.prim.tolist(%x) : !torch.vtensor<[2],f32> -> !torch.list<float>``.
    Print arguments*
      | `(` $arguments `)` attr-dict (`:` type($arguments)^)? |
      ``torch.prim.Print(%x) : !torch.str``.
    """,
    (),
)
_YIELDS = op_classes(
    "torch",
    KINDS,
    """
    shape.calculate.yield values*
      Yields the computed values.
    shape.calculate.yield.shapes values*
      Yields the calculated shapes.
    dtype.calculate.yield values*
      Yields the computed values.
    dtype.calculate.yield.dtypes values*
      Yields the calculated dtypes.
    """,
    _ENDS,
    format="attr-dict ($values^ `:` type($values))?",
)

OPS: list[type[Operation]] = [
    op
    for op in (*globals().values(), *_YIELDS)
    if isinstance(op, type) and issubclass(op, IRDLOperation) and "name" in vars(op)
]
