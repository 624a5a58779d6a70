"""Show which core ops lower to which dialect, read from the registered conversions themselves.

torch2mlir coverage
torch2mlir coverage softmax conv --missing
torch2mlir coverage --markdown > coverage.md
"""

from __future__ import annotations

import argparse

SUMMARY = "show which core op lowers to which dialect"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``torch2mlir coverage``."""
    parser.add_argument("pattern", nargs="*", help="only ops whose name contains one of these")
    parser.add_argument(
        "--missing", action="store_true", help="only ops that some dialect does not have"
    )
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
