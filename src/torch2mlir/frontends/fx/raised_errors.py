"""Errors that a model raises where elements are so and so: a branch that does nothing else is a check of the program.

``if (weight < 0).any(): raise ValueError("..")`` and ``assert x.isfinite().all()`` ask a tensor for a truth value, and
PyTorch's capture stops there. What is done in a program that goes on is the same for both answers, so the answer that
goes on is given, and a run that would have the other one is refused.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor
from torch.overrides import TorchFunctionMode

_OURS = str(Path(__file__).parents[2])
_PYTORCHS = str(Path(torch.__file__).parent)
_GOING_ON = (
    *("LOAD_", "PUSH_NULL", "PRECALL", "CALL", "KW_NAMES", "CACHE", "EXTENDED_ARG", "NOP", "COPY"),
    *(
        "FORMAT_",
        "BUILD_",
        "CONVERT_VALUE",
        "BINARY_",
        "COMPARE_OP",
        "STORE_FAST",
        "POP_TOP",
        "TO_BOOL",
    ),
)
"""Instructions, by how their names begin, that put together what is raised."""


class _Branch(NamedTuple):
    """Where a truth value decides whether an error is raised.

    Attributes:
        goes_on: the truth value with which none is.
        says: what is raised.
    """

    goes_on: bool
    says: str


class RaisedErrors(TorchFunctionMode):
    """See the module's docstring."""

    def __torch_function__(
        self, function: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        if function is Tensor.__bool__ and (branch := _branch_on(args[0])) is not None:
            holds = args[0].reshape(()).to(torch.bool)
            torch._assert_async(holds if branch.goes_on else ~holds, branch.says)
            return branch.goes_on
        return function(*args, **(kwargs or {}))


def _branch_on(condition: Any) -> _Branch | None:
    """The branch that the model's code takes on a tensor of one element that PyTorch does not know."""
    if not isinstance(condition, FakeTensor) or condition.constant is not None:
        return None
    if any(size != 1 for size in condition.shape):
        return None
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_name == "__torch_function__":
        frame = frame.f_back
    if frame is None or not all(map(_lets_errors_out, _frames_of_model(frame))):
        return None
    return _branches(frame.f_code).get(frame.f_lasti)


def _frames_of_model(frame: FrameType | None) -> Iterator[FrameType]:
    """A frame and its callers up to this package, without those of PyTorch's modules."""
    while frame is not None and not frame.f_code.co_filename.startswith(_OURS):
        if not frame.f_code.co_filename.startswith(_PYTORCHS):
            yield frame
        frame = frame.f_back


def _lets_errors_out(frame: FrameType) -> bool:
    return not any(start <= frame.f_lasti < end for start, end in _handled(frame.f_code))


@cache
def _handled(code: CodeType) -> Sequence[tuple[int, int]]:
    """The parts of a function that catch errors; a ``with`` statement lets them out."""
    table: Any = getattr(dis, "_parse_exception_table", lambda _: [])(code)
    names = {each.offset: each.opname for each in dis.get_instructions(code)}
    handlers = dict[int, bool]()
    for entry in table:
        following = [names.get(entry.target + 2 * step, "") for step in range(2)]
        handlers[entry.target] = following != ["PUSH_EXC_INFO", "WITH_EXCEPT_START"]
    cleaning_up = {e.target for e in table if _is_clean_up(names, e.target)}
    return [(e.start, e.end) for e in table if handlers[e.target] and e.target not in cleaning_up]


def _is_clean_up(names: Mapping[int, str], target: int) -> bool:
    """Whether a handler is the end of another one: it puts the error back and raises it again."""
    return names.get(target) == "COPY"


@cache
def _branches(code: CodeType) -> Mapping[int, _Branch]:
    """The branches of a function of which one side raises an error, by the place where the condition is asked."""
    instructions = [each for each in dis.get_instructions(code) if each.opname != "CACHE"]
    place = {each.offset: index for index, each in enumerate(instructions)}
    found = dict[int, _Branch]()
    for index, each in enumerate(instructions[:-1]):
        if not each.opname.startswith("POP_JUMP") or not each.opname.endswith(("TRUE", "FALSE")):
            continue
        jumps_if = each.opname.endswith("TRUE")
        sides = [_raised(instructions, place[each.argval]), _raised(instructions, index + 1)]
        if (sides[0] is None) == (sides[1] is None):
            continue
        goes_on = jumps_if == (sides[0] is None)
        says = sides[0] or sides[1] or ""
        found[each.offset] = _Branch(goes_on, says)
        before = instructions[index - 1]
        if before.opname == "UNARY_NOT":
            found[before.offset] = _Branch(not goes_on, says)
        elif before.opname == "TO_BOOL":
            found[before.offset] = _Branch(goes_on, says)
    return found


def _raised(instructions: Sequence[dis.Instruction], start: int) -> str | None:
    """What is raised where code goes on at a place, None if something else may happen there."""
    parts = list[str]()
    for each in instructions[start:]:
        if each.opname == "RAISE_VARARGS":
            return ": ".join(parts[:2]) or "the model raises an error"
        if not each.opname.startswith(_GOING_ON):
            return None
        if each.opname == "LOAD_ASSERTION_ERROR":
            parts.append("AssertionError")
        elif (
            each.opname == "LOAD_GLOBAL" or isinstance(each.argval, str) and "CONST" in each.opname
        ):
            parts.append(str(each.argval))
    return None
