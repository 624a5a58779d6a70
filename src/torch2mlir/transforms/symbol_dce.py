"""``symbol-dce``: private functions and globals that nothing public refers to disappear."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.traits import SymbolOpInterface


def symbols(attribute: Attribute) -> Iterator[str]:
    """The symbols an attribute names."""
    match attribute:
        case SymbolRefAttr():
            yield attribute.root_reference.data
        case ArrayAttr():
            for member in attribute.data:
                yield from symbols(member)
        case DictionaryAttr():
            for member in attribute.data.values():
                yield from symbols(member)


def references(op: Operation) -> set[str]:
    """The symbols an op and what is inside it refer to."""
    return {
        symbol
        for inner in op.walk()
        for attribute in (*inner.properties.values(), *inner.attributes.values())
        for symbol in symbols(attribute)
    }


def is_private(op: Operation) -> bool:
    """Whether a symbol is only for its own module."""
    visibility = op.properties.get("sym_visibility", op.attributes.get("sym_visibility"))
    return isinstance(visibility, StringAttr) and visibility.data != "public"


@dataclass(frozen=True)
class SymbolDcePass(ModulePass):
    """See the module's docstring."""

    name = "symbol-dce"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        private = dict[str, Operation]()
        live = list[Operation]()
        for member in op.ops:
            if member.has_trait(SymbolOpInterface) and is_private(member):
                symbol = member.get_trait(SymbolOpInterface)
                name = symbol.get_sym_attr_name(member) if symbol is not None else None
                if name is not None:
                    private[name.data] = member
                    continue
            live.append(member)
        while live:
            for symbol in references(live.pop()):
                if (found := private.pop(symbol, None)) is not None:
                    live.append(found)
        for member in private.values():
            member.detach()
            member.erase()
