"""Compile a program ahead of time, to a directory that torch2mlir.load runs without the model's code.

torch2mlir build model.pt2 -o model.artefact/ --engine iree --to linalg-on-tensors
torch2mlir build package.module:factory -o model.artefact/ --dynamic
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from torch2mlir.tools.capture import add_program_arguments, captured, loaded
from torch2mlir.tools.inputs import example_inputs
from torch2mlir.tools.output import total_size
from torch2mlir.tools.progress import Progress

SUMMARY = "compile a program ahead of time, to an artefact"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``torch2mlir build``."""
    add_program_arguments(parser)
    parser.add_argument(
        "-o", "--output", metavar="DIR", type=Path, required=True, help="where the artefact goes"
    )
    parser.add_argument(
        "--engine",
        metavar="ENGINE",
        help="what will run it (default: xla for stablehlo, onnxruntime for onnx, iree for the others)",
    )


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Do what ``torch2mlir build`` was asked for."""
    import torch2mlir

    with Progress(options.quiet) as progress:
        with progress.stage("load"):
            source = loaded(options, parser)
        program = captured(source, options.dynamic, progress)
        with progress.stage("compile") as stage:
            compiled: Any = torch2mlir.compile(
                program, output_type=options.to, engine=options.engine
            )
            if program.signature.ranges:
                args, kwargs = example_inputs(source)
                compiled.compile_like(*args, **kwargs)
            stage.detail = f"{options.to} for {compiled.engine.name}"
        with progress.stage("write") as stage:
            target = torch2mlir.save(compiled, options.output)
            stage.detail = f"{target} ({total_size(target)})"
    return 0
