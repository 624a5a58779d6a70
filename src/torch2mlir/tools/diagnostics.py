"""Diagnostics as MLIR writes them: ``file.mlir:3:10: error: ...``, the line of the source and a caret."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from xdsl.dialects.builtin import ArrayAttr, CallSiteLoc, FileLineColLoc, FusedLoc, NameLoc
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import DiagnosticException, VerifyException
from xdsl.utils.exceptions import ParseError as XdslParseError

from torch2mlir.errors import Torch2MLIRError

LONGEST_LINE = 400
"""Characters of a source line that are shown; a weight can be a line of megabytes."""

_PLACE = re.compile(r"(?P<file>.+?):(?P<line>\d+)(:(?P<column>\d+))?")


@dataclass(frozen=True)
class Place:
    """A position in a file; lines and columns count from 1, and 0 is an unknown one."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        parts = [self.file, *(str(part) for part in (self.line, self.column) if part)]
        return ":".join(parts)


@dataclass(frozen=True)
class Diagnostic:
    """One message about one place.

    Attributes:
        message: what is wrong; further lines follow below the first.
        place: where, in the input or in the user's own program.
        severity: ``error``, ``warning``, ``remark`` or ``note``.
        notes: what belongs to it, one message each, without the prefix.
    """

    message: str
    place: Place
    severity: str = "error"
    notes: tuple[str, ...] = ()

    def text(self, sources: Mapping[str, str]) -> str:
        """The lines a user reads; ``sources`` are the texts read so far by their names."""
        lines = [f"{self.place}: {self.severity}: {self.message}"]
        lines += _excerpt(self.place, sources)
        lines += [f"{self.place}: note: {note}" for note in self.notes]
        return "\n".join(lines)


def place_of(location: Attribute | None) -> Place | None:
    """The innermost file position of an operation's location."""
    match location:
        case FileLineColLoc():
            return Place(location.filename.data, location.line.data, location.column.data)
        case NameLoc():
            return place_of(location.location)
        case CallSiteLoc():
            return place_of(location.callee) or place_of(location.caller)
        case FusedLoc() if isinstance(location.locations, ArrayAttr):
            return next((place for item in location.locations if (place := place_of(item))), None)
    return None


def about_operation(op: Operation, message: str, name: str) -> Diagnostic:
    """An error of an operation, at its own location or else at that of the operation around it."""
    place, around = place_of(op.location), op.parent_op()
    while place is None and around is not None:
        place, around = place_of(around.location), around.parent_op()
    return Diagnostic(f"'{op.name}' op {message}", place or Place(name))


def from_exception(
    error: Exception, name: str, during: str = "", sources: Mapping[str, str] | None = None
) -> Diagnostic:
    """The diagnostic of an exception raised while reading or transforming the text called ``name``.

    Args:
        error: any exception; ours and xDSL's speak for themselves, others are reported as defects.
        name: the text being worked on, the place of errors that know no better.
        during: what was being done, for errors that do not say it.
        sources: texts by name, to find the column of an error that knows its line only.
    """
    match error:
        case Torch2MLIRError():
            notes = [
                f"{label}: {value}"
                for label, value in (
                    ("op", error.op),
                    ("dialect", error.dialect),
                    ("next", error.hint),
                )
                if value
            ]
            place = _place_from_text(error.location, error.op or "", name, sources or {})
            return Diagnostic(error.message, place, notes=tuple(notes))
        case XdslParseError():
            where = error.span.get_location()
            return Diagnostic(error.msg, Place(name, where.line, where.col))
        case DiagnosticException():
            return Diagnostic(f"{during}{error}", Place(name))
        case ModuleNotFoundError() if error.name == "torch":
            message = f"{during}it runs PyTorch's own semantics, and PyTorch is not installed"
            return Diagnostic(message, Place(name), notes=("next: pip install torch",))
        case UnicodeDecodeError():
            return Diagnostic(f"not UTF-8 text: {error.reason} at byte {error.start}", Place(name))
        case RecursionError():
            return Diagnostic(f"{during}nested too deeply", Place(name))
    kind = type(error).__name__
    return Diagnostic(
        f"{during}{kind}: {error}",
        Place(name),
        notes=("next: this has no message of its own yet; please report it with --traceback",),
    )


def verifier_message(error: BaseException) -> str:
    """What a verifier found, of the exception xDSL made of it on its way out."""
    found: BaseException | None = error
    while found is not None and not isinstance(found, VerifyException):
        found = found.__context__
    return str(found or error).strip() or type(error).__name__


def _place_from_text(location: str | None, op: str, name: str, sources: Mapping[str, str]) -> Place:
    match = _PLACE.fullmatch(location or "")
    if match is None:
        return Place(name)
    file, line, column = match["file"], int(match["line"]), int(match["column"] or 0)
    if not column and (text := _line(file, line, sources)):
        name_of_op = op.split(maxsplit=1)[0] if op else ""
        start = text.find(name_of_op) if name_of_op else -1
        column = 1 + (start if start >= 0 else len(text) - len(text.lstrip()))
    return Place(file, line, column)


def _excerpt(place: Place, sources: Mapping[str, str]) -> Iterator[str]:
    text = _line(place.file, place.line, sources)
    if not text.strip():
        return
    if not place.column:
        yield text[:LONGEST_LINE]
        return
    column = place.column
    start = 0 if column < LONGEST_LINE else column - LONGEST_LINE // 2
    shown = text[start : start + LONGEST_LINE]
    yield shown
    # Tabs are kept, so that the caret stands below its column however wide they are.
    yield "".join("\t" if c == "\t" else " " for c in shown[: column - 1 - start]) + "^"


def _line(file: str, line: int, sources: Mapping[str, str]) -> str:
    if line < 1:
        return ""
    lines = _split(sources[file]) if file in sources else _lines_of_file(file)
    return lines[line - 1] if line <= len(lines) else ""


@lru_cache(maxsize=4)
def _split(text: str) -> list[str]:
    return text.split("\n")


@lru_cache(maxsize=16)
def _lines_of_file(file: str) -> list[str]:
    try:
        return Path(file).read_text(errors="replace").split("\n")
    except (OSError, ValueError):
        return []
