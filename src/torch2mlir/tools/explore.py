"""Explore the pass pipeline in the terminal: a program on the left, what the chosen passes make of it on the right.

torch2mlir explore model.mlir -p torch-lower-to-backend-contract
torch2mlir explore package.module:factory
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from torch2mlir.errors import InputError
from torch2mlir.tools.plugins import Plugins

if TYPE_CHECKING:
    from torch2mlir.tools.explorer import Explorer

SUMMARY = "explore the pass pipeline in the terminal"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``torch2mlir explore``."""
    parser.add_argument(
        "program",
        nargs="?",
        help="an .mlir file, a saved ExportedProgram, or package.module:factory",
    )
    parser.add_argument("-p", "--passes", default="", help="passes to begin with")
    parser.add_argument(
        "--load",
        action="append",
        default=[],
        metavar="FILE",
        help="passes and dialects of your own",
    )


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Open the explorer and stay until it is left."""
    app = make_app(options.program, options.passes, options.load)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InputError(
            "the explorer needs a terminal", hint="torch2mlir opt runs passes without one"
        )
    app.run()
    return 0


def make_app(program: str | None, passes: str = "", load: list[str] | None = None) -> Explorer:
    """The explorer with a program and passes in it.

    Raises:
        InputError: it is not installed, or there is no such program.
        PassError: there is no such pass.
    """
    try:
        from torch2mlir.tools.explorer import Explorer
    except ModuleNotFoundError as error:
        raise InputError(
            f"the explorer needs the package '{error.name}'",
            hint="pip install 'torch2mlir[explore]'",
        ) from error
    plugins = Plugins()
    for where in load or []:
        plugins.load(where)
    return Explorer(plugins, program or "", None if program is None else _text(program), passes)


def _text(program: str) -> str:
    path = Path(program)
    if path.suffix == ".mlir":
        if not path.is_file():
            raise InputError(f"there is no file {program}")
        return path.read_text(encoding="utf-8")
    from torch2mlir.dialects.printer import WeightSyntax, module_text
    from torch2mlir.frontends.capture import capture
    from torch2mlir.tools.source import load_source

    source = load_source(program)
    captured = capture(source.model, *source.args, **source.kwargs)
    return module_text(captured.module, weights=WeightSyntax.REFERENCE)
