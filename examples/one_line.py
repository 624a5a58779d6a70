"""One line in front of a model: a network trained with ``torch.compile``, and a language model that writes text.

Both beside eager PyTorch with the same seed; ``examples/demo.py`` shows them in its second table.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

import generate

STEPS = 20


@dataclass
class Outcome:
    """What a program gave compiled, beside eager.

    Attributes:
        name: of the program.
        line: what was put in front of it.
        seconds: of the compiled run, compilation included.
        verdict: for people.
        matches: whether it is eager's.
    """

    name: str
    line: str
    seconds: float
    verdict: str
    matches: bool


class Classifier(nn.Module):
    """A small convolutional network with batch norm and dropout."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, stride=2), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten()
        )
        self.head = nn.Sequential(nn.Linear(8 * 7 * 7, 64), nn.ReLU(), nn.Dropout(0.1))
        self.last = nn.Linear(64, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[N, 1, 16, 16] -> [N, 10]."""
        return self.last(self.head(self.features(x)))


def train(model: nn.Module, call: Callable[[torch.Tensor], torch.Tensor]) -> list[float]:
    """The losses of ``STEPS`` steps of Adam on random digits."""
    torch.manual_seed(2)
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    losses = []
    for _ in range(STEPS):
        x, y = torch.randn(32, 1, 16, 16), torch.randint(0, 10, (32,))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(call(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def training() -> Outcome:
    """A network trained compiled, forward and backward."""
    torch.manual_seed(0)
    model = Classifier()
    twin = copy.deepcopy(model)
    expected = train(model, model)
    start = time.perf_counter()
    losses = train(twin, torch.compile(twin, backend="torch2mlir"))
    seconds = time.perf_counter() - start
    difference = max(abs(a - b) for a, b in zip(losses, expected, strict=True))
    matches = difference < 1e-3
    verdict = f"{STEPS} losses, {losses[0]:.3f} to {losses[-1]:.3f}, differ by {difference:.1e}"
    line = 'torch.compile(model, backend="torch2mlir")'
    return Outcome("train a CNN", line, seconds, verdict, matches)


def generation() -> Outcome:
    """Tokens of a random language model."""
    torch.manual_seed(0)
    model = generate.language_model(layers=2, hidden=64, length=64)
    prompt = torch.randint(1, 1000, (1, 8))
    settings = {"max_new_tokens": 16, "do_sample": True, "cache_implementation": "static"}
    expected = generate.generated(model, prompt, settings)
    start = time.perf_counter()
    ours = generate.generated(generate.compiled(model, "xla", "stablehlo"), prompt, settings)
    seconds = time.perf_counter() - start
    same = torch.equal(ours.tokens, expected.tokens)
    verdict = "16 sampled tokens, " + ("eager's" if same else "not eager's")
    return Outcome("generate text", "model.forward = torch.compile(..)", seconds, verdict, same)


PROGRAMS = (training, generation)
