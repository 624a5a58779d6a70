"""Operations as rows of data: the class of an op is made from its row when it is first asked for.

A row says what an op takes and gives in one line, as MLIR's operation definitions do:

    lhs, rhs -> result                                       operands and results, tensors unless they say `: kind`
    inputs*, init_values* {dimensions: i64s} (body) -> res*  `*` for any number; properties in braces; regions
    input {axis: i32, nan_mode?: nan_mode = ..} -> output    `?` for a property that may be left out
    a: T[n h c], b: T[n c w] -> output: T[n h w]             element types and sizes, see :mod:`.tensor_rules`
    x: T floats[*s] -> result: T[*s]                         an element type of a kind

beside it how the op is written (:class:`~torch2mlir.dialects.assembly.Syntax`; none is MLIR's generic form), its
traits, and the rule that its types and properties obey, a function that raises. The constraints of the signature
are checked by xDSL before the rule is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from textwrap import dedent
from types import MappingProxyType, new_class
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, cast

from typing_extensions import TypeVar
from xdsl.dialects.builtin import DenseArrayBase, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Dialect, Operation, OpTraits
from xdsl.irdl import (
    AnyAttr,
    AttrConstraint,
    BaseAttr,
    IRDLOperation,
    IRDLOption,
    OpDef,
    OperandDef,
    OptPropertyDef,
    PropertyDef,
    RegionDef,
    ResultDef,
    SingleBlockRegionDef,
    VarOperandDef,
    VarRegionDef,
    VarResultDef,
    VarSingleBlockRegionDef,
    irdl_to_attr_constraint,
)
from xdsl.irdl.operations import AttrSizedSegments, get_accessors_from_op_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import OpTrait, Pure

from torch2mlir.dialects.tensor_rules import Shaped, require_shaped

if TYPE_CHECKING:
    from xdsl.irdl.declarative_assembly_format import FormatProgram

    from torch2mlir.dialects.assembly import Syntax

Rule = Callable[["RowOp"], object]
"""Raises a VerifyException unless the types and properties of an op fit together."""


class Kind(NamedTuple):
    """What a name of a signature may be.

    Attributes:
        constraint: an attribute class or a constraint of xDSL's.
        text: a property's value as the op's syntax writes it.
        parse: the inverse.
        default: the value of a property that is left out.
        entries: of a type that lists sizes, how many.
    """

    constraint: Any = AnyAttr()
    text: Callable[[Any], str] = str
    parse: Callable[[Parser], Attribute] = Parser.parse_attribute
    default: Attribute | None = None
    entries: Callable[[Any], int] | None = None

    def check(self) -> AttrConstraint:
        """The constraint as xDSL takes it."""
        return irdl_to_attr_constraint(self.constraint)


SYMBOL = Kind(StringAttr, lambda value: str(SymbolRefAttr(value.data)), Parser.parse_symbol_name)
"""The name of a function or variable: ``@main``."""


class Row(NamedTuple):
    """One op; see the module's own text.

    Attributes:
        name: without the dialect's.
        signature: operands, properties, regions and results.
        syntax: how it is written; None for the generic form.
        rule: what is verified beyond the signature.
        doc: what it computes, where its name does not say it.
        traits: of xDSL.
        base: a class with methods of its own, for a syntax that no table describes.
        options: how segments of several variadic operands are told apart.
        format: how it is written in xDSL's declarative format, where no syntax of ours is given.
    """

    name: str
    signature: str
    syntax: Syntax | None = None
    rule: Rule | None = None
    doc: str = ""
    traits: tuple[OpTrait, ...] = (Pure(),)
    base: type[RowOp] | None = None
    options: tuple[IRDLOption, ...] = ()
    format: str = ""


class Elementwise(OpTrait):
    """Every element of the result depends on the elements at its place in the operands alone.

    Along a dimension of size 1 that is the only place, for the dialects that broadcast.
    """


class RowOp(IRDLOperation):
    """Base of the ops made from rows; operands, results, properties and regions go by their names."""

    row: ClassVar[Row]
    kinds: ClassVar[Mapping[str, Kind]]
    """Name of a property -> its kind."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class FormattedOp(IRDLOperation):
    """An op in xDSL's declarative format, which is read when the first such op is printed or parsed.

    Reading the formats of a dialect takes longer than all else that its import does.
    """

    FORMAT: ClassVar[str]

    @classmethod
    @cache
    def _program(cls) -> FormatProgram:
        from xdsl.irdl.declarative_assembly_format import FormatProgram

        return FormatProgram.from_str(cls.FORMAT, cls.get_irdl_definition())

    def print(self, printer: Printer) -> None:
        self._program().print(printer, self)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        return cls._program().parse(parser, cls)


