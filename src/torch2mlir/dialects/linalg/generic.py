"""linalg.generic: a loop nest with its body written out.

Half of a lowered model is linalg.generic, so printing it is fast: the header is composed from cached text.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Self

from xdsl.dialects.builtin import (
    I64,
    AffineMapAttr,
    ArrayAttr,
    IndexType,
    IntegerAttr,
    StringAttr,
    i64,
)
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure

from torch2mlir.dialects.assembly import type_text, values_text
from torch2mlir.dialects.linalg.structured import (
    SEGMENTS,
    StructuredOp,
    operands_text,
    parse_operand_group,
    parse_result_types,
    result_types_text,
    segment_sizes,
)
from torch2mlir.dialects.op_texts import op_text

_OWN_ATTRIBUTES = ("doc", "indexing_maps", "iterator_types", "library_call")


@irdl_op_definition
class GenericOp(StructuredOp):
    """A loop nest given by indexing maps, iterator types and a body."""

    name = "linalg.generic"

    indexing_maps = prop_def(ArrayAttr[AffineMapAttr])
    iterator_types = prop_def(ArrayAttr[IteratorTypeAttr])
    doc = opt_prop_def(StringAttr)
    library_call = opt_prop_def(StringAttr)
    body = region_def("single_block")

    @classmethod
    def of(
        cls,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        body: Block,
        indexing_maps: ArrayAttr[AffineMapAttr],
        iterators: ArrayAttr[IteratorTypeAttr],
    ) -> Self:
        """The operation around a body block that is already filled."""
        return cls(
            inputs,
            outputs,
            properties={"indexing_maps": indexing_maps, "iterator_types": iterators},
            regions=[Region(body)],
        )

    def get_indexing_maps(self) -> ArrayAttr[AffineMapAttr]:
        return self.indexing_maps

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        return self.iterator_types

    def print(self, printer: Printer) -> None:
        properties = self.properties
        header = _header_text(
            properties["indexing_maps"],
            properties["iterator_types"],
            properties.get("doc"),
            properties.get("library_call"),
        )
        printer.print_string(header + operands_text(printer, self))
        if self.attributes:
            printer.print_string(" attrs =")
            printer.print_op_attributes(self.attributes)
        print_body(printer, self.regions[0])
        printer.print_string(result_types_text(self))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        named = parser.parse_optional_attr_dict()
        for name in ("indexing_maps", "iterator_types"):
            if name not in named:
                parser.raise_error(f"linalg.generic needs {name}", position)
        properties = {name: named.pop(name) for name in _OWN_ATTRIBUTES if name in named}
        properties["iterator_types"] = _iterator_attributes(
            parser, properties["iterator_types"], position
        )
        inputs = parse_operand_group(parser, "ins")
        outputs = parse_operand_group(parser, "outs")
        if parser.parse_optional_keyword("attrs"):
            parser.parse_punctuation("=")
            named |= parser.parse_optional_attr_dict()
        body = parser.parse_region()
        properties[SEGMENTS] = segment_sizes(len(inputs), len(outputs))
        return cls.create(
            operands=(*inputs, *outputs),
            result_types=parse_result_types(parser),
            properties=properties,
            attributes=named,
            regions=[body],
        )


def _iterator_attributes(parser: Parser, attribute: Attribute, position: int) -> Attribute:
    """Iterator types as attributes; the custom form has strings."""
    if not isinstance(attribute, ArrayAttr):
        parser.raise_error("iterator_types must be an array", position)
    kinds: list[Attribute] = []
    for kind in attribute:
        if isinstance(kind, StringAttr):
            if kind.data not in list(IteratorType):
                parser.raise_error(f'unknown iterator type "{kind.data}"', position)
            kind = IteratorTypeAttr(IteratorType(kind.data))
        kinds.append(kind)
    return ArrayAttr(kinds)


@lru_cache(maxsize=1024)
def _header_text(
    maps: ArrayAttr[AffineMapAttr],
    kinds: ArrayAttr[IteratorTypeAttr],
    doc: StringAttr | None,
    library_call: StringAttr | None,
) -> str:
    """` {indexing_maps = [..], iterator_types = [..], ..}`."""
    quoted = ", ".join(f'"{kind.data.value}"' for kind in kinds)
    entries = [f"indexing_maps = {type_text(maps)}", f"iterator_types = [{quoted}]"]
    for name, value in (("doc", doc), ("library_call", library_call)):
        if value is not None:
            entries.append(f"{name} = {type_text(value)}")
    return f" {{{', '.join(entries)}}}"


# Bodies


def print_body(printer: Printer, region: Region) -> None:
    """Print a space and a region of one block, its arguments included."""
    if printer.print_debuginfo or printer.diagnostic.op_messages or len(region.blocks) != 1:
        printer.print_string(" ")
        printer.print_region(region)
        return
    block = region.block
    if block.args:
        names = values_text(printer, block.args).split(", ")
        types = map(type_text, block.arg_types)
        arguments = ", ".join(f"{name}: {type_}" for name, type_ in zip(names, types, strict=True))
        printer.print_string(f" {{\n^bb0({arguments}):")
    else:
        printer.print_string(" {")
    with printer.indented():
        pending = ""
        for op in block.ops:
            pending += "\n"
            if (text := op_text(printer, op)) is not None:
                pending += text
                continue
            printer.print_string(pending)
            printer.print_op(op)
            pending = ""
        printer.print_string(pending)
    printer.print_string("\n}")


@irdl_op_definition
class IndexOp(IRDLOperation):
    """The iteration number of one loop of the surrounding operation."""

    name = "linalg.index"

    dim = prop_def(IntegerAttr[I64])
    result = result_def(IndexType)
    traits = traits_def(Pure())

    assembly_format = "$dim attr-dict `:` type($result)"

    @classmethod
    def of(cls, loop: int) -> "IndexOp":
        """The index of loop number `loop`."""
        return cls.create(result_types=[IndexType()], properties={"dim": IntegerAttr(loop, i64)})
