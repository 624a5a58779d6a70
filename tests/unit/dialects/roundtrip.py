"""Parsing, verifying and printing modules for the dialect tests."""

from io import StringIO

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.cf import Cf
from xdsl.dialects.func import Func
from xdsl.ir import Dialect
from xdsl.parser import Parser
from xdsl.printer import Printer


def parse(text: str, *dialects: Dialect) -> ModuleOp:
    """The verified module that `text` is in the given dialects, func and cf."""
    context = Context()
    for dialect in (Builtin, Func, Cf, *dialects):
        context.load_dialect(dialect)
    module = Parser(context, text).parse_module()
    module.verify()
    return module


def text_of(module: ModuleOp, *, generic: bool = False) -> str:
    """The module as xDSL's own printer writes it."""
    stream = StringIO()
    Printer(stream, print_generic_format=generic).print_op(module)
    return stream.getvalue()


def function(body: str, arguments: str = "") -> str:
    """A function around `body`."""
    return f"func.func @f({arguments}) {{\n{body}\nreturn\n}}"
