"""Writing modules as text: cached type spellings, weights streamed from their memory, MLIR's usual or generic form."""

from __future__ import annotations

import enum
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import prod
from typing import IO

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, UnknownLoc
from xdsl.ir import Attribute, Dialect, Operation, TypeAttribute
from xdsl.printer import Printer

from torch2mlir.dialects.assembly import type_text
from torch2mlir.dialects.op_texts import op_text
from torch2mlir.dialects.torch.ops import RegistryOp
from torch2mlir.dialects.weights import CHUNK_BYTES, TensorSource, WeightAttr

RESOURCE_ALIGNMENT = 64
"""The alignment announced to readers of ``dense_resource`` blobs, in bytes."""


class WeightSyntax(enum.Enum):
    """How weights appear in text."""

    RESOURCE = "resource"
    """``dense_resource<name>`` with the bytes at the end of the file."""
    HEX = "hex"
    """``dense<"0x...">`` in place, for readers that take no resources (XLA)."""
    REFERENCE = "reference"
    """``dense_resource<name>`` alone; the bytes are elsewhere."""


@dataclass(eq=False, repr=False)
class MlirPrinter(Printer):
    """xDSL's printer with weights and with the spelling of each attribute remembered.

    Args:
        weight_syntax: how weights appear.
        elide_above: constants of more elements are ``dense_resource<__elided__>``; None writes all of them.
    """

    weight_syntax: WeightSyntax = field(default=WeightSyntax.RESOURCE, kw_only=True)
    elide_above: int | None = field(default=None, kw_only=True)
    _weights: dict[str, TensorSource] = field(default_factory=dict, init=False)

    def print_op(self, op: Operation) -> None:
        if isinstance(op, RegistryOp) and not op.schema.in_torch_mlir:
            self._print_as_operator(op)
        elif self._is_plain() and (text := op_text(self, op)) is not None:
            self.print_string(text)
        else:
            super().print_op(op)

    def _is_plain(self) -> bool:
        """Whether operations are written as they are, without locations and messages."""
        return not (
            self.print_generic_format or self.print_debuginfo or self.diagnostic.op_messages
        )

    def print_string(self, text: str, *, indent: int | None = None) -> None:
        if self.stream is None or self.diagnostic.op_messages or self._next_line_callback:
            super().print_string(text, indent=indent)  # messages need to know the column
            return
        depth = self._indent if indent is None else indent
        if depth and "\n" in text:
            text = text.replace("\n", "\n" + " " * (depth * self.indent_num_spaces))
        self.stream.write(text)

    def _print_as_operator(self, op: RegistryOp) -> None:
        """The form Torch-MLIR gives an op it does not register: ``torch.operator "torch.aten.diff"(..)``."""
        self._print_results(op)
        generic = self.print_generic_format
        self.print_string('"torch.operator"' if generic else f'torch.operator "{op.name}"')
        self.print_operands(op.operands)
        self.print_string(f' <{{name = "{op.name}"}}> : ' if generic else " : ")
        self.print_operation_type(op)

    def print_attribute(self, attribute: Attribute) -> None:
        if self.elide_above is not None and _elements(attribute) > self.elide_above:
            self.print_string("dense_resource<__elided__> : ")
            self.print_attribute(attribute.type)  # type: ignore[attr-defined]
        elif isinstance(attribute, WeightAttr):
            self._print_weight(attribute)
        elif isinstance(attribute, TypeAttribute):
            self.print_string(type_text(attribute))
        elif isinstance(attribute, UnknownLoc):
            self.print_string("loc(unknown)" if not self.printing_location else "unknown")
        else:
            super().print_attribute(attribute)

    def _print_weight(self, weight: WeightAttr) -> None:
        source = weight.source.data
        if self.weight_syntax is not WeightSyntax.REFERENCE and weight.is_readable:
            super().print_attribute(weight.elements())
        elif self.weight_syntax is WeightSyntax.HEX:
            self.print_string('dense<"0x')
            self._print_raw(source.hex_chunks())
            self.print_string('"> : ')
            self.print_attribute(weight.type)
        else:
            self._weights[source.name] = source
            weight.print_builtin(self)

    def _print_raw(self, chunks: Iterable[str]) -> None:
        """Writes text that has no line breaks past the bookkeeping of columns."""
        for chunk in chunks:
            print(chunk, end="", file=self.stream)

    def print_metadata(self, dialects: Iterable[Dialect]) -> None:
        if self.weight_syntax is not WeightSyntax.RESOURCE or not self._weights:
            known = list(dialects)
            # A resource without bytes here had none in the text it was read from either.
            if self._dialect_resources:
                for name in self._dialect_resources.keys() - {dialect.name for dialect in known}:
                    del self._dialect_resources[name]
            super().print_metadata(known)
            return
        print("\n\n{-#\n  dialect_resources: {\n    builtin: {", end="", file=self.stream)
        header = RESOURCE_ALIGNMENT.to_bytes(4, "little").hex()
        for index, (name, source) in enumerate(sorted(self._weights.items())):
            self.print_string(",\n      " if index else "\n      ", indent=0)
            self.print_identifier_or_string_literal(name)
            self.print_string(f': "0x{header}')
            self._print_raw(source.hex_chunks())
            self.print_string('"')
        print("\n    }\n  }\n#-}", end="", file=self.stream)