class FormattedRowOp(FormattedOp, RowOp):
    """An op made from a row, in xDSL's declarative format."""


class WrittenOp(RowOp):
    """An op with a syntax."""

    def print(self, printer: Printer) -> None:
        assert self.row.syntax is not None
        self.row.syntax.print(self, printer)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        return cls.syntax().parse(cls, parser)

    @classmethod
    def syntax(cls) -> Syntax:
        """How the op is written."""
        assert cls.row.syntax is not None
        return cls.row.syntax


class OpTable(Dialect):
    """A dialect whose ops are rows under the names of their classes, and are made on first use."""

    def __init__(
        self,
        name: str,
        kinds: Mapping[str, Kind],
        attributes: Iterable[type[Attribute]] = (),
        reads: Callable[[str], Syntax] | None = None,
    ) -> None:
        """A table without rows.

        Args:
            name: of the dialect.
            kinds: what its signatures may say after a colon; `tensor` is what operands and results are.
            attributes: the dialect's own attributes and types.
            reads: the syntax that a text stands for; a template by default.
        """
        super().__init__(name, [], list(attributes))
        self._kinds = kinds
        self.reads = reads or template
        self._makers: dict[str, Callable[[], type[Operation]]] = {}
        self._class_names: dict[str, str] = {}
        self._classes: dict[str, type[Operation]] = {}

    def add(self, rows: Mapping[str, Row]) -> None:
        """Rows under the names that their classes get."""
        for class_name, row in rows.items():
            self.define(class_name, f"{self.name}.{row.name}", partial(self._make, class_name, row))

    def rows(
        self,
        table: str,
        signature: str = "",
        syntax: Syntax | None = None,
        rule: Rule | None = None,
        traits: tuple[OpTrait, ...] = (Pure(),),
        *,
        rules: Mapping[str, Rule] = MappingProxyType({}),
        syntaxes: Mapping[str, Syntax] = MappingProxyType({}),
        bases: Mapping[str, type[RowOp]] = MappingProxyType({}),
        options: tuple[IRDLOption, ...] = (),
    ) -> None:
        """Rows from a table of text.

        Args:
            table: entries as :func:`entries` reads them; what stands between the bars the dialect's ``reads`` reads.
            signature: of the ops that are a name and what they compute.
            syntax: of the ops that have none between bars.
            rule: of the ops that have none of their own.
            traits: of all the ops.
            rules: name of an op -> its own rule.
            syntaxes: name of an op -> one with pieces that no text names.
            bases: name of an op -> a class with a syntax that no table describes.
            options: how segments of several variadic operands are told apart.
        """
        for entry in entries(table):
            written = (
                self.reads(entry.written) if entry.written else syntaxes.get(entry.name, syntax)
            )
            row = Row(
                entry.name,
                entry.signature or signature,
                None if entry.name in bases else written,
                rules.get(entry.name, rule),
                entry.doc,
                traits,
                bases.get(entry.name),
                options,
            )
            self.add({entry.class_name: row})

    def add_class(self, op_type: type[Operation]) -> None:
        """A class that is there already."""
        self.define(op_type.__name__, op_type.name, lambda: op_type)

    def define(self, class_name: str, name: str, make: Callable[[], type[Operation]]) -> None:
        """An op by the function that makes its class."""
        self._makers[class_name] = make
        self._class_names[name] = class_name

    def __getitem__(self, class_name: str) -> type[Any]:
        """The class ``AddOp``.

        Raises:
            AttributeError: there is no such op.
        """
        if (op_type := self._classes.get(class_name)) is None:
            if class_name not in self._makers:
                raise AttributeError(f"the {self.name} dialect has no {class_name}")
            # Of two threads that make it at once, both get the first one's.
            op_type = self._classes.setdefault(class_name, self._makers[class_name]())
        return op_type

    def find_op(self, name: str) -> type[Operation] | None:
        """The class of the op ``stablehlo.add``, or None."""
        class_name = self._class_names.get(name)
        return None if class_name is None else self[class_name]

    @property
    def operations(self) -> Iterator[type[Operation]]:
        return (self[class_name] for class_name in self._makers)

    def _make(self, class_name: str, row: Row) -> type[RowOp]:
        return op_class(class_name, f"{self.name}.{row.name}", row, self._kinds)


