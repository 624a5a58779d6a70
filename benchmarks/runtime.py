"""How fast a call is: what people can install on this machine, side by side.

    python benchmarks/runtime.py
    python benchmarks/runtime.py --models resnet50 bert-base --columns eager ours-xla onnxruntime --rounds 5
    python benchmarks/runtime.py --plot docs/runtime.svg

Every cell is measured in fresh processes, one cell at a time, the columns of a row in turn and as many rounds as asked
for: the median of all calls, the lowest in brackets, in ms. A column that is not installed, or whose tool refuses the
model, says so. The peers' packages are in ``benchmarks/requirements-peers.txt``; ``--peers-python`` names the Python of
an environment of their own. The last row is the geometric mean, over the rows that every column has.

The machine should be idle: two threads of one library beside any other busy process are several times slower.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))

COLUMNS = (
    "eager",
    "inductor",
    "inductor-frozen",
    "onnxruntime",
    "openvino",
    "ours-xla",
    "ours-iree",
    "ours-ort",
    "ours-openvino",
    "ours-tuned",
)
PEERS = {"onnxruntime", "openvino", "inductor", "inductor-frozen"}
MODELS = (
    "bert-base",
    "gpt2",
    "llama-64",
    "llama-1",
    "vit-base",
    "resnet50",
    "mobilenet-v2",
    "convnext-tiny",
    "mlp",
)

Call = Callable[[], Any]


def main() -> int:
    """Measure and print the table; with ``--worker`` measure one cell and print its milliseconds as JSON."""
    options = _parse()
    if options.worker:
        print("RESULT " + json.dumps(_measure(*options.worker, options.seconds)))
        return 0
    from rich.console import Console
    from rich.progress import Progress

    cells: dict[tuple[str, str], list[float]] = {}
    failures: dict[tuple[str, str], str] = {}
    steps = [
        (model, column)
        for model in options.models
        for _ in range(options.rounds)
        for column in options.columns
    ]
    console = Console(stderr=True)
    with Progress(console=console) as progress:
        task = progress.add_task("", total=len(steps))
        for model, column in steps:
            progress.update(task, description=f"{model} {column}")
            if (model, column) not in failures:
                outcome = _in_fresh_process(model, column, options)
                if isinstance(outcome, str):
                    failures[model, column] = outcome
                else:
                    cells.setdefault((model, column), []).extend(outcome)
            progress.advance(task)
    _print_table(options, cells, failures)
    if options.plot is not None:
        options.plot.write_text(_svg(options, cells), encoding="utf-8")
    return 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--models", nargs="+", choices=MODELS, default=list(MODELS), metavar="MODEL"
    )
    parser.add_argument(
        "--columns", nargs="+", choices=COLUMNS, default=list(COLUMNS), metavar="COLUMN"
    )
    parser.add_argument("--rounds", type=int, default=2, help="fresh processes per cell")
    parser.add_argument(
        "--seconds", type=float, default=2.0, help="of calls in a process, after the first three"
    )
    parser.add_argument("--timeout", type=float, default=300.0, help="of a process, in seconds")
    parser.add_argument("--peers-python", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg")
    parser.add_argument("--worker", nargs=2, metavar=("MODEL", "COLUMN"), help=argparse.SUPPRESS)
    return parser.parse_args()


def _in_fresh_process(model: str, column: str, options: argparse.Namespace) -> list[float] | str:
    python = options.peers_python if column in PEERS else sys.executable
    command = [python, __file__, "--worker", model, column, "--seconds", str(options.seconds)]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=options.timeout, env=environment
        )
    except subprocess.TimeoutExpired:
        return "timeout"
    for line in done.stdout.splitlines():
        if line.startswith("RESULT "):
            found: list[float] = json.loads(line.removeprefix("RESULT "))
            return found
    last = (done.stderr.strip().splitlines() or ["no output"])[-1]
    return "not installed" if "No module named" in last else f"refused: {last[:60]}"


# one cell


def _measure(model: str, column: str, seconds: float) -> list[float]:
    """Milliseconds of each call, the first three left out."""
    import torch

    torch.manual_seed(0)
    module, args, kwargs = _model(model)
    with torch.no_grad():
        call = _CALLS[column](module, args, kwargs)
        _check(call(), module(*args, **kwargs))
        for _ in range(2):
            call()
        times = []
        stop = time.perf_counter() + seconds
        while time.perf_counter() < stop or len(times) < 5:
            start = time.perf_counter()
            call()
            times.append(1e3 * (time.perf_counter() - start))
    return times


def _check(actual: Any, expected: Any) -> None:
    """The first output is right, to what sums in another order differ by."""
    import torch
    from torch.utils import _pytree as pytree

    mine, eager = (
        next(leaf for leaf in pytree.tree_leaves(value) if hasattr(leaf, "shape"))
        for value in (actual, expected)
    )
    torch.testing.assert_close(torch.as_tensor(mine), eager, rtol=2e-2, atol=2e-2)


def _model(name: str) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    import torch
    from torch import nn

    if name == "mlp":
        layers = [each for _ in range(8) for each in (nn.Linear(64, 64), nn.ReLU())]
        return nn.Sequential(*layers).eval(), (torch.randn(1, 64),), {}
    from zoo import MODELS as ZOO

    if name.startswith("llama"):
        entry = ZOO["llama"](layers=12, hidden=1024, sequence=int(name.partition("-")[2]))
    else:
        entry = ZOO[name]()
    return _FirstOutput(entry.model), entry.args, entry.kwargs


def _first_output_class() -> type:
    from torch import nn
    from torch.utils import _pytree as pytree

    class FirstOutput(nn.Module):
        """A model of transformers as a function to one tensor, which every tool can take."""

        def __init__(self, model: nn.Module) -> None:
            super().__init__()
            self.model = model

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            """The first tensor of the result."""
            return pytree.tree_leaves(self.model(*args, **kwargs))[0]

    return FirstOutput


def _FirstOutput(model: Any) -> Any:
    return _first_output_class()(model).eval()


def _eager(module: Any, args: Any, kwargs: Any) -> Call:
    return lambda: module(*args, **kwargs)


def _inductor(module: Any, args: Any, kwargs: Any, freezing: bool = False) -> Call:
    import torch
    import torch._inductor.config

    torch._inductor.config.freezing = freezing
    compiled = torch.compile(module)
    return lambda: compiled(*args, **kwargs)


def _onnx_file(module: Any, args: Any, kwargs: Any) -> str:
    import tempfile

    import torch

    path = str(Path(tempfile.mkdtemp()) / "model.onnx")
    torch.onnx.export(module, args, path, kwargs=kwargs, dynamo=True, verbose=False)
    return path


def _onnxruntime(module: Any, args: Any, kwargs: Any) -> Call:
    import onnxruntime
    import torch

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    session = onnxruntime.InferenceSession(
        _onnx_file(module, args, kwargs), options, providers=["CPUExecutionProvider"]
    )
    values = [value.numpy() for value in (*args, *kwargs.values())]
    feeds = {node.name: value for node, value in zip(session.get_inputs(), values)}
    return lambda: session.run(None, feeds)


def _openvino(module: Any, args: Any, kwargs: Any) -> Call:
    import openvino
    import torch

    program = torch.export.export(module, args, kwargs)
    core = openvino.Core()
    settings = {
        "INFERENCE_NUM_THREADS": torch.get_num_threads(),
        "INFERENCE_PRECISION_HINT": "f32",
        "PERFORMANCE_HINT": "LATENCY",
    }
    compiled = core.compile_model(openvino.convert_model(program), "CPU", settings)
    values = [value.numpy() for value in (*args, *kwargs.values())]
    request = compiled.create_infer_request()
    return lambda: request.infer(values, share_inputs=True, share_outputs=True)[0]


def _ours(module: Any, args: Any, kwargs: Any, output_type: str, engine: str) -> Call:
    import torch2mlir

    compiled = torch2mlir.compile(module, *args, output_type=output_type, engine=engine, **kwargs)
    return lambda: compiled(*args, **kwargs)


def _tuned(module: Any, args: Any, kwargs: Any) -> Call:
    import torch2mlir

    inputs = (*args, *kwargs.values())
    optimized = torch2mlir.optimize(module, model_inputs=inputs, tune=True)
    return lambda: optimized(*inputs)


_CALLS: dict[str, Callable[[Any, Any, Any], Call]] = {
    "eager": _eager,
    "inductor": _inductor,
    "inductor-frozen": partial(_inductor, freezing=True),
    "onnxruntime": _onnxruntime,
    "openvino": _openvino,
    "ours-xla": partial(_ours, output_type="stablehlo", engine="xla"),
    "ours-iree": partial(_ours, output_type="linalg-on-tensors", engine="iree"),
    "ours-ort": partial(_ours, output_type="onnx", engine="onnxruntime"),
    "ours-openvino": partial(_ours, output_type="onnx", engine="openvino"),
    "ours-tuned": _tuned,
}


# the report

Cells = dict[tuple[str, str], list[float]]


def _print_table(
    options: argparse.Namespace, cells: Cells, failures: dict[tuple[str, str], str]
) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(
        title=f"ms per call, median (lowest), {options.rounds} processes a cell; {_machine()}"
    )
    table.add_column("model")
    for column in options.columns:
        table.add_column(column, justify="right")
    for model in options.models:
        row = []
        for column in options.columns:
            times = cells.get((model, column))
            row.append(
                f"{statistics.median(times):.3g} ({min(times):.3g})"
                if times
                else failures.get((model, column), "-")
            )
        table.add_row(model, *row)
    shared = [m for m in options.models if all((m, c) in cells for c in options.columns)]
    if shared:
        means = (_geometric_mean(cells, shared, column) for column in options.columns)
        table.add_row(f"geometric mean of {len(shared)}", *(f"{mean:.3g}" for mean in means))
    Console(width=60 + 18 * len(options.columns)).print(table)


def _geometric_mean(cells: Cells, models: list[str], column: str) -> float:
    logs = [math.log(statistics.median(cells[model, column])) for model in models]
    return math.exp(sum(logs) / len(logs))


def _machine() -> str:
    name = platform.processor() or platform.machine()
    try:
        text = Path("/proc/cpuinfo").read_text()
        name = next(
            line.partition(":")[2].strip()
            for line in text.splitlines()
            if line.startswith("model name")
        )
    except (OSError, StopIteration):
        pass
    return f"{name}, {os.cpu_count()} cores"


_COLOURS = ("#888", "#b07aa1", "#9c6ade", "#e15759", "#f28e2b", "#4e79a7", "#76b7b2", "#59a14f")


def _svg(options: argparse.Namespace, cells: Cells) -> str:
    """Bars of a row's speed against eager: longer is faster."""
    rows = [m for m in options.models if (m, "eager") in cells]
    height, step, left, unit = 0, 12, 130, 90.0
    parts = list[str]()
    for model in rows:
        base = statistics.median(cells[model, "eager"])
        parts.append(f'<text x="0" y="{height + 12}" font-weight="bold">{model}</text>')
        for index, column in enumerate(options.columns):
            if (times := cells.get((model, column))) is None:
                continue
            speed = base / statistics.median(times)
            colour = _COLOURS[index % len(_COLOURS)]
            parts.append(
                f'<rect x="{left}" y="{height + 3}" width="{unit * speed:.0f}" height="{step - 3}" fill="{colour}"/>'
                f'<text x="{left + unit * speed + 4:.0f}" y="{height + 11}">{column} {speed:.2f}x</text>'
            )
            height += step
        height += step
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="{height + 20}" font-family="sans-serif" '
        f'font-size="9"><title>Speed against eager PyTorch</title>{"".join(parts)}</svg>\n'
    )


if __name__ == "__main__":
    raise SystemExit(main())
