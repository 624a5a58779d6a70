"""Tensor literals that refer to memory owned by somebody else, and how they are written as text.

A weight is never copied into the IR: the attribute holds a :class:`TensorSource`, and the printer streams its bytes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, TensorType, i1
from xdsl.ir import Attribute, BuiltinAttribute, Data, TypedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

CHUNK_BYTES = 1 << 20
READABLE_ELEMENTS = 16
"""Up to this many elements a literal is written out element by element."""


class TensorSource(ABC):
    """Where the elements of a weight are: in row-major order, little-endian, bool as one byte."""

    name: str
    """A name that is unique in the program, the parameter's path in the model."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Size of the elements in bytes."""

    @abstractmethod
    def view(self) -> memoryview:
        """The bytes of the elements, without a copy where the memory is contiguous."""

    def hex_chunks(self) -> Iterator[str]:
        """The bytes as hexadecimal text, piece by piece."""
        view = self.view()
        for start in range(0, len(view), CHUNK_BYTES):
            yield view[start : start + CHUNK_BYTES].hex()


@dataclass(eq=False)
class BufferSource(TensorSource):
    """A weight in any object with the buffer protocol."""

    name: str
    buffer: memoryview

    @property
    def nbytes(self) -> int:
        return self.buffer.nbytes

    def view(self) -> memoryview:
        return self.buffer.cast("B")


@irdl_attr_definition
class SourceAttr(Data[TensorSource]):
    """Carries a :class:`TensorSource`; two are equal when they are the same object."""

    name = "torch2mlir.source"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> TensorSource:
        parser.raise_error("a tensor in memory has no textual form of its own")

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f'<"{self.data.name}">')


@irdl_attr_definition
class WeightAttr(TypedAttribute, BuiltinAttribute):
    """A tensor literal in somebody's memory; prints as ``dense_resource<name> : type`` or ``dense<"0x...">``.

    Plain xDSL printers write the resource reference; :class:`torch2mlir.dialects.printer.MlirPrinter` also writes the
    contents, where and as the reader of the text wants them.
    """

    name = "torch2mlir.weight"
    source: SourceAttr
    type: TensorType[Attribute]

    def print_without_type(self, printer: Printer) -> None:
        printer.print_string("dense_resource<")
        printer.print_identifier_or_string_literal(self.source.data.name)
        printer.print_string(">")

    def print_builtin(self, printer: Printer) -> None:
        self.print_without_type(printer)
        printer.print_string(" : ")
        printer.print_attribute(self.type)

    @property
    def is_readable(self) -> bool:
        """Whether the elements are better written one by one: they are few, or booleans.

        MLIR has no agreed raw form for ``i1`` blobs; elements written out are read by every version.
        """
        return prod(self.type.get_shape()) <= READABLE_ELEMENTS or self.type.element_type == i1

    def elements(self) -> DenseIntOrFPElementsAttr:
        """A copy of the elements as an attribute of their own."""
        data = BytesAttr(bytes(self.source.data.view()))
        return DenseIntOrFPElementsAttr(self.type, data)  # type: ignore[arg-type]

    def retyped(self, type: TensorType[Attribute]) -> WeightAttr:
        """The same elements under another type of the same bit width and shape."""
        return self if type == self.type else WeightAttr(self.source, type)


def literal(source: TensorSource, shape: Sequence[int], element_type: Attribute) -> WeightAttr:
    """The literal for a tensor: a reference to its memory."""
    return WeightAttr(SourceAttr(source), TensorType(element_type, list(shape)))


def retyped_literal(value: Attribute, type: TensorType[Attribute]) -> Attribute:
    """A dense or weight literal with the same elements under another element type of equal width."""
    if isinstance(value, WeightAttr):
        return value.retyped(type)
    if isinstance(value, DenseIntOrFPElementsAttr) and value.type != type:
        return DenseIntOrFPElementsAttr(type, value.data)  # type: ignore[type-var]
    return value


def dense_elements(type: TensorType[Any], values: Sequence[Any]) -> DenseIntOrFPElementsAttr:
    """A dense literal; a single value stands for all elements and is kept once (xDSL's own builder repeats it)."""
    if len(values) != 1:
        return DenseIntOrFPElementsAttr.from_list(type, list(values))
    single = DenseIntOrFPElementsAttr.from_list(TensorType(type.element_type, []), list(values))
    return DenseIntOrFPElementsAttr(type, single.data)
