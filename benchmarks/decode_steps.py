"""A Llama with a static cache as one step, driven token by token: by ONNX Runtime, OpenVINO, or compiled by us.

The step takes tokens, their positions and the cache, and gives the next token and the cache: what a user of these
engines writes, for ``transformers``' own ``generate`` does not drive them. The cache goes from step to step without
passing through Python.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

Run = Callable[[torch.Tensor], torch.Tensor]


class _Cache:
    """What a layer asks of a cache: its new keys and values at their positions among the old."""

    def __init__(self, tensors: tuple[torch.Tensor, ...], positions: torch.Tensor) -> None:
        self.tensors = list(tensors)
        self._positions = positions

    def update(
        self, keys: torch.Tensor, values: torch.Tensor, layer: int, *_: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        for place, new in ((2 * layer, keys), (2 * layer + 1, values)):
            self.tensors[place] = self.tensors[place].index_copy(2, self._positions, new)
        return self.tensors[2 * layer], self.tensors[2 * layer + 1]


class Step(nn.Module):
    """Tokens [1, n] at positions [n] and a cache of two tensors a layer to the next token [1, 1] and the cache."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, tokens: torch.Tensor, positions: torch.Tensor, *cache: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        known = _Cache(cache, positions)
        seen = torch.arange(cache[0].shape[2])[None, :] <= positions[:, None]
        hidden = self.model.model(
            tokens,
            attention_mask=seen[None, None],
            position_ids=positions[None],
            past_key_values=known,
            use_cache=True,
        ).last_hidden_state
        logits = self.model.lm_head(hidden[:, -1])
        return logits.argmax(-1, keepdim=True), *known.tensors


def empty_cache(model: Any, length: int) -> tuple[torch.Tensor, ...]:
    """Zeros for the keys and the values of every layer."""
    config = model.config
    head = config.hidden_size // config.num_attention_heads
    shape = (1, config.num_key_value_heads, length, head)
    return tuple(torch.zeros(shape) for _ in range(2 * config.num_hidden_layers))


def exported(model: Any, prompt: int, length: int, keep: Path | None) -> str:
    """The step as an ONNX file for any number of tokens."""
    path = keep or Path(tempfile.mkdtemp()) / "step.onnx"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        args = (torch.zeros(1, prompt, dtype=torch.long), torch.arange(prompt))
        cache = empty_cache(model, length)
        dynamic = torch.export.Dim.DYNAMIC
        torch.onnx.export(
            Step(model).eval(),
            (*args, *cache),
            str(path),
            dynamo=True,
            verbose=False,
            dynamic_shapes=({1: dynamic}, {0: dynamic}, tuple({} for _ in cache)),
        )
    return str(path)


def onnxruntime_step(model: Any, prompt: int, length: int, keep: Path | None) -> Run:
    """The whole text for a prompt, on ONNX Runtime."""
    import onnxruntime

    path, cache = exported(model, prompt, length, keep), empty_cache(model, length)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    inputs = [node.name for node in session.get_inputs()]
    outputs = [node.name for node in session.get_outputs()]
    value = onnxruntime.OrtValue.ortvalue_from_numpy

    def start() -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
        held = [value(tensor.numpy()) for tensor in cache]

        def step(tokens: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
            given = [value(tokens.numpy()), value(positions.numpy()), *held]
            token, *held[:] = session.run_with_ort_values(
                outputs, dict(zip(inputs, given, strict=True))
            )
            return torch.from_numpy(token.numpy())

        return step

    return lambda tokens: _text(start(), tokens, length)


def openvino_step(model: Any, prompt: int, length: int, keep: Path | None) -> Run:
    """The whole text for a prompt, on OpenVINO."""
    import openvino

    path, cache = exported(model, prompt, length, keep), empty_cache(model, length)
    settings = {
        "INFERENCE_NUM_THREADS": torch.get_num_threads(),
        "INFERENCE_PRECISION_HINT": "f32",
        "PERFORMANCE_HINT": "LATENCY",
    }
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(path), "CPU", settings)
    # results stay valid while the next call runs: two requests take turns
    requests = [compiled.create_infer_request() for _ in range(2)]

    def start() -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
        held = [openvino.Tensor(tensor.numpy()) for tensor in cache]
        turn = 0

        def step(tokens: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
            nonlocal turn
            request = requests[turn % 2]
            turn += 1
            given = [openvino.Tensor(tokens.numpy()), openvino.Tensor(positions.numpy()), *held]
            for place, tensor in enumerate(given):
                request.set_input_tensor(place, tensor)
            request.infer()
            token, *held[:] = [request.get_output_tensor(i) for i in range(len(cache) + 1)]
            return torch.from_numpy(token.data.copy())

        return step

    return lambda tokens: _text(start(), tokens, length)


def compiled_step(engine: str) -> Callable[[Any, int, int, Path | None], Run]:
    """The whole text for a prompt, by a step that ``torch2mlir.compile`` has made for an engine, or ``optimize``."""

    def made(model: Any, prompt: int, length: int, _: Path | None) -> Run:
        import torch2mlir

        step, cache = Step(model).eval(), empty_cache(model, length)
        if engine == "optimize":
            run = torch2mlir.optimize(step, tune="fast")
        else:
            dynamic = torch.export.Dim.DYNAMIC
            run = torch2mlir.compile(
                step,
                torch.zeros(1, prompt, dtype=torch.long),
                torch.arange(prompt),
                *cache,
                output_type="onnx",
                engine=engine,
                dynamic_shapes=({1: dynamic}, {0: dynamic}, tuple({} for _ in cache)),
            )

        def start() -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
            held = list(cache)

            def next_token(tokens: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
                token, *held[:] = run(tokens, positions, *held)
                return token

            return next_token

        def text(tokens: torch.Tensor) -> torch.Tensor:
            with torch.no_grad():
                return _text(start(), tokens, length)

        return text

    return made


def _text(step: Callable[..., torch.Tensor], prompt: torch.Tensor, length: int) -> torch.Tensor:
    """The prompt and what follows it, ``length`` tokens in all."""
    text = [prompt, step(prompt, torch.arange(prompt.shape[1]))]
    for position in range(prompt.shape[1], length - 1):
        text.append(step(text[-1], torch.tensor([position])))
    return torch.cat(text, 1)


STEPS: dict[str, Callable[[Any, int, int, Path | None], Run]] = {
    "onnxruntime": onnxruntime_step,
    "openvino": openvino_step,
    "ours-ort": compiled_step("onnxruntime"),
    "ours-openvino": compiled_step("openvino"),
    "optimize": compiled_step("optimize"),
}