def op_class(class_name: str, name: str, row: Row, kinds: Mapping[str, Kind]) -> type[RowOp]:
    """The class of an op.

    Args:
        class_name: what the class is called.
        name: of the op, with that of its dialect.
        row: what it is.
        kinds: what its signature may say after a colon.
    """
    definition = OpDef(name, options=list(row.options), traits=OpTraits(lambda: row.traits))
    of_properties, shaped = _fill(definition, row.signature, kinds)
    for option in row.options if row.format else ():
        if isinstance(option, AttrSizedSegments):  # a format asks where it is
            definition.properties[option.attribute_name] = PropertyDef(BaseAttr(DenseArrayBase))

    def verify(op: RowOp) -> None:
        require_shaped(op, shaped)
        if row.rule is not None:
            row.rule(op)

    base = row.base or (
        FormattedRowOp if row.format else RowOp if row.syntax is None else WrittenOp
    )
    members = {
        "__doc__": row.doc or f"`{name}`.",
        "__module__": base.__module__,
        "name": name,
        "row": row,
        "kinds": of_properties,
        "FORMAT": row.format,
        **get_accessors_from_op_def(definition, verify if shaped else row.rule),
    }
    return new_class(class_name, (base,), exec_body=lambda body: body.update(members))


RowT = TypeVar("RowT", bound=RowOp, default=RowOp)


def op_classes(
    dialect: str,
    kinds: Mapping[str, Kind],
    table: str,
    traits: tuple[OpTrait, ...] = (Pure(),),
    base: type[RowT] | None = None,
    options: tuple[IRDLOption, ...] = (),
    format: str = "",
    bases: Mapping[str, type[RowT]] = MappingProxyType({}),
) -> list[type[RowT]]:
    """The classes of ops that are added to a dialect of xDSL's, from a table of text.

    Args:
        dialect: its name, and what the names of all ops begin with beside it.
        kinds: what signatures may say after a colon.
        table: see :func:`entries`; between the bars stands a format, without one it is MLIR's generic form.
        traits: of all the ops.
        base: a class with a syntax, of all that have no format.
        options: how segments of several variadic operands are told apart.
        format: of the ops that have none of their own.
        bases: name of an op -> its own base.
    """
    made = list[type[RowT]]()
    for entry in entries(table):
        row = Row(
            entry.name,
            entry.signature,
            None,
            None,
            entry.doc,
            traits,
            bases.get(entry.name, base),
            options,
            entry.written or format,
        )
        made_class = op_class(entry.class_name, f"{dialect}.{entry.name}", row, kinds)
        made.append(cast(type[RowT], made_class))
    return made


class Entry(NamedTuple):
    """One op of a table of text."""

    class_name: str
    name: str
    signature: str
    written: str
    doc: str


