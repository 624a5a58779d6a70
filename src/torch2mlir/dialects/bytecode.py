"""Writing modules as MLIR bytecode, the binary form that MLIR's tools read wherever they read text: weights stay bytes.

The format is described at https://mlir.llvm.org/docs/BytecodeFormat/. What is written is its version 1, which every
later reader takes and in which an op's properties are part of its dictionary. Attributes and types are in it as their
text, each once, but for dictionaries, strings and what has many elements, which are binary.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from io import StringIO
from itertools import groupby
from typing import NamedTuple, TypeVar

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    StringAttr,
    UnregisteredOp,
)
from xdsl.ir import Attribute, Block, Dialect, Operation, Region, SSAValue

from torch2mlir.dialects.assembly import type_text
from torch2mlir.dialects.printer import MlirPrinter, WeightSyntax
from torch2mlir.dialects.torch.ops import RegistryOp
from torch2mlir.dialects.weights import READABLE_ELEMENTS, WeightAttr

BYTECODE_SUFFIX = ".mlirbc"
"""How the names of bytecode files end."""
MAGIC = b"ML\xefR"
_VERSION = 1
_PRODUCER = b"torch2mlir\0"
_ALIGNMENT = 16
"""Of weights in the file; readers take no more than their own buffer has, which may be Python's or malloc's."""
_IS_ALIGNED = 0x80
_PADDING = b"\xcb"

Piece = bytes | bytearray | memoryview
"""A part of the file."""
_Key = TypeVar("_Key", bound=Hashable)


class _Section(IntEnum):
    STRINGS = 0
    DIALECTS = 1
    ATTRIBUTES = 2
    ATTRIBUTE_OFFSETS = 3
    IR = 4
    RESOURCES = 5
    RESOURCE_OFFSETS = 6


class _Builtin(IntEnum):
    """What the builtin dialect calls its attributes in bytecode."""

    DICTIONARY = 1
    STRING = 2
    RESOURCE = 16
    ELEMENTS = 18


class _Part(IntEnum):
    """What an op has; a bit each."""

    ATTRIBUTES = 1
    RESULTS = 2
    OPERANDS = 4
    SUCCESSORS = 8
    REGIONS = 16


def bytecode_pieces(
    module: Operation,
    *,
    weights: WeightSyntax = WeightSyntax.RESOURCE,
    debuginfo: bool = False,
) -> Iterator[Piece]:
    """``module`` as MLIR bytecode, piece by piece; the bytes of weights are views of where they are.

    Args:
        module: the module.
        weights: as resources with their bytes, as resources without, or as elements in place (``HEX``).
        debuginfo: with source locations.
    """
    return _Writer(weights, debuginfo).pieces(module)


class _Numbers(dict[_Key, int]):
    """Things by their numbers, in the order they were first asked for."""

    def __missing__(self, key: _Key) -> int:
        number = self[key] = len(self)
        return number


@dataclass(frozen=True)
class _Bytes:
    """Bytes that are taken from where they are when they are written; two are equal if their owner is one."""

    owner: object
    view: Callable[[], Piece] = field(compare=False)
    size: int

    def __len__(self) -> int:
        return self.size


class _Encoding(NamedTuple):
    """An attribute or type as it stands in the file: its text, or what the builtin dialect says for it."""

    head: bytes
    there: _Bytes | None = None
    is_text: bool = False

    @property
    def size(self) -> int:
        return len(self.head) + (self.there.size if self.there else 0)

    def parts(self) -> Iterator[bytes | _Bytes]:
        yield self.head
        if self.there:
            yield self.there


_Body = tuple[_Section, Sequence[bytes | bytearray | _Bytes]]


class _Writer:
    """One module on its way to bytecode."""

    def __init__(self, weights: WeightSyntax, debuginfo: bool) -> None:
        self._weights = weights
        self._debuginfo = debuginfo
        self._strings = _Numbers[str]()
        self._dialects = _Numbers[int]()
        self._ops = _Numbers[tuple[int, int]]()
        self._types = _Numbers[str]()
        self._encodings = _Numbers[_Encoding]()
        self._known: dict[int, tuple[Attribute, int]] = {}
        """Attributes with their numbers, by identity: two that are equal may differ in text (0.0 and -0.0)."""
        self._resources = _Numbers[str]()
        self._blobs: dict[int, _Bytes | None] = {}
        self._values: dict[SSAValue, int] = {}
        self._ir = bytearray()

    def pieces(self, module: Operation) -> Iterator[Piece]:
        """The file, piece by piece."""
        from torch2mlir.dialects.linalg import materialize_bodies

        materialize_bodies(module)  # which named ops have in bytecode, as in MLIR's generic form
        self._builtin = self._dialect("builtin")
        self._ir += _varint(1 << 1)  # a block of one op
        self._op(module, 0)
        sections = [
            (_Section.IR, [self._ir]),
            *self._attribute_sections(),
            *self._resource_sections(),
            self._dialect_section(),
        ]
        sections.append(self._string_section())  # the others have named what they need
        yield (written := MAGIC + _varint(_VERSION) + _PRODUCER)
        at = len(written)
        for section, body in sections:
            size = sum(map(len, body))
            if section is _Section.RESOURCES:
                head = bytes([section | _IS_ALIGNED]) + _varint(size) + _varint(_ALIGNMENT)
                head += _PADDING * (-(at + len(head)) % _ALIGNMENT)
            else:
                head = bytes([section]) + _varint(size)
            yield head
            for part in body:
                yield part.view() if isinstance(part, _Bytes) else part
            at += len(head) + size

    # operations

    def _op(self, op: Operation, defined: int) -> None:
        """Appends an op; so many values are defined around it."""
        name, attributes = _named(op)
        out = self._ir
        out += _varint(self._op_name(name))
        mask_at = len(out)
        mask = 0
        out += b"\0" + _varint(self._location(op.location))
        if attributes:
            mask |= _Part.ATTRIBUTES
            out += _varint(self._dictionary(attributes))
        if op.results:
            mask |= _Part.RESULTS
            out += _list(self._type(result.type) for result in op.results)
        if op.operands:
            mask |= _Part.OPERANDS
            out += _list(map(self._values.__getitem__, op.operands))
        if op.successors:
            mask |= _Part.SUCCESSORS
            out += _list(map(_place, op.successors))
        if op.regions:
            mask |= _Part.REGIONS
            out += _varint(len(op.regions) << 1)
            for region in op.regions:
                self._region(region, defined)
        out[mask_at] = mask

    def _region(self, region: Region, defined: int) -> None:
        """Appends a region; its values are numbered behind those around it, those of the next one anew."""
        blocks = list(region.blocks)
        self._ir += _varint(len(blocks))
        if not blocks:
            return
        first = defined
        for block in blocks:
            for value in _values_of(block):
                self._values[value] = defined
                defined += 1
        self._ir += _varint(defined - first)
        for block in blocks:
            ops = list(block.ops)
            self._ir += _varint(len(ops) << 1 | bool(block.args))
            if block.args:
                self._ir += _varint(len(block.args))
                for argument in block.args:
                    self._ir += _varint(self._type(argument.type))
                    self._ir += _varint(self._location(argument.location))
            for op in ops:
                self._op(op, defined)

    def _op_name(self, name: str) -> int:
        dialect, rest = Dialect.split_name(name)
        return self._ops[self._dialect(dialect), self._strings[rest]]

    def _dialect(self, name: str) -> int:
        return self._dialects[self._strings[name]]

    # attributes and types

    def _location(self, location: Attribute) -> int:
        return self._attribute(location if self._debuginfo else UNKNOWN_LOC)

    def _attribute(self, attribute: Attribute) -> int:
        known = self._known.get(id(attribute))
        if known is None:
            number = self._encodings[self._encoded(attribute)]
            known = self._known[id(attribute)] = attribute, number
        return known[1]

    def _encoded(self, attribute: Attribute) -> _Encoding:
        match attribute:
            case StringAttr():
                return self._string(attribute.data)
            case WeightAttr() if (
                self._weights is WeightSyntax.REFERENCE or not attribute.is_readable
            ):
                return self._weight(attribute)
            case DenseResourceAttr():  # its bytes were elsewhere in the text that it was read from
                return self._resource(attribute.type, attribute.resource_handle.data)
            case DenseIntOrFPElementsAttr() if _is_raw(attribute):
                data = attribute.data.data
                return self._raw(attribute.type, _Bytes(attribute, lambda: data, len(data)))
        stream = StringIO()
        MlirPrinter(stream, weight_syntax=WeightSyntax.HEX).print_attribute(attribute)
        return _Encoding(stream.getvalue().encode() + b"\0", is_text=True)

    def _string(self, text: str) -> _Encoding:
        return _Encoding(_varint(_Builtin.STRING) + _varint(self._strings[text]))

    def _weight(self, weight: WeightAttr) -> _Encoding:
        source = weight.source.data
        there = _Bytes(source, source.view, source.nbytes)
        if self._weights is WeightSyntax.HEX:
            return self._raw(weight.type, there)
        has_bytes = self._weights is WeightSyntax.RESOURCE
        return self._resource(weight.type, source.name, there if has_bytes else None)

    def _resource(self, type: Attribute, name: str, there: _Bytes | None = None) -> _Encoding:
        number = self._resources[name]
        self._blobs.setdefault(number, there)
        return _Encoding(_varint(_Builtin.RESOURCE) + _varint(self._type(type)) + _varint(number))

    def _raw(self, type: Attribute, there: _Bytes) -> _Encoding:
        head = _varint(_Builtin.ELEMENTS) + _varint(self._type(type)) + _varint(there.size)
        return _Encoding(head, there)

    def _dictionary(self, attributes: Mapping[str, Attribute]) -> int:
        body = _varint(_Builtin.DICTIONARY) + _varint(len(attributes))
        for name in sorted(attributes):
            body += _varint(self._encodings[self._string(name)])
            body += _varint(self._attribute(attributes[name]))
        return self._encodings[_Encoding(body)]

    def _type(self, type: Attribute) -> int:
        return self._types[type_text(type)]

    # sections

    def _attribute_sections(self) -> Iterator[_Body]:
        types = [_Encoding(text.encode() + b"\0", is_text=True) for text in self._types]
        offsets = bytearray(_varint(len(self._encodings)) + _varint(len(types)))
        for group in (self._encodings, types):
            if group:
                offsets += _varint(self._builtin)
                offsets += _list(e.size << 1 | (not e.is_text) for e in group)
        yield _Section.ATTRIBUTE_OFFSETS, [offsets]
        encodings = [*self._encodings, *types]
        yield _Section.ATTRIBUTES, [part for e in encodings for part in e.parts()]

    def _resource_sections(self) -> Iterator[_Body]:
        """Where the blobs begin is counted from the beginning of the section, which is aligned as they are."""
        if not self._resources:
            return
        offsets = bytearray(_varint(0) + _varint(self._builtin) + _varint(len(self._resources)))
        body, at = list[bytes | _Bytes](), 0
        for name, number in self._resources.items():
            there, size = self._blobs[number], 0
            if there is not None:
                head = _varint(_ALIGNMENT) + _varint(there.size)
                head += _PADDING * (-(at + len(head)) % _ALIGNMENT)
                body += head, there
                size = len(head) + there.size
            at += size
            offsets += _varint(self._strings[name]) + _varint(size) + b"\0"
        yield _Section.RESOURCES, body
        yield _Section.RESOURCE_OFFSETS, [offsets]

    def _dialect_section(self) -> _Body:
        body = _list(name << 1 for name in self._dialects)
        for dialect, group in groupby(self._ops, key=lambda op: op[0]):
            body += _varint(dialect) + _list(name for _, name in group)
        return _Section.DIALECTS, [body]

    def _string_section(self) -> _Body:
        strings = [text.encode() + b"\0" for text in self._strings]
        return _Section.STRINGS, [_list(map(len, strings[::-1])), *strings]


def _named(op: Operation) -> tuple[str, Mapping[str, Attribute]]:
    """The name of an op and all that its dictionary has."""
    if isinstance(op, RegistryOp) and not op.schema.in_torch_mlir:
        return "torch.operator", {"name": StringAttr(op.name)}
    attributes = {**op.attributes, **op.properties}
    if isinstance(op, UnregisteredOp):
        return op.op_name.data, {k: v for k, v in attributes.items() if v is not op.op_name}
    return op.name, attributes


def _place(block: Block) -> int:
    """Of a block in its region."""
    assert block.parent is not None
    return block.parent.get_block_index(block)


def _values_of(block: Block) -> Iterator[SSAValue]:
    yield from block.args
    for op in block.ops:
        yield from op.results


def _is_raw(elements: DenseIntOrFPElementsAttr) -> bool:
    """Whether the elements are many and their bytes MLIR's: booleans and indices are held otherwise there."""
    width = getattr(elements.type.element_type, "bitwidth", 0)
    return width % 8 == 0 < width and len(elements.data.data) * 8 > READABLE_ELEMENTS * width


def _list(numbers: Iterable[int]) -> bytes:
    """How many numbers there are, and they."""
    each = list(map(_varint, numbers))
    return _varint(len(each)) + b"".join(each)


def _varint(number: int) -> bytes:
    """MLIR's integer of varying length: as many zero bits, then a one, as bytes follow the first."""
    if number < len(_SHORT):
        return _SHORT[number]
    length = -(-number.bit_length() // 7)
    if length > 8:
        return b"\0" + number.to_bytes(8, "little")
    return (number << length | 1 << length - 1).to_bytes(length, "little")


_SHORT = [
    *(bytes([number << 1 | 1]) for number in range(1 << 7)),
    *((number << 2 | 2).to_bytes(2, "little") for number in range(1 << 7, 1 << 12)),
]
"""Most of the numbers there are."""
