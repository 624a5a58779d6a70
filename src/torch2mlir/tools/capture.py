"""What ``compile`` and ``run`` have in common: arguments that name a program, and its capture."""

from __future__ import annotations

import argparse
import contextlib
import io
import re
from typing import Any

from torch2mlir.errors import CaptureError, InputError
from torch2mlir.program import OUTPUT_TYPES
from torch2mlir.tools.dynamic import (
    EVERYTHING,
    HELP,
    DynamicRequest,
    dynamic_request,
    dynamic_shapes,
)
from torch2mlir.tools.progress import Progress
from torch2mlir.tools.source import HOW, Source

_USER_LINE = re.compile(r'File "([^"]+)", line (\d+)')
"""How ``torch.export`` names the line of the user's program that it cannot capture."""


def add_program_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments that say what to compile, to which dialect, and which dimensions vary."""
    parser.add_argument("program", help=HOW)
    parser.add_argument(
        "--to",
        choices=OUTPUT_TYPES,
        default="stablehlo",
        metavar="DIALECT",
        help=f"one of {', '.join(OUTPUT_TYPES)} (default: %(default)s)",
    )
    parser.add_argument(
        "--dynamic", nargs="?", type=dynamic_request, const=EVERYTHING, metavar="DIMS", help=HELP
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on stderr")


def captured(source: Source, dynamic: DynamicRequest | None, progress: Progress) -> Any:
    """The program as an ExportedProgram.

    Raises:
        InputError: ``dynamic`` is given for a program whose shapes are decided already.
        CaptureError: ``torch.export`` does not take the program.
    """
    if source.is_exported:
        if dynamic is not None:
            raise InputError(
                f"{source.name} is exported already, so --dynamic comes too late",
                hint="give torch.export.export its dynamic_shapes, or name package.module:factory",
            )
        return source.model
    import torch

    with progress.stage("capture"):
        shapes = None if dynamic is None else dynamic_shapes(source, dynamic)
        try:
            with contextlib.redirect_stderr(io.StringIO()):  # it prints whole graphs before failing
                return torch.export.export(
                    _as_module(source.model), source.args, source.kwargs, dynamic_shapes=shapes
                )
        except Exception as error:
            lines = _USER_LINE.findall(str(error))
            raise CaptureError(
                f"torch.export cannot capture {source.name}: {str(error).strip().splitlines()[0]}",
                location=":".join(lines[-1]) if lines else None,
                hint="rewrite that line, or export the program yourself and compile the saved .pt2",
            ) from error


def _as_module(model: Any) -> Any:
    """An ``nn.Module``, which is what ``torch.export`` takes; a function becomes one."""
    import torch

    if isinstance(model, torch.nn.Module):
        return model
    module = torch.nn.Module()
    module.forward = model
    return module
