"""How fast a call is: what people can install on this machine, side by side.

    python benchmarks/runtime.py
    python benchmarks/runtime.py --rows resnet50 bert-base --columns eager ours-xla onnxruntime --rounds 5
    python benchmarks/runtime.py --essential --rounds 1 --results runtime.json --keep exports --plot docs/runtime.svg

Every cell is measured in fresh processes, one cell at a time, the columns of a row in turn and as many rounds as asked
for: the median of all calls, the lowest in brackets, in ms. A column that is not installed, or whose tool refuses the
model, says so. The peers' packages are in ``benchmarks/requirements-peers.txt``; ``--peers-python`` names the Python of
an environment of their own (inductor needs a C++ compiler). The last row is the geometric mean, over the rows that
every column has. ``optimize`` is ``torch2mlir.optimize(.., tune="fast")``, which measures for itself, in every process.

The machine should be idle: two threads of one library beside any other busy process are several times slower.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from cells import NOTE, Benchmark
from cells import main as run

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
    "optimize",
)
ESSENTIAL = (
    "eager",
    "onnxruntime",
    "openvino",
    "ours-xla",
    "ours-ort",
    "ours-openvino",
    "optimize",
)
PEERS = frozenset({"onnxruntime", "openvino", "inductor", "inductor-frozen"})
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

_MOST = 500
"""Calls of a process that are noted."""


def main() -> int:
    """Measures and prints the table."""
    title = "ms per call, median (lowest)"
    return run(
        Benchmark(__file__, title, MODELS, COLUMNS, _measure, PEERS, ESSENTIAL), __doc__ or ""
    )


def _measure(model: str, column: str, options: argparse.Namespace) -> list[float]:
    """Milliseconds of each call, the first three left out."""
    import torch

    torch.manual_seed(0)
    module, args, kwargs = _model(model, options.size)
    with torch.no_grad():
        _kept[:] = [options.keep / f"{model}-{options.size}.onnx"] if options.keep else []
        call = _CALLS[column](module, args, kwargs)
        _check(call(), module(*args, **kwargs))
        for _ in range(2):
            call()
        times = []
        stop = time.perf_counter() + options.seconds
        while (time.perf_counter() < stop and len(times) < _MOST) or len(times) < 5:
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


def _model(name: str, size: str) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    import torch
    from torch import nn

    if name == "mlp":
        layers = [each for _ in range(8) for each in (nn.Linear(64, 64), nn.ReLU())]
        return nn.Sequential(*layers).eval(), (torch.randn(1, 64),), {}
    from zoo import MODELS as ZOO

    if name.startswith("llama"):
        entry = ZOO["llama"](
            size=size, layers=12, hidden=1024, sequence=int(name.partition("-")[2])
        )
    else:
        entry = ZOO[name](size=size)
    return first_output(entry.model), entry.args, entry.kwargs


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


def first_output(model: Any) -> Any:
    """The model as a function to its first tensor, in evaluation mode."""
    return _first_output_class()(model).eval()


def _eager(module: Any, args: Any, kwargs: Any) -> Call:
    return lambda: module(*args, **kwargs)


def _inductor(module: Any, args: Any, kwargs: Any, freezing: bool = False) -> Call:
    import torch
    import torch._inductor.config

    torch._inductor.config.freezing = freezing
    compiled = torch.compile(module)
    return lambda: compiled(*args, **kwargs)


_kept: list[Path] = []
"""Where the exported model is kept, if it is."""


def _onnx_file(module: Any, args: Any, kwargs: Any) -> str:
    """The model as PyTorch exports it; weights are seeded, so an earlier run's export is the same."""
    import torch

    path = _kept[0] if _kept else Path(tempfile.mkdtemp()) / "model.onnx"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        torch.onnx.export(module, args, str(path), kwargs=kwargs, dynamo=True, verbose=False)
    return str(path)


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


def _optimize(module: Any, args: Any, kwargs: Any) -> Call:
    import os

    import torch2mlir

    # every process measures for itself, whatever was found before
    os.environ["TORCH2MLIR_CACHE_DIR"] = tempfile.mkdtemp()
    optimized = torch2mlir.optimize(module, tune="fast")
    optimized.prepare(args, kwargs)
    chosen = Counter(s.who for s in optimized.report().segments)
    print(NOTE + ", ".join(chosen))
    return lambda: optimized(*args, **kwargs)


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
    "optimize": _optimize,
}


if __name__ == "__main__":
    raise SystemExit(main())