def entries(table: str) -> Iterator[Entry]:
    """The ops of a table.

    Each is a line with its name and signature, which goes on behind a comma or an arrow, and indented below it how it
    is written, between two bars, and what it computes; or a line ``name: what it computes``. The name of the class is
    that of the op, or stands before it: ``ExpOp=exponential``.
    """
    for text in re.split(r"\n(?=\S)", dedent(table).strip()):
        head, *rest = (line.strip() for line in text.splitlines())
        while head.endswith((",", "->")):
            head = f"{head} {rest.pop(0)}"
        names, _, signature = head.partition(" ")
        written, doc = list[str](), " ".join(rest)
        if names.endswith(":"):
            names, signature, doc = names[:-1], "", f"{signature} {doc}"
        else:
            *written, doc = doc.split("|")
        class_name, _, name = names.rpartition("=")
        words = (word[:1].upper() + word[1:] for word in re.split(r"[._]", name))
        yield Entry(
            class_name or "".join(words) + "Op",
            name,
            signature,
            "".join(written).strip(),
            doc.strip(),
        )


def ops_named(dialect: object, names: str) -> dict[str, type[Operation]]:
    """Ops of a dialect, or of a module with their classes, by name: ``exp`` for ``ExpOp``."""
    return {name: getattr(dialect, f"{name.capitalize()}Op") for name in names.split()}


def template(text: str) -> Syntax:
    """The syntax of a template."""
    from torch2mlir.dialects.assembly import Syntax

    return Syntax(text if text.startswith("(") else f" {text}")


_SIGNATURE = re.compile(
    r"(?P<operands>[^{(>]*?)\s*(?:\{(?P<properties>[^}]*)\})?\s*(?:\((?P<regions>[^)]*)\))?\s*(?:->(?P<results>.*))?"
)
_NAME = re.compile(
    r"(?:(?P<accessor>\w+)=)?(?P<name>\w+)(?P<mark>[*?]?)"
    r"(?::\s*(?P<element>[A-Z]\b|(?:i1|i8|i32)(?=\[))?\s*(?P<kind>[a-z]\w*)?(?:\[(?P<dims>[^]]*)\])?)?"
)


def _names(text: str | None) -> Iterator[re.Match[str]]:
    """Accessor, name, mark, element, kind and dims of each entry of a list."""
    for item in (text or "").split(","):
        if item := item.strip():
            match = _NAME.fullmatch(item)
            if match is None:
                raise ValueError(f"cannot read '{item}' in a signature")
            yield match


def _fill(
    definition: OpDef, signature: str, kinds: Mapping[str, Kind]
) -> tuple[dict[str, Kind], list[Shaped]]:
    """Add what a signature says to a definition.

    Returns:
        the kinds of the properties, and what is said of tensors.
    """
    match = _SIGNATURE.fullmatch(signature)
    if match is None:
        raise ValueError(f"cannot read the signature '{signature}'")
    shaped = list[Shaped]()
    for each in _names(match["operands"]):
        operand = VarOperandDef if each["mark"] else OperandDef
        kind = _value(each, kinds, shaped)
        definition.operands.append((each["name"], operand(kind.check())))
    for each in _names(match["results"]):
        result = VarResultDef if each["mark"] else ResultDef
        kind = _value(each, kinds, shaped)
        definition.results.append((each["name"], result(kind.check())))
    for each in _names(match["regions"]):
        several, single = (
            (VarRegionDef, RegionDef)
            if each["kind"]
            else (VarSingleBlockRegionDef, SingleBlockRegionDef)
        )
        definition.regions.append((each["name"], (several if each["mark"] else single)()))
    properties: dict[str, Kind] = {}
    for each in _names(match["properties"]):
        name = each["name"]
        properties[name] = kinds[each["kind"] or name]
        made = OptPropertyDef if each["mark"] else PropertyDef
        default = properties[name].default if each["mark"] else None
        definition.properties[name] = made(properties[name].check(), default)
        definition.accessor_names[each["accessor"] or name] = (name, "property")
    return properties, shaped


def _value(each: re.Match[str], kinds: Mapping[str, Kind], shaped: list[Shaped]) -> Kind:
    """The kind of an operand or result; what is said of its sizes is noted."""
    kind = kinds[each["kind"] or "tensor"]
    if each["element"] or each["dims"] is not None:
        dims = None if each["dims"] is None else tuple(each["dims"].split())
        shaped.append(Shaped(each["name"], each["element"], dims, kind.entries))
    return kind
