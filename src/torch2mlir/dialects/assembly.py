"""Assembly text composed once: the pieces of printing that every operation repeats.

A model has thousands of operations but few distinct types, and walking a type parameter by
parameter costs ten times more than hashing it. Only types and affine maps go through the cache:
two equal attributes may have different text (`0.0` and `-0.0`), two equal types may not.
"""

from collections.abc import Iterable
from functools import lru_cache
from io import StringIO

from xdsl.ir import Attribute, SSAValue
from xdsl.printer import Printer


@lru_cache(maxsize=16384)
def type_text(type_: Attribute) -> str:
    """The MLIR text of a type (or of another attribute whose equality implies equal text)."""
    stream = StringIO()
    Printer(stream).print_attribute(type_)
    return stream.getvalue()


def types_text(types: Iterable[Attribute]) -> str:
    """The MLIR text of a list of types, separated by commas."""
    return ", ".join(map(type_text, types))


def results_text(types: Iterable[Attribute]) -> str:
    """Result types as they follow an arrow: one bare, none or several in parentheses."""
    texts = [type_text(type_) for type_ in types]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def values_text(printer: Printer, values: Iterable[SSAValue]) -> str:
    """A comma-separated list of SSA names, as `printer` names the values."""
    known = printer._ssa_values
    names: list[str] = []
    for value in values:
        name = known.get(value)
        names.append(_new_name(printer, value) if name is None else name)
    return f"%{', %'.join(names)}" if names else ""


class _Nowhere(StringIO):
    """A stream that forgets what is written to it."""

    def write(self, text: str) -> int:
        return len(text)


_NOWHERE = _Nowhere()


def _new_name(printer: Printer, value: SSAValue) -> str:
    """Let the printer name a value it meets for the first time, without printing the name."""
    stream, printer.stream = printer.stream, _NOWHERE
    try:
        return printer.print_ssa_value(value)
    finally:
        printer.stream = stream
