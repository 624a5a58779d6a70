"""From what an engine says of a program it refuses or fails to run to one EngineError: message, op, source line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from torch2mlir.errors import EngineError

if TYPE_CHECKING:
    from torch2mlir.runtime.lowered import LoweredFunction

# "model.py":12:0: error: ...   loc(callsite("a.py":1:2 at "b.py":3:4)): error: ...   text.mlir:3:9: ...
_LOCATED = re.compile(
    r"(?P<where>\S.*?:(?P<line>\d+):(?P<column>\d+)[\")\]]*): (?:error: )?(?P<message>.+)"
)
_FILE_LINE = re.compile(r'([^\s"()\[\]<>,]+)"?:(\d+):\d+')
_CURRENT_OP = re.compile(r"see current operation:\s*(.+)")
_OP_NAME = re.compile(r"'([a-z_]\w*\.[\w.]+)'")
_STATUS = re.compile(r"[A-Z_]{5,}: ")

_SHOWN = 300
LEFT_TO_PYTORCH = "torch2mlir.optimize() leaves the op to PyTorch"
"""A way out of whatever an engine refuses."""
FAILED_CHECK = "torch2mlir: result {} does not hold"
"""What an assertion says that stands for a check among a program's results."""
_FAILED_CHECK = re.compile(FAILED_CHECK.format(r"(\d+)"))
ANOTHER = f"another engine or output type may take it; {LEFT_TO_PYTORCH}"


def compile_error(
    engine: str, dialect: str, printed: str, text: str, text_name: str
) -> EngineError:
    """The error for a program that ``engine`` refused.

    Args:
        engine: the engine's name, as shown to people.
        dialect: the output type of the program.
        printed: everything the compiler said, the first error first.
        text: the program.
        text_name: what the compiler calls the text in positions; such a position is shown as a
            line of the text, any other one as a line of the user's program.
    """
    lines = [line for line in _STATUS.sub("", printed.strip(), count=1).splitlines() if line]
    first = (
        lines[0].removeprefix("loc(unknown): ").removeprefix("error: ")
        if lines
        else "no reason given"
    )
    op: str | None = None
    location: str | None = None
    if match := _LOCATED.match(first):
        first = match["message"]
        if files := _FILE_LINE.findall(match["where"]):
            name, number = files[0]
            location = f"{name}:{number}"
            if name == text_name:
                location = f"line {number} of the {dialect} text"
                op = _line(text, int(number))
    if current := _CURRENT_OP.search(printed):
        op = current[1]
    elif op is None and (named := _OP_NAME.search(first)):
        op = named[1]
    message = _STATUS.sub("", first.split(" see current operation:")[0], count=1)
    if op is not None:
        message = message.removesuffix(f": {op}")
    return EngineError(
        f"{engine} cannot compile the program: {shortened(message)}",
        op=shortened(op) if op else None,
        location=location,
        dialect=dialect,
        hint=ANOTHER,
    )


def run_error(engine: str, function: LoweredFunction, error: Exception) -> EngineError:
    """The error for a program that ``engine`` has taken and does not run with the arguments of a call.

    Args:
        engine: the engine's name, as shown to people.
        function: the program.
        error: what the engine has raised.
    """
    return EngineError(
        f"{engine} failed to run @{function.name}: {shortened(str(error))}",
        dialect=function.target.name,
        hint=ANOTHER,
    )


def failed_check(error: str) -> int | None:
    """The result that an assertion in an engine's error is about; None if the error is about something else."""
    said = _FAILED_CHECK.search(error)
    return None if said is None else int(said[1])


def shortened(text: str) -> str:
    """The text on one line and at most a few hundred characters long."""
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else text[:_SHOWN] + " ..."


def _line(text: str, number: int) -> str | None:
    """Line ``number`` (from 1) of the text, found without splitting all of it."""
    start = 0
    for _ in range(number - 1):
        start = text.find("\n", start) + 1
        if start == 0:
            return None
    end = text.find("\n", start)
    return text[start : end if end >= 0 else None].strip() or None
