"""What ``compile`` and ``run`` have in common: arguments that name a program, and its capture."""

from __future__ import annotations

import argparse
import contextlib
import io

from torch2mlir.contract.target import check_output_type, output_types
from torch2mlir.errors import InputError, Torch2MLIRError
from torch2mlir.program import Program, renamed
from torch2mlir.tools.dynamic import (
    EVERYTHING,
    HELP,
    DynamicRequest,
    dynamic_request,
    dynamic_shapes,
    placeholders,
)
from torch2mlir.tools.progress import Progress
from torch2mlir.tools.source import HOW, Source, import_source, load_source
from torch2mlir.tools.torchscript_file import INPUT_HELP, input_type


def add_program_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments that say what to compile, to which dialect, and which dimensions vary."""
    parser.add_argument("program", help=HOW)
    parser.add_argument(
        "--to",
        "--emit",
        dest="to",
        metavar="DIALECT",
        help=f"one of {', '.join(output_types())}, or a target of your own"
        " (default: stablehlo, or what the engine asked for does most with)",
    )
    parser.add_argument(
        "--load",
        action="append",
        default=[],
        metavar="FILE",
        help="a Python file or module that registers lowerings, targets or engines of your own",
    )
    parser.add_argument(
        "--dynamic", nargs="?", type=dynamic_request, const=EVERYTHING, metavar="DIMS", help=HELP
    )
    parser.add_argument(
        "--input",
        dest="input_types",
        action="append",
        default=[],
        type=input_type,
        metavar="TYPE",
        help=INPUT_HELP,
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on stderr")


def loaded(options: argparse.Namespace, parser: argparse.ArgumentParser) -> Source:
    """The program that is named, after what ``--load`` names; an unknown dialect or engine is wrong usage.

    Raises:
        InputError: there is no such file, module or function, or it fails.
    """
    for where in options.load:
        import_source(where, hint="name a Python file or module")
    source = load_source(options.program, options.input_types)
    from torch2mlir.runtime.engine import dialect_for

    engine = getattr(options, "engine", None)
    check_engine(engine, parser)
    try:
        options.to = check_output_type(dialect_for(engine, options.to))
    except Torch2MLIRError as error:
        parser.error(str(error))
    return source


def captured(
    source: Source, dynamic: DynamicRequest | None, progress: Progress, func_name: str = "main"
) -> Program:
    """The source as a raw program.

    Raises:
        InputError: ``dynamic`` is given for a program whose shapes are decided already.
        CaptureError: the program cannot be captured.
    """
    if source.is_exported and dynamic is not None:
        raise InputError(
            f"{source.name} is exported already, so --dynamic comes too late",
            hint="give torch.export.export its dynamic_shapes, or name package.module:factory",
        )
    from torch2mlir.frontends.capture import capture

    if source.is_script:
        from torch2mlir import torchscript

        with progress.stage("capture"):
            examples = placeholders(source, dynamic)
            return renamed(torchscript.capture(source.model, examples), func_name)
    with progress.stage("capture"):
        shapes = None if dynamic is None else dynamic_shapes(source, dynamic)
        with contextlib.redirect_stderr(io.StringIO()):  # torch.export prints graphs it gives up on
            return capture(
                source.model,
                *source.args,
                dynamic_shapes=shapes,
                func_name=func_name,
                **source.kwargs,
            )


def check_engine(name: str | None, parser: argparse.ArgumentParser) -> None:
    """Ends the command as wrong usage if there is no engine of this name."""
    from torch2mlir.runtime.engine import engine_names

    if name is not None and name not in engine_names():
        parser.error(f"there is no engine '{name}': use one of {', '.join(engine_names())}")
