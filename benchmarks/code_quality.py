"""How good the code is: ops per model and dialect, and how fast it runs, beside the published Torch-MLIR's.

    python benchmarks/code_quality.py
    python benchmarks/code_quality.py --models bert-base --dialects stablehlo --size full --runs 20
    python benchmarks/code_quality.py --compiled --models resnet50 convnext-tiny

Both sides get the same exported program, whose weights are its arguments, and both texts go through the same engine
in the same process, their runs in turn: StableHLO on XLA, Linalg-on-Tensors and TOSA on IREE. Constants, functions and
terminators are not counted as ops. A time is the median, with the extremes behind it.

With ``--compiled``, calls of what ``torch2mlir.compile`` gives instead: as it is, and with all that depends on weights
only computed at every call, beside eager PyTorch and ``torch.compile``.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))

import torch
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from torch import nn
from torch.utils import _pytree as pytree

from torch2mlir.errors import Torch2MLIRError
from torch2mlir.runtime.engine import Executable, get_engine
from torch2mlir.runtime.lowered import LoweredFunction
from zoo import MODELS

ENGINES = {"stablehlo": "xla", "linalg-on-tensors": "iree", "tosa": "iree"}
SHOWN = ("resnet50", "bert-base", "gpt2", "vit-base", "llama")
_OP = re.compile(r'^\s*(?:%[^=]*=\s*)?"?([a-z_]+\.[\w.]+)', re.MULTILINE)
_NOT_COUNTED = re.compile(
    r"func\.|builtin\.|torch\.|ml_program\.|.*(constant|\.const|const_shape|yield|return)$"
)
_REST = 0.05
"""Seconds between two runs: the threads of the one before stop waiting for more work."""


class WithArguments(nn.Module):
    """A model whose weights and buffers are arguments."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.hidden = (model,)  # no submodule: it has no state of its own

    def forward(self, state: dict[str, torch.Tensor], args: Any, kwargs: Any) -> Any:
        """The model's outputs."""
        return pytree.tree_leaves(torch.func.functional_call(self.hidden[0], state, args, kwargs))


@dataclass
class Side:
    """One compiler's text of a model, and what became of it."""

    text: str = ""
    failure: str = ""
    executable: Executable | None = None
    seconds: list[float] = field(default_factory=list)

    @property
    def ops(self) -> int:
        """The number of ops in the text."""
        return sum(not _NOT_COUNTED.match(name) for name in _OP.findall(self.text))

    def show_ops(self) -> str:
        """For the table."""
        return str(self.ops) if self.text else self.failure

    def show_time(self) -> str:
        """For the table."""
        if not self.seconds:
            return self.failure
        low, high = (f"{1e3 * f(self.seconds):.1f}" for f in (min, max))
        return f"{1e3 * statistics.median(self.seconds):.1f} ({low}-{high})"


