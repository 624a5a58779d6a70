"""Show what of a program runs compiled and what in PyTorch, and why.

torch2mlir optimize model.pt2 --report
torch2mlir optimize package.module:factory --engine iree --tune --report report.html -o optimized/
"""

from __future__ import annotations

import argparse
import contextlib
import io
from pathlib import Path
from typing import Any

from torch2mlir.files import checked_target
from torch2mlir.tools.capture import check_engine
from torch2mlir.tools.inputs import example_inputs
from torch2mlir.tools.output import STDOUT, described
from torch2mlir.tools.progress import Progress
from torch2mlir.tools.source import HOW, load_source
from torch2mlir.tools.torchscript_file import INPUT_HELP, input_type

SUMMARY = "compile what can be compiled and leave the rest to PyTorch"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``torch2mlir optimize``."""
    parser.add_argument("program", help=HOW)
    parser.add_argument(
        "--report",
        nargs="?",
        const=STDOUT,
        metavar="FILE",
        help="print what runs where; with a FILE (.html or .svg) also draw it",
    )
    parser.add_argument("--engine", metavar="ENGINE", help="who runs clusters (default: a choice)")
    parser.add_argument("--to", metavar="DIALECT", help="the dialect of clusters")
    parser.add_argument(
        "--white-list", default="", metavar="OPS", help="ops to try, as 'aten::a;aten::b;'"
    )
    parser.add_argument("--black-list", default="", metavar="OPS", help="ops to leave to PyTorch")
    parser.add_argument(
        "--min-cluster-size", type=int, default=2, metavar="N", help="(default: %(default)s)"
    )
    parser.add_argument(
        "--tune",
        nargs="?",
        const="fast",
        default=False,
        metavar="HOW",
        help="measure what runs clusters fastest: 'fast' (30 s a graph) or 'full' (300 s)",
    )
    parser.add_argument("--input", dest="input_types", action="append", default=[],
                        type=input_type, metavar="TYPE", help=INPUT_HELP)  # fmt: skip
    parser.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help="save the optimized module as an artefact"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on stderr")


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Do what ``torch2mlir optimize`` was asked for."""
    import torch2mlir

    check_engine(options.engine, parser)
    from torch2mlir.hybrid.report import picture_file

    is_drawn = options.report not in (None, STDOUT)
    picture = checked_target(picture_file(options.report)) if is_drawn else None
    config = torch2mlir.Config(
        engine=options.engine,
        output_type=options.to,
        white_list=options.white_list,
        black_list=options.black_list,
        min_cluster_size=options.min_cluster_size,
        tune=options.tune,
    )
    with Progress(options.quiet) as progress:
        with progress.stage("load"):
            source = load_source(options.program, options.input_types)
            args, kwargs = example_inputs(source)
        with progress.stage("optimize") as stage, contextlib.redirect_stderr(io.StringIO()):
            optimized: Any = torch2mlir.optimize(source.model, config=config)
            optimized.prepare(args, kwargs)
            report = optimized.report()
            stage.detail = next(line for line in report.summary() if " compiled in " in line)
        if options.output is not None:
            with progress.stage("save") as stage:
                stage.detail = str(torch2mlir.save(optimized, options.output))
        if picture is not None:
            with progress.stage("write") as stage:
                stage.detail = described(report.save(picture))
    report.print()
    return 0
