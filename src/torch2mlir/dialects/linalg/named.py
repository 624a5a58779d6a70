"""Named operations: structured operations whose loops, maps and body follow from their name.

The tables spell loops as letters, lower case for parallel loops and upper case for reductions, and
each operand's map as what indexes its dimensions. `y+Y` is a window: y * stride + Y * dilation,
strides and dilations taken in order.
"""

from abc import ABC
from functools import lru_cache
from typing import Any, ClassVar, Self, TypeVar

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, DenseIntOrFPElementsAttr, ShapedType
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import Attribute, Region
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import irdl_op_definition, opt_prop_def, opt_region_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from torch2mlir.dialects.assembly import type_text
from torch2mlir.dialects.linalg import bodies
from torch2mlir.dialects.linalg.attributes import TypeFnAttr
from torch2mlir.dialects.linalg.structured import (
    PARALLEL,
    REDUCTION,
    SEGMENTS,
    StructuredOp,
    iterator_types,
    operands_text,
    parse_operand_group,
    parse_result_types,
    result_types_text,
    segment_sizes,
)


@lru_cache(maxsize=1024)
def loop_maps(
    loops: str, maps: tuple[str, ...], strides: tuple[int, ...], dilations: tuple[int, ...]
) -> ArrayAttr[AffineMapAttr]:
    """The affine maps that a table row spells."""
    names = loops.split()
    dim = {name: AffineExpr.dimension(index) for index, name in enumerate(names)}

    def expressions(map_: str) -> list[AffineExpr]:
        result: list[AffineExpr] = []
        windows = 0
        for term in map_.split():
            if "+" not in term:
                result.append(dim[term])
                continue
            position, offset = term.split("+")
            stride, dilation = strides[windows], dilations[windows]
            result.append(scaled(dim[position], stride) + scaled(dim[offset], dilation))
            windows += 1
        return result

    def scaled(expression: AffineExpr, factor: int) -> AffineExpr:
        return expression if factor == 1 else expression * factor

    return ArrayAttr(
        [AffineMapAttr(AffineMap(len(names), 0, tuple(expressions(map_)))) for map_ in maps]
    )


@lru_cache(maxsize=256)
def loop_kinds(loops: str) -> ArrayAttr[IteratorTypeAttr]:
    """The iterator types that a table row spells."""
    return ArrayAttr([REDUCTION if name.isupper() else PARALLEL for name in loops.split()])


OpT = TypeVar("OpT", bound="NamedOp")


def class_name(mnemonic: str) -> str:
    """``Conv2DOp`` for `conv_2d`."""
    words = (
        word.upper() if word[0].isdigit() else word.capitalize() for word in mnemonic.split("_")
    )
    return "".join(words) + "Op"


def define(base: type[OpT], mnemonic: str, **constants: Any) -> type[OpT]:
    """The class of `linalg.<mnemonic>`: `base` with its class constants filled in."""
    namespace = {
        "__module__": base.__module__,
        "__doc__": f"`linalg.{mnemonic}`.",
        "__annotations__": dict.fromkeys(constants, ClassVar),
        "name": f"linalg.{mnemonic}",
        **constants,
    }
    return irdl_op_definition(type(class_name(mnemonic), (base,), namespace))


