"""Compile a PyTorch program to MLIR text or bytecode.

torch2mlir compile model.pt2 --to stablehlo -o model.mlir
torch2mlir compile model.pt2 --to stablehlo -o model.mlirbc
torch2mlir compile package.module:factory --to linalg-on-tensors --dynamic 0:0=batch
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from torch2mlir.files import checked_target
from torch2mlir.tools.capture import add_program_arguments, captured, loaded
from torch2mlir.tools.output import STDOUT, described
from torch2mlir.tools.progress import Progress

SUMMARY = "compile a program to MLIR text or bytecode"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``torch2mlir compile``."""
    add_program_arguments(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="where the text goes, - for stdout (default: PROGRAM.DIALECT.mlir); bytecode if it ends in .mlirbc",
    )
    parser.add_argument(
        "--weights",
        choices=("inline", "external", "arguments"),
        default="inline",
        help="in the text, in a .safetensors file beside it, or as arguments of the function "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--generic", action="store_true", help="the generic form that every MLIR version reads"
    )
    parser.add_argument(
        "--debuginfo", action="store_true", help="write the source location of every operation"
    )
    parser.add_argument(
        "--func-name", default="main", metavar="NAME", help="name of the function (default: main)"
    )


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Do what ``torch2mlir compile`` was asked for."""
    import torch2mlir

    if options.weights == "external" and options.output == STDOUT:
        parser.error("--weights external needs a file: its weights go beside it")
    form = {"generic": options.generic or None, "debuginfo": options.debuginfo}
    with Progress(options.quiet) as progress:
        with progress.stage("load"):
            source = loaded(options, parser)
        output = options.output or f"{source.name}.{options.to}.mlir"
        target = None if output == STDOUT else checked_target(Path(output))
        program = captured(source, options.dynamic, progress, options.func_name)
        with progress.stage("lower") as stage:
            module = torch2mlir.export_and_import(
                program, output_type=options.to, weights=options.weights
            )
            count = sum(1 for _ in module.operation.walk())
            stage.detail = f"{options.to}, {count} ops"
        with progress.stage("write") as stage:
            if target is None:
                sys.stdout.write(module.text(**form))
                sys.stdout.flush()
            else:
                stage.detail = ", ".join(map(described, module.save(target, **form)))
    return 0
