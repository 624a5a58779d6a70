"""Requests of any size: seconds that a model takes to answer all of them, compilation included.

    python benchmarks/serving.py
    python benchmarks/serving.py --columns eager onnxruntime ours-ort --requests 20 --layers 2

BERT-base answers 200 requests of random batch (1 to 8) and length (1 to 512), in the spirit of BladeDISC's benchmark.
``ours-xla`` compiles for every combination of sizes it meets, ``ours-buckets`` for those that it rounds them up to (XLA
too); all others compile once (inductor with ``dynamic=True``).
The answers to the first and to the last request are compared with eager's.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from cells import Benchmark, main

Answer = Callable[[Any], Any]
BATCH, LENGTH = 8, 512
_BUCKETS = {"batch": [1, 2, 4, 6, 8], "length": [64, 128, 192, 256, 320, 384, 448, 512]}
"""Padding costs as much as it adds, and a program some seconds."""


def measure(row: str, column: str, options: argparse.Namespace) -> list[float]:
    """The seconds of all requests, the model's preparation among them."""
    import torch

    torch.manual_seed(0)
    model = _model(options.layers, 768 if options.size == "full" else 48)
    draw = random.Random(0)
    sizes = [(draw.randint(1, BATCH), draw.randint(1, LENGTH)) for _ in range(options.requests)]
    requests = [torch.randint(1, 1000, size) for size in sizes]
    with torch.no_grad():
        expected = {index: model(requests[index]) for index in (0, len(requests) - 1)}
        start = time.perf_counter()
        answer = _COLUMNS[column](model)
        answers = {}
        for index, request in enumerate(requests):
            found = answer(request)
            if index in expected:
                answers[index] = torch.as_tensor(found)
        seconds = time.perf_counter() - start
    for index, value in expected.items():
        torch.testing.assert_close(answers[index], value, rtol=1e-3, atol=1e-3)
    return [seconds]


def _model(layers: int, hidden: int) -> Any:
    import transformers

    from runtime import first_output

    config = transformers.BertConfig(
        num_hidden_layers=layers, hidden_size=hidden, intermediate_size=4 * hidden
    )
    return first_output(transformers.BertModel(config))


def _example() -> Any:
    import torch

    return torch.randint(1, 1000, (2, 64))


def _dynamic() -> Any:
    import torch

    sizes = {0: torch.export.Dim("batch", max=BATCH), 1: torch.export.Dim("length", max=LENGTH)}
    return {"args": (sizes,)}


def _eager(model: Any) -> Answer:
    return model


def _inductor(model: Any) -> Answer:
    import torch

    return torch.compile(model, dynamic=True)


def _onnxruntime(model: Any) -> Answer:
    import onnxruntime
    import torch

    path = str(Path(tempfile.mkdtemp()) / "model.onnx")
    torch.onnx.export(
        model, (_example(),), path, dynamo=True, dynamic_shapes=_dynamic(), verbose=False
    )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    (name,) = (node.name for node in session.get_inputs())
    return lambda request: session.run(None, {name: request.numpy()})[0]


def _openvino(model: Any) -> Answer:
    import openvino
    import torch

    program = torch.export.export(model, (_example(),), dynamic_shapes=_dynamic())
    settings = {
        "INFERENCE_NUM_THREADS": torch.get_num_threads(),
        "INFERENCE_PRECISION_HINT": "f32",
        "PERFORMANCE_HINT": "LATENCY",
    }
    compiled = openvino.Core().compile_model(openvino.convert_model(program), "CPU", settings)
    request = compiled.create_infer_request()
    return lambda values: request.infer([values.numpy()], share_inputs=True)[0]


def _ours(model: Any, output_type: str, engine: str) -> Answer:
    import torch2mlir

    return torch2mlir.compile(
        model, _example(), output_type=output_type, engine=engine, dynamic_shapes=_dynamic()
    )


def _buckets(model: Any) -> Answer:
    import torch2mlir

    return torch2mlir.compile(model, _example(), dynamic_shapes=_dynamic(), buckets=_BUCKETS)


def _optimize(model: Any) -> Answer:
    import torch2mlir

    return torch2mlir.optimize(model, model_inputs=(_example(),))


_COLUMNS: dict[str, Callable[[Any], Answer]] = {
    "eager": _eager,
    "inductor": _inductor,
    "onnxruntime": _onnxruntime,
    "openvino": _openvino,
    "ours-iree": partial(_ours, output_type="linalg-on-tensors", engine="iree"),
    "ours-ort": partial(_ours, output_type="onnx", engine="onnxruntime"),
    "ours-openvino": partial(_ours, output_type="onnx", engine="openvino"),
    "ours-xla": partial(_ours, output_type="stablehlo", engine="xla"),
    "ours-buckets": _buckets,
    "optimize": _optimize,
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """How much there is to answer."""
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--layers", type=int, default=12, help="of the model")


if __name__ == "__main__":
    benchmark = Benchmark(
        __file__,
        "seconds for all requests, compilation included",
        ["bert-base"],
        list(_COLUMNS),
        measure,
        frozenset({"inductor", "onnxruntime", "openvino"}),
        (
            "eager",
            "onnxruntime",
            "openvino",
            "ours-ort",
            "ours-openvino",
            "ours-buckets",
            "optimize",
        ),
        arguments=arguments,
    )
    raise SystemExit(main(benchmark, __doc__ or ""))
