"""Tokens per second of Llama-style models with a static cache: a prompt, then a token at a time.

    python benchmarks/decode.py
    python benchmarks/decode.py --rows llama-12x1024 --columns eager ours --prompt 16 --tokens 8 --rounds 1

``transformers``' own ``generate`` drives eager, inductor and ours (``torch.compile(backend="torch2mlir")``), greedy; a
loop of its own drives ONNX Runtime and OpenVINO, which get the model as one step (``decode_steps.py``), and the same
step compiled by us. The first text compiles and is not counted, and its tokens are compared with eager's. The higher
the better; weights are random, so the tokens mean nothing.
"""

from __future__ import annotations

import argparse
import copy
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import decode_steps
from cells import Benchmark, main

SIZES = {"llama-12x1024": (12, 1024), "llama-24x2048": (24, 2048)}
OPTIONS: dict[str, dict[str, Any] | None] = {
    "eager": None,
    "inductor": {"backend": "inductor"},
    "onnxruntime": None,
    "openvino": None,
    "ours": {"backend": "torch2mlir"},
    "ours-ort": None,
    "ours-openvino": None,
    "optimize": None,
}
PEERS = ("onnxruntime", "openvino")


def measure(row: str, column: str, options: argparse.Namespace) -> list[float]:
    """Tokens per second of each further text."""
    import torch

    from generate import language_model

    torch.manual_seed(0)
    layers, hidden = SIZES[row] if options.size == "full" else (2, 64)
    model = language_model(layers, hidden, options.prompt + options.tokens)
    prompt = torch.randint(1, 1000, (1, options.prompt))

    def generate(of: Any) -> torch.Tensor:
        settings = {"max_new_tokens": options.tokens, "do_sample": False}
        return of.generate(prompt, disable_compile=True, cache_implementation="static", **settings)

    expected = generate(model)
    if column in decode_steps.STEPS:
        run = _by_step(model, row, column, options)
    else:
        twin = copy.copy(model)
        if (how := OPTIONS[column]) is not None:
            twin.forward = torch.compile(model.forward, **how)
        run = lambda _: generate(twin)  # noqa: E731
    if not torch.equal(run(prompt), expected):
        raise AssertionError("the tokens differ from eager's")
    found, start = list[float](), time.perf_counter()
    while len(found) < 2 or time.perf_counter() - start < options.seconds:
        before = time.perf_counter()
        run(prompt)
        found.append(options.tokens / (time.perf_counter() - before))
    return found


def _by_step(
    model: Any, row: str, column: str, options: argparse.Namespace
) -> Callable[[Any], Any]:
    """The loop of an engine that ``generate`` does not drive."""
    import torch

    length = options.prompt + options.tokens
    keep = options.keep / f"{row}-{options.size}-{length}.onnx" if options.keep else None
    with torch.no_grad():
        return decode_steps.STEPS[column](model, options.prompt, length, keep)


def arguments(parser: argparse.ArgumentParser) -> None:
    """How long the texts are."""
    parser.add_argument("--prompt", type=int, default=128, help="tokens of the prompt")
    parser.add_argument("--tokens", type=int, default=128, help="tokens to generate")


if __name__ == "__main__":
    benchmark = Benchmark(
        __file__,
        "tokens per second, median (highest), the prompt's time included",
        list(SIZES),
        list(OPTIONS),
        measure,
        frozenset({"inductor", *PEERS}),
        lower_is_better=False,
        arguments=arguments,
    )
    raise SystemExit(main(benchmark, __doc__ or ""))
