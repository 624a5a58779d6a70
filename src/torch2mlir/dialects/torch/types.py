"""The types of the torch dialect, spelled as Torch-MLIR spells them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Self

from xdsl.dialects.builtin import (
    ArrayAttr,
    ComplexType,
    IntegerType,
    NoneAttr,
    Signedness,
    StringAttr,
)
from xdsl.ir import Attribute, Data, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from torch2mlir.dialects.torch.dims import Size

PREFIX = "torch."


class TorchType(ParametrizedAttribute, TypeAttribute):
    """Base of all types of the dialect; inside another torch type the ``!torch.`` prefix is dropped."""


def print_nested(printer: Printer, type: Attribute) -> None:
    """Prints a type inside another torch type: ``list<vtensor<[2],f32>>``."""
    if isinstance(type, TorchType):
        printer.print_string(type.name.removeprefix(PREFIX))
        type.print_parameters(printer)
    else:
        printer.print_attribute(type)


def parse_nested(parser: AttrParser) -> Attribute:
    """Parses a type inside another torch type; the full ``!torch.x`` spelling is accepted too."""
    name = parser.parse_optional_identifier()
    if name is None:
        return parser.parse_type()
    cls = TYPES_BY_NAME.get(PREFIX + name)
    if cls is None:
        parser.raise_error(f"unknown torch type '{name}'")
    return cls.new(cls.parse_parameters(parser))


@irdl_attr_definition
class SizesAttr(Data[tuple[Size, ...]]):
    """The sizes of a ranked tensor type."""

    name = "torch.sizes"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Size, ...]:
        def size() -> Size:
            if parser.parse_optional_punctuation("?"):
                return None
            return parser.parse_integer(allow_boolean=False, allow_negative=False)

        return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, size))

    def print_parameter(self, printer: Printer) -> None:
        shown = (str(s) if isinstance(s, int) else "?" for s in self.data)
        printer.print_string(f"[{','.join(shown)}]")


class AnyTensorType(TorchType):
    """Common part of value tensors and tensors with reference semantics.

    ``sizes`` is None when the rank is unknown, ``dtype`` when the element type is; ``sparsity`` is an encoding.
    """

    sizes_attr: SizesAttr | NoneAttr
    dtype_attr: Attribute
    sparsity: Attribute

    @classmethod
    def of(cls, sizes: Sequence[Size] | None, dtype: Attribute | None) -> Self:
        """The type with these sizes (None: unknown rank) and element type (None: unknown)."""
        return cls.new(
            [
                NoneAttr() if sizes is None else SizesAttr(tuple(sizes)),
                NoneAttr() if dtype is None else dtype,
                NoneAttr(),
            ]
        )

    @property
    def sizes(self) -> tuple[Size, ...] | None:
        """The sizes, or None when the rank is unknown."""
        return self.sizes_attr.data if isinstance(self.sizes_attr, SizesAttr) else None

    @property
    def dtype(self) -> Attribute | None:
        """The element type, or None when it is unknown."""
        return None if isinstance(self.dtype_attr, NoneAttr) else self.dtype_attr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        none = NoneAttr()
        if not parser.parse_optional_punctuation("<"):
            return (none, none, none)
        sizes: Attribute = none
        if not parser.parse_optional_punctuation("*"):
            sizes = SizesAttr(SizesAttr.parse_parameter(parser))
        parser.parse_punctuation(",")
        dtype: Attribute = none
        if not parser.parse_optional_keyword("unk"):
            # quantized element types are torch types and keep their full spelling
            dtype = parser.parse_type()
        sparsity: Attribute = none
        if parser.parse_optional_punctuation(","):
            sparsity = parser.parse_attribute()
        parser.parse_punctuation(">")
        return (sizes, dtype, sparsity)

    def print_parameters(self, printer: Printer) -> None:
        none = NoneAttr()
        if self.sizes_attr == none and self.dtype_attr == none and self.sparsity == none:
            return
        printer.print_string("<")
        if isinstance(self.sizes_attr, SizesAttr):
            self.sizes_attr.print_parameter(printer)
        else:
            printer.print_string("*")
        printer.print_string(",")
        if self.dtype is None:
            printer.print_string("unk")
        else:
            printer.print_attribute(self.dtype)
        if self.sparsity != none:
            printer.print_string(",")
            printer.print_attribute(self.sparsity)
        printer.print_string(">")


@irdl_attr_definition
class ValueTensorType(AnyTensorType):
    """``!torch.vtensor<[2,?],f32>``: an immutable tensor."""

    name = "torch.vtensor"
    sizes_attr: SizesAttr | NoneAttr
    dtype_attr: Attribute
    sparsity: Attribute


@irdl_attr_definition
class NonValueTensorType(AnyTensorType):
    """``!torch.tensor<[2,?],f32>``: a tensor that may be mutated and aliased."""

    name = "torch.tensor"
    sizes_attr: SizesAttr | NoneAttr
    dtype_attr: Attribute
    sparsity: Attribute


class ContainerType(TorchType):
    """A type with one contained type: ``!torch.list<int>``."""

    contained: Attribute

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return (parse_nested(parser),)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_nested(printer, self.contained)


@irdl_attr_definition
class ListType(ContainerType):
    """``!torch.list<int>``."""

    name = "torch.list"
    contained: Attribute


@irdl_attr_definition
class OptionalType(ContainerType):
    """``!torch.optional<int>``."""

    name = "torch.optional"
    contained: Attribute


class VariadicType(TorchType):
    """A type with any number of contained types: ``!torch.tuple<int, vtensor>``."""

    contained: ArrayAttr[Attribute]

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        angle = parser.Delimiter.ANGLE
        return (ArrayAttr(parser.parse_comma_separated_list(angle, lambda: parse_nested(parser))),)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_list(self.contained.data, lambda t: print_nested(printer, t))


@irdl_attr_definition
class TupleType(VariadicType):
    """``!torch.tuple<int, vtensor>``."""

    name = "torch.tuple"
    contained: ArrayAttr[Attribute]


@irdl_attr_definition
class UnionType(VariadicType):
    """``!torch.union<int, none>``."""

    name = "torch.union"
    contained: ArrayAttr[Attribute]


@irdl_attr_definition
class DictType(TorchType):
    """``!torch.dict<str, vtensor>``."""

    name = "torch.dict"
    key: Attribute
    value: Attribute

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            key = parse_nested(parser)
            parser.parse_punctuation(",")
            return (key, parse_nested(parser))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_nested(printer, self.key)
            printer.print_string(", ")
            print_nested(printer, self.value)


@irdl_attr_definition
class NnModuleType(TorchType):
    """``!torch.nn.Module<"my.Module">``: a TorchScript class."""

    name = "torch.nn.Module"
    class_name: StringAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return (StringAttr(parser.parse_str_literal()),)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.class_name.data)


class SimpleType(TorchType):
    """A type without parameters."""

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        return ()

    def print_parameters(self, printer: Printer) -> None:
        return


def _simple(table: str) -> list[type[SimpleType]]:
    """The classes of types without parameters, from lines of a name and what it stands for."""
    made = list[type[SimpleType]]()
    for line in table.strip().splitlines():
        class_name, name, doc = line.split(maxsplit=2)
        body = {"name": PREFIX + name, "__doc__": doc, "__module__": __name__}
        made.append(irdl_attr_definition(type(class_name, (SimpleType,), body)))
    return made


NoneType, BoolType, IntType, FloatType, NumberType, StringType, AnyType = _simple("""
NoneType none Nothing.
BoolType bool A Python bool.
IntType int A Python int.
FloatType float A Python float, 64 bits.
NumberType number An int, float, bool or complex scalar.
StringType str A Python string.
AnyType any Anything.
""")
DeviceType, GeneratorType, LinearParamsType = _simple("""
DeviceType Device Where tensors are.
GeneratorType Generator A source of random numbers.
LinearParamsType LinearParams Packed parameters of a quantized linear.
""")
QInt8Type, QUInt8Type, QInt16Type, QInt32Type = _simple("""
QInt8Type qint8 A quantized element of 8 bits.
QUInt8Type quint8 An unsigned quantized element of 8 bits.
QInt16Type qint16 A quantized element of 16 bits.
QInt32Type qint32 A quantized element of 32 bits.
""")

TYPES: list[type[TorchType]] = [
    type_
    for type_ in list(globals().values())
    if isinstance(type_, type) and issubclass(type_, TorchType) and "name" in vars(type_)
]
"""The types defined here; their bases have no name."""
TYPES_BY_NAME: dict[str, type[TorchType]] = {t.name: t for t in TYPES}

none_type = NoneType()
bool_type = BoolType()
int_type = IntType()
float_type = FloatType()
number_type = NumberType()
str_type = StringType()
device_type = DeviceType()
generator_type = GeneratorType()


@lru_cache(maxsize=65536)
def vtensor(sizes: tuple[Size, ...] | None, dtype: Attribute | None) -> ValueTensorType:
    """The value tensor type of these sizes and element type; equal types are one object."""
    return ValueTensorType.of(sizes, dtype)


def tensor_of(value: SSAValue) -> AnyTensorType:
    """The type of a value that is known to be a tensor.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(value.type, AnyTensorType):
        raise TypeError(f"a tensor is expected, not a {value.type}")
    return value.type


def known_sizes(value: SSAValue) -> tuple[Size, ...]:
    """The sizes of a tensor whose rank is known.

    Raises:
        TypeError: it is not.
    """
    sizes = tensor_of(value).sizes
    if sizes is None:
        raise TypeError(f"a tensor of known rank is expected, not a {value.type}")
    return sizes


def signless(dtype: Attribute, keep_unsigned: bool = False) -> Attribute:
    """The builtin element type of a torch one: ``si64`` to ``i64``, ``ui8`` to ``i8`` or, if asked, ``ui8``."""
    if isinstance(dtype, ComplexType):
        return dtype
    if isinstance(dtype, IntegerType):
        signedness = dtype.signedness.data
        if signedness == Signedness.SIGNED or (
            signedness == Signedness.UNSIGNED and not keep_unsigned
        ):
            return IntegerType(dtype.width.data)
    return dtype
