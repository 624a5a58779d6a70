"""Reading MLIR for tools: every operation knows its line and column, and what is wrong has a place."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from xdsl.context import Context
from xdsl.dialects.builtin import UNKNOWN_LOC, FileLineColLoc, IntAttr, ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.utils.exceptions import ParseError as XdslParseError
from xdsl.utils.lexer import Span

from torch2mlir.dialects.parser import MlirParser


class LocatingParser(MlirParser):
    """A parser whose operations are located in the text, unless the text gives them a location."""

    def __init__(self, context: Context, text: str, name: str) -> None:
        super().__init__(context, text, name)
        self._file = StringAttr(name)
        self._line_starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
        self._names: list[int] = []

    def _parse_op_result_list(self) -> list[tuple[Span, int]]:
        results = super()._parse_op_result_list()
        self._names.append(self._current_token.span.start)  # MLIR's place of an op is its name
        return results

    def parse_operation(self) -> Operation:
        """An operation and the place of its name."""
        op = super().parse_operation()
        start = self._names.pop()
        if op.location is UNKNOWN_LOC:
            line = bisect_right(self._line_starts, start)
            column = start - self._line_starts[line - 1] + 1
            op.location = FileLineColLoc(self._file, IntAttr(line), IntAttr(column))
        return op

    def _get_op_by_name(self, name: str) -> type[Operation]:
        start = self._names[-1]
        op_type = self.ctx.get_optional_op(name, dialect_stack=self._parser_state.dialect_stack)
        if op_type is None:
            place = Span(start, start + len(name), self._current_token.span.input)
            self.raise_error(f"the operation '{name}' is not registered", at_position=place)
        return op_type


def read_located(context: Context, text: str, name: str, implicit_module: bool = True) -> ModuleOp:
    """The module in a text, its operations located.

    Raises:
        xdsl.utils.exceptions.ParseError: the text is not MLIR of the dialects in ``context``.
    """
    parser = LocatingParser(context, text, name)
    try:
        return parser.parse_module(implicit_module)
    except (XdslParseError, MemoryError):
        raise
    except Exception as error:
        # Attributes verify themselves when they are made, and some raise what is no parse error.
        reason = str(error).strip() or type(error).__name__
        raise XdslParseError(parser._current_token.span, reason) from error