@dataclass
class _Called:
    """A model's function or a compiled one, called as an engine's executable is."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def prepare(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor

    def __call__(self, args: Any) -> Any:
        return self.function(*self.args, **self.kwargs)


def main() -> int:
    """Measure and print the table."""
    options = _parse()
    table = _calls(options) if options.compiled else _texts(options)
    Console(width=max(Console().width, 130)).print(table)
    return 0


def _calls(options: argparse.Namespace) -> Table:
    """What a call of a compiled model takes."""
    import torch2mlir

    table = Table(title=f"ms per call, {options.size} models, {options.runs} calls in turn")
    for column in ("model", "dialect", "compiled", "unprepared", "gain", "eager", "torch.compile"):
        table.add_column(column, justify="left" if column in ("model", "dialect") else "right")
    for name in options.models:
        entry = MODELS[name](size=options.size)
        for dialect in options.dialects:
            with torch.no_grad():
                program = torch.export.export(
                    entry.model.eval(), tuple(entry.args), dict(entry.kwargs), strict=False
                )
            functions: list[Callable[..., Any]] = [
                torch2mlir.compile(program, output_type=dialect, prepare_weights=prepare)
                for prepare in (True, False)
            ]
            functions += [entry.model, torch.compile(entry.model)]
            sides = [
                Side(executable=_Called(function, tuple(entry.args), dict(entry.kwargs)))
                for function in functions
            ]
            _run(sides, [], options.runs)
            prepared, plain = (statistics.median(side.seconds) for side in sides[:2])
            cells = [side.show_time() for side in sides]
            table.add_row(name, dialect, *cells[:2], f"{plain / prepared:.2f}x", *cells[2:])
    return table


def _texts(options: argparse.Namespace) -> Table:
    """Ours and the peer's text of every model."""
    table = Table(title=f"{options.size} models, {options.runs} runs in turn")
    for column in (
        "model",
        "dialect",
        "our ops",
        "peer ops",
        "our ms",
        "peer ms",
        "faster",
        "eager ms",
    ):
        table.add_column(column, justify="left" if column in ("model", "dialect") else "right")
    with Progress(console=Console(stderr=True), auto_refresh=False) as progress:
        task = progress.add_task("", total=len(options.models) * len(options.dialects))
        for name in options.models:
            progress.update(task, description=f"{name}: export")
            progress.refresh()
            program, arguments = _exported(name, options.size)
            leaves = pytree.tree_leaves(arguments)
            module = program.module()
            for dialect in options.dialects:
                progress.update(task, description=f"{name}: {dialect}", advance=1)
                progress.refresh()
                sides = [_compiled(make, program, dialect) for make in (_our_text, _peer_text)]
                eager = Side(executable=_Called(module, arguments, {}))
                _run([*sides, eager], leaves, options.runs)
                table.add_row(name, dialect, *_cells(*sides), eager.show_time())
    return table


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(SHOWN))
    parser.add_argument("--dialects", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--size", choices=("full", "small"), default="full")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--compiled", action="store_true", help="time calls of compiled models")
    return parser.parse_args()


def _exported(name: str, size: str) -> tuple[torch.export.ExportedProgram, Any]:
    entry = MODELS[name](size=size)
    state = {**dict(entry.model.named_parameters()), **dict(entry.model.named_buffers())}
    state = {key: value.detach() for key, value in state.items()}
    arguments = (state, tuple(entry.args), dict(entry.kwargs))
    with torch.no_grad():
        return torch.export.export(WithArguments(entry.model), arguments, strict=False), arguments


def _our_text(program: torch.export.ExportedProgram, dialect: str) -> str:
    import torch2mlir

    module = torch2mlir.export_and_import(program, output_type=dialect)
    return module.text(generic=dialect == "tosa")


def _peer_text(program: torch.export.ExportedProgram, dialect: str) -> str:
    from torch_mlir import fx

    module = fx.export_and_import(program, output_type=dialect)
    return module.operation.get_asm(print_generic_op_form=dialect == "tosa")


def _compiled(
    make: Callable[..., str], program: torch.export.ExportedProgram, dialect: str
) -> Side:
    side = Side()
    try:
        side.text = make(program, dialect)
    except Exception:  # the peer's own errors are many, and pages long
        side.failure = "not lowered"
        return side
    try:
        side.executable = get_engine(ENGINES[dialect]).compile(
            LoweredFunction.parse(side.text, dialect)
        )
    except Torch2MLIRError:
        side.failure = "refused"
    return side


def _run(sides: list[Side], arguments: list[torch.Tensor], runs: int) -> None:
    """Runs the sides in turn, another one first each time; the first run of each is not counted."""
    for turn in range(runs + 1):
        for side in sides[turn % len(sides) :] + sides[: turn % len(sides)]:
            if side.executable is None:
                continue
            time.sleep(_REST)
            start = time.perf_counter()
            with torch.no_grad():
                side.executable(arguments)
            if turn:
                side.seconds.append(time.perf_counter() - start)


def _cells(ours: Side, peers: Side) -> list[str]:
    faster = ""
    if ours.seconds and peers.seconds:
        faster = f"{statistics.median(peers.seconds) / statistics.median(ours.seconds):.2f}x"
    return [ours.show_ops(), peers.show_ops(), ours.show_time(), peers.show_time(), faster]


if __name__ == "__main__":
    raise SystemExit(main())
