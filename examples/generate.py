"""Text of a causal language model of transformers, its forward pass compiled, beside eager PyTorch.

    python examples/generate.py
    python examples/generate.py --layers 12 --hidden 1024 --prompt 128 --tokens 128 --cache static --sample
    python examples/generate.py --engine iree --dialect linalg-on-tensors

The model is a Llama with random weights, so the tokens mean nothing; they are equal to eager's, also when they are
drawn with a seed. The prompt is one compiled program, the further tokens another; the cache is transformers' own.
"""

from __future__ import annotations

import argparse
import copy
import sys
import time
from dataclasses import dataclass
from typing import Any

import torch
import transformers
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from transformers.generation.streamers import BaseStreamer


@dataclass
class Generated:
    """What a run gave.

    Attributes:
        tokens: [1, prompt + new].
        first_seconds: of the first run, which compiles.
        seconds: of a later run.
    """

    tokens: torch.Tensor
    first_seconds: float
    seconds: float


def main() -> int:
    """Generates twice on both sides; 1 if the tokens differ."""
    options = _parse()
    torch.manual_seed(0)
    model = language_model(options.layers, options.hidden, options.prompt + options.tokens)
    prompt = torch.randint(1, 1000, (1, options.prompt))
    settings = {
        "max_new_tokens": options.tokens,
        "do_sample": options.sample,
        "cache_implementation": "static" if options.cache == "static" else None,
    }
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        eager = generated(model, prompt, settings, _Ticks(progress, "eager", options.tokens))
        ours = generated(
            compiled(model, options.engine, options.dialect, options.cache == "dynamic"),
            prompt,
            settings,
            _Ticks(progress, "compiled", options.tokens),
        )
    table = Table(title=f"{options.tokens} tokens after {options.prompt}, {options.cache} cache")
    for heading in ("", "first run, s", "tokens per second"):
        table.add_column(heading, justify="right")
    for name, run in (("eager", eager), ("compiled", ours)):
        table.add_row(name, f"{run.first_seconds:.1f}", f"{options.tokens / run.seconds:.1f}")
    Console().print(table)
    same = torch.equal(eager.tokens, ours.tokens)
    print("the tokens are eager's" if same else "the tokens differ from eager's")
    return 0 if same else 1


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--prompt", type=int, default=32, help="tokens of the prompt")
    parser.add_argument("--tokens", type=int, default=32, help="tokens to generate")
    parser.add_argument("--cache", choices=("static", "dynamic"), default="static")
    parser.add_argument("--sample", action="store_true", help="draw tokens instead of the best")
    parser.add_argument("--engine", default="xla")
    parser.add_argument("--dialect", default="stablehlo")
    return parser.parse_args()


def language_model(layers: int, hidden: int, length: int) -> transformers.LlamaForCausalLM:
    """A Llama with random weights that never ends a text by itself."""
    config = transformers.LlamaConfig(
        vocab_size=1000,
        hidden_size=hidden,
        intermediate_size=hidden * 11 // 4,
        num_hidden_layers=layers,
        num_attention_heads=8,
        num_key_value_heads=4,
        max_position_embeddings=max(length, 64),
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=0,
    )
    return transformers.LlamaForCausalLM(config).eval()


def compiled(
    model: transformers.PreTrainedModel, engine: str, dialect: str, dynamic: bool = False
) -> transformers.PreTrainedModel:
    """The model with a compiled forward pass; the weights are shared."""
    twin = copy.copy(model)
    twin.forward = torch.compile(
        model.forward,
        backend="torch2mlir",
        dynamic=True if dynamic else None,
        options={"engine": engine, "output_type": dialect},
    )
    return twin


def generated(
    model: transformers.PreTrainedModel,
    prompt: torch.Tensor,
    settings: dict[str, Any],
    streamer: BaseStreamer | None = None,
) -> Generated:
    """Generates twice with one seed: the first run compiles, the second is timed."""
    seconds = []
    for _ in range(2):
        torch.manual_seed(1)
        start = time.perf_counter()
        tokens = model.generate(prompt, streamer=streamer, disable_compile=True, **settings)
        seconds.append(time.perf_counter() - start)
    return Generated(tokens, *seconds)


class _Ticks(BaseStreamer):
    """Moves a progress bar as tokens come."""

    def __init__(self, progress: Progress, name: str, tokens: int) -> None:
        self._progress = progress
        self._task = progress.add_task(name, total=2 * (tokens + 1))

    def put(self, value: torch.Tensor) -> None:
        """Once for the prompt, once for each token."""
        self._progress.advance(self._task)

    def end(self) -> None:
        """A text is complete."""


if __name__ == "__main__":
    sys.exit(main())