class NamedOp(StructuredOp, ABC):
    """`linalg.name {attributes} ins(..) outs(..) -> types`, its body built on demand."""

    body = opt_region_def("single_block")

    BODY: ClassVar[bodies.ScalarBody]
    HIDDEN: ClassVar[frozenset[str]] = frozenset({SEGMENTS})
    """Properties that are not part of the attribute dictionary."""

    def build_body(self) -> Region:
        """The region the name stands for, not attached to the operation."""
        cast = self.properties.get("cast")
        signed = not isinstance(cast, TypeFnAttr) or cast.is_signed
        return bodies.build_body(self.name, self.operands, type(self).BODY, signed=signed)

    def print(self, printer: Printer) -> None:
        shown = {
            name: value
            for name, value in sorted({**self.properties, **self.attributes}.items())
            if name not in self.HIDDEN
        }
        if shown:
            printer.print_op_attributes(shown)
        printer.print_string(operands_text(printer, self) + result_types_text(self))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        return cls._parse_rest(parser, {})

    @classmethod
    def _parse_rest(cls, parser: Parser, properties: dict[str, Attribute]) -> Self:
        """Parse from the attribute dictionary on."""
        attributes = parser.parse_optional_attr_dict()
        own = cls.get_irdl_definition().properties
        properties |= {name: attributes.pop(name) for name in list(attributes) if name in own}
        inputs = parse_operand_group(parser, "ins")
        outputs = parse_operand_group(parser, "outs")
        properties[SEGMENTS] = segment_sizes(len(inputs), len(outputs))
        return cls.create(
            operands=(*inputs, *outputs),
            result_types=parse_result_types(parser),
            properties=properties,
            attributes=attributes,
        )


class TableOp(NamedOp, ABC):
    """A named operation with a fixed row of loops and maps."""

    LOOPS: ClassVar[str]
    MAPS: ClassVar[tuple[str, ...]]

    def get_indexing_maps(self) -> ArrayAttr[AffineMapAttr]:
        return loop_maps(self.LOOPS, self.MAPS, _ONES, _ONES)

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        return loop_kinds(self.LOOPS)


_ONES = (1, 1, 1)


class ContractionOp(TableOp, ABC):
    """A matrix product whose indexing maps may be given, to transpose or broadcast operands."""

    indexing_maps = opt_prop_def(ArrayAttr[AffineMapAttr])
    cast = opt_prop_def(TypeFnAttr)
    HIDDEN: ClassVar[frozenset[str]] = frozenset({SEGMENTS, "indexing_maps"})

    def get_indexing_maps(self) -> ArrayAttr[AffineMapAttr]:
        return self.indexing_maps or super().get_indexing_maps()

    def print(self, printer: Printer) -> None:
        maps = self.indexing_maps
        if maps is not None and maps != super().get_indexing_maps():
            printer.print_string(f" indexing_maps = {type_text(maps)}")
        super().print(printer)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("indexing_maps"):
            parser.parse_punctuation("=")
            properties["indexing_maps"] = parser.parse_attribute()
        return cls._parse_rest(parser, properties)


class WindowOp(TableOp, ABC):
    """A convolution or pooling: windows have strides and dilations, 1 unless given."""

    strides = opt_prop_def(DenseIntOrFPElementsAttr)
    dilations = opt_prop_def(DenseIntOrFPElementsAttr)

    def get_indexing_maps(self) -> ArrayAttr[AffineMapAttr]:
        return loop_maps(
            self.LOOPS, self.MAPS, _window_factors(self.strides), _window_factors(self.dilations)
        )


def _window_factors(attribute: DenseIntOrFPElementsAttr | None) -> tuple[int, ...]:
    if attribute is None:
        return _ONES
    values: tuple[int, ...] = tuple(attribute.get_values())  # type: ignore[arg-type]
    return values * 3 if len(values) == 1 else values


class PointwiseOp(NamedOp, ABC):
    """One parallel loop for each dimension of the output; scalar operands are broadcast."""

    def get_indexing_maps(self) -> ArrayAttr[AffineMapAttr]:
        rank = self._rank()
        return ArrayAttr(
            [
                AffineMapAttr(
                    AffineMap.identity(rank)
                    if isinstance(operand.type, ShapedType)
                    else AffineMap(rank, 0, ())
                )
                for operand in self.operands
            ]
        )

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        return iterator_types(parallel=self._rank())

    def _rank(self) -> int:
        type_ = self.operands[-1].type
        return len(type_.get_shape()) if isinstance(type_, ShapedType) else 0
