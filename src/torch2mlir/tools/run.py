"""Compile a PyTorch program and run it on an engine.

torch2mlir run model.pt2 --engine xla --compare
torch2mlir run package.module:factory --engine iree --to linalg-on-tensors --inputs x.npz
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from rich.console import Console
from rich.table import Table

from torch2mlir.files import write_whole
from torch2mlir.tools.capture import add_program_arguments, captured, loaded
from torch2mlir.tools.inputs import Inputs, example_inputs, random_inputs, saved_inputs
from torch2mlir.tools.progress import Progress
from torch2mlir.tools.source import Source

SUMMARY = "compile a program and run it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``torch2mlir run``."""
    add_program_arguments(parser)
    parser.add_argument(
        "--engine",
        metavar="NAME",
        help="what runs it: an engine's name, yours or ours (default: the dialect's own)",
    )
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--inputs",
        type=Path,
        metavar="FILE",
        help="inputs from a .npz, .safetensors or .pt file (default: the program's examples)",
    )
    source.add_argument(
        "--random",
        nargs="?",
        type=int,
        const=0,
        metavar="SEED",
        help="random inputs of the examples' shapes and dtypes",
    )
    parser.add_argument(
        "--compare", action="store_true", help="compare with eager PyTorch; exit 1 if it differs"
    )
    parser.add_argument(
        "--rtol", type=float, default=1e-3, help="relative tolerance (default: %(default)s)"
    )
    parser.add_argument(
        "--atol", type=float, default=1e-4, help="absolute tolerance (default: %(default)s)"
    )
    parser.add_argument(
        "--repeat", type=int, default=5, metavar="N", help="timed runs (default: %(default)s)"
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="save the outputs as .npz"
    )


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Do what ``torch2mlir run`` was asked for."""
    import torch2mlir
    from torch2mlir.frontends.trials import undone

    if options.repeat < 1:
        parser.error("--repeat needs at least 1")
    for tolerance in (options.rtol, options.atol):
        if not 0 <= tolerance < math.inf:
            parser.error(f"a tolerance is a number from 0 on, not {tolerance}")
    if options.random is not None and not -(1 << 63) <= options.random < 1 << 63:
        parser.error("the seed of --random has at most 64 bits")
    expected = None
    with Progress(options.quiet) as progress:
        with progress.stage("load"):
            source = loaded(options, parser)
            args, kwargs = _inputs(source, options)
        program = captured(source, options.dynamic, progress)
        if options.compare:
            with progress.stage("eager") as stage:
                eager = source.model.module() if source.is_exported else source.model
                # the compiled program has the model's own tensors
                with undone(eager, None):
                    expected, times = _measure(eager, args, kwargs, options.repeat)
                stage.detail = _spread(times)
        with progress.stage("compile") as stage:
            compiled = torch2mlir.compile(program, output_type=options.to, engine=options.engine)
            stage.detail = f"{options.to} for {compiled.engine.name}"
        with progress.stage("run") as stage:
            outputs, times = _measure(compiled, args, kwargs, options.repeat)
            stage.detail = _spread(times)
        if options.output is not None:
            with progress.stage("write") as stage:
                write_whole(options.output, lambda stream: _save(outputs, stream))
                stage.detail = str(options.output)
    return _report(outputs, expected, options)


def _inputs(source: Source, options: argparse.Namespace) -> Inputs:
    if options.inputs is not None:
        return saved_inputs(source, options.inputs)
    if options.random is not None:
        return random_inputs(source, options.random)
    return example_inputs(source)


def _measure(
    call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], repeat: int
) -> tuple[Any, list[float]]:
    """The first call's outputs, and the milliseconds of ``repeat`` more, each with arguments of its own to write to."""
    import torch

    from torch2mlir.frontends.trials import cloned

    times = []
    with torch.no_grad():
        given, named = cloned((args, kwargs))
        # a later call may write to what this one returns
        outputs = cloned(call(*given, **named))
        for _ in range(repeat):
            given, named = cloned((args, kwargs))
            start = time.perf_counter()
            call(*given, **named)
            times.append((time.perf_counter() - start) * 1e3)
    return outputs, times


def _spread(milliseconds: list[float]) -> str:
    middle = statistics.median(milliseconds)
    return f"{middle:.2f} ms median of {len(milliseconds)}, {min(milliseconds):.2f} at best"


def _named_leaves(outputs: Any) -> dict[str, Any]:
    from torch.utils._pytree import keystr, tree_flatten_with_path

    leaves, _ = tree_flatten_with_path(outputs)
    return {keystr(path).strip("[]'.") or "output": leaf for path, leaf in leaves}


def _save(outputs: Any, stream: IO[bytes]) -> None:
    import numpy
    import torch

    arrays: dict[str, Any] = {
        name: torch.as_tensor(leaf).detach().numpy()
        for name, leaf in _named_leaves(outputs).items()
        if leaf is not None
    }
    numpy.savez(stream, **arrays)


def _report(outputs: Any, expected: Any, options: argparse.Namespace) -> int:
    """Print a line for each output; 1 if one of them is not what eager PyTorch computes."""
    import torch

    table = Table(box=None, pad_edge=False)
    for heading in ("output", "type", "max error" if options.compare else "value"):
        table.add_column(heading)
    wrong = 0
    wanted = _named_leaves(expected)
    for name, leaf in _named_leaves(outputs).items():
        if not isinstance(leaf, torch.Tensor):
            wrong += bool(options.compare and leaf != wanted.get(name))
            table.add_row(name, type(leaf).__name__, str(leaf))
            continue
        kind = f"{list(leaf.shape)} {str(leaf.dtype).removeprefix('torch.')}"
        if not options.compare:
            table.add_row(name, kind, _summary(leaf))
            continue
        verdict = _difference(leaf, wanted.get(name), options.rtol, options.atol)
        wrong += verdict.startswith("differs")
        table.add_row(name, kind, verdict)
    Console(highlight=False).print(table)
    return 1 if wrong else 0


def _summary(value: Any) -> str:
    if value.numel() == 0:
        return "empty"
    if value.numel() == 1:
        return str(value.item())
    wide = value.double()
    return f"mean {wide.mean():.6g}, from {wide.min():.6g} to {wide.max():.6g}"


def _difference(actual: Any, expected: Any, rtol: float, atol: float) -> str:
    import torch

    if not isinstance(expected, torch.Tensor):
        return "differs: eager has no such output"
    if (actual.shape, actual.dtype) != (expected.shape, expected.dtype):
        return f"differs: eager has {list(expected.shape)} {expected.dtype}"
    if actual.numel() == 0:
        return "0"
    error = f"{(actual.double() - expected.double()).abs().max():.3g}"
    close = torch.allclose(actual, expected, rtol=rtol, atol=atol, equal_nan=True)
    return error if close else f"differs: {error}"