def _elements(attribute: Attribute) -> int:
    """How many elements a constant has; 0 for what is none, or one element repeated."""
    if isinstance(attribute, WeightAttr):
        return prod(attribute.type.get_shape())
    if isinstance(attribute, DenseIntOrFPElementsAttr) and not attribute.is_splat():
        return prod(attribute.get_shape())
    return 0


class _Accumulator:
    """A text stream that grows one string in place, so that a large module is in memory once, not twice.

    Under a debugger or a profiler Python copies a string that grows, so there it is made of its parts at the end.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._pending = 0
        self._most = CHUNK_BYTES if sys.gettrace() is sys.getprofile() is None else sys.maxsize
        self.text = ""

    def write(self, text: str) -> int:
        """Appends text."""
        self._parts.append(text)
        self._pending += len(text)
        if self._pending > self._most:
            self.flush()
        return len(text)

    def flush(self) -> None:
        """Moves what is pending into :attr:`text`."""
        pending = self._parts[0] if len(self._parts) == 1 else "".join(self._parts)
        self._parts.clear()
        self._pending = 0
        # The only reference: CPython then extends the string where it is.
        text, self.text = self.text, ""
        text += pending
        self.text = text


def write_module(
    module: Operation,
    stream: IO[str],
    *,
    weights: WeightSyntax = WeightSyntax.RESOURCE,
    generic: bool = False,
    debuginfo: bool = False,
) -> None:
    """Writes ``module`` as MLIR text to ``stream``, weights in pieces of a megabyte."""
    if generic:
        from torch2mlir.dialects.linalg import materialize_bodies

        materialize_bodies(module)  # MLIR's generic form of a named linalg op has its body
    printer = MlirPrinter(
        stream=stream,
        print_generic_format=generic,
        print_debuginfo=debuginfo,
        weight_syntax=weights,
    )
    printer.print_op(module)
    printer.print_metadata(())
    stream.write("\n")


def module_text(
    module: Operation,
    *,
    weights: WeightSyntax = WeightSyntax.RESOURCE,
    generic: bool = False,
    debuginfo: bool = False,
) -> str:
    """The text :func:`write_module` writes, as one string."""
    stream = _Accumulator()
    write_module(module, stream, weights=weights, generic=generic, debuginfo=debuginfo)  # type: ignore[arg-type]
    stream.flush()
    return stream.text


def weights_of(module: Operation) -> Iterator[TensorSource]:
    """The weights a module refers to, each once, in order of first use."""
    seen = set[int]()
    for op in module.walk():
        for value in (*op.properties.values(), *op.attributes.values()):
            if isinstance(value, WeightAttr) and id(value.source.data) not in seen:
                seen.add(id(value.source.data))
                yield value.source.data
