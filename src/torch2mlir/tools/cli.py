"""The ``torch2mlir`` command: ``torch2mlir compile|run|optimize|build|opt|coverage|explore``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import version
from types import ModuleType

from torch2mlir.tools import build as build_command
from torch2mlir.tools import compile as compile_command
from torch2mlir.tools import coverage as coverage_command
from torch2mlir.tools import explore as explore_command
from torch2mlir.tools import opt as opt_command
from torch2mlir.tools import optimize as optimize_command
from torch2mlir.tools import run as run_command
from torch2mlir.tools.failure import TRACEBACK_VARIABLE, guarded

COMMANDS: dict[str, ModuleType] = {
    "compile": compile_command,
    "run": run_command,
    "optimize": optimize_command,
    "build": build_command,
    "coverage": coverage_command,
    "explore": explore_command,
}


def make_parser() -> argparse.ArgumentParser:
    """The parser of all subcommands; ``opt`` has its own, that of MLIR's opt drivers."""
    parser = argparse.ArgumentParser(
        prog="torch2mlir",
        description="PyTorch programs into the MLIR ecosystem, and running there.",
    )
    parser.add_argument(
        "--version", action="version", version=f"torch2mlir {version('torch2mlir')}"
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        subparser = commands.add_parser(
            name,
            help=command.SUMMARY,
            description=command.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_arguments(subparser)
        subparser.add_argument(
            "--traceback",
            action="store_true",
            help=f"show Python's traceback of a failure (also {TRACEBACK_VARIABLE}=1)",
        )
    commands.add_parser("opt", help=opt_command.SUMMARY, add_help=False)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0, 1 for a failure, 2 for wrong usage."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["opt"]:
        return opt_command.main(arguments[1:])
    parser = make_parser()
    parsed = parser.parse_args(arguments)
    return guarded(lambda: COMMANDS[parsed.command].run(parsed, parser), parsed.traceback)


if __name__ == "__main__":
    sys.exit(main())
