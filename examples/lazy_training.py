"""A training loop on PyTorch's lazy device, compiled by XLA, beside the same loop in eager PyTorch.

Digits are made up: every class is a pattern of 28 by 28 pixels, its images are the pattern with noise. Prints the
losses of both, what has happened on the device, and the MLIR of the last step. Exits 1 if the losses differ.

    python examples/lazy_training.py --steps 50 --optimizer adam
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy

import torch
from rich.console import Console
from rich.table import Table
from torch import nn

from torch2mlir import lazy

OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.05, momentum=0.9),
    "adam": lambda parameters: torch.optim.Adam(parameters, lr=1e-3),
}
TOLERANCE = 1e-3
"""Largest accepted difference of a loss, relative to eager."""
SMALL = 1e-2
"""A loss below this is compared as if it were this: it is a difference of larger numbers, which are rounded."""


def network() -> nn.Module:
    """A small convolutional network for ten digits."""
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(8, 16, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(16 * 7 * 7, 10),
    )


def batches(steps: int, size: int = 32) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Images and labels, the same at every call."""
    generator = torch.Generator().manual_seed(0)
    patterns = torch.randn(10, 1, 28, 28, generator=generator)
    for _ in range(steps):
        labels = torch.randint(0, 10, (size,), generator=generator)
        noise = torch.randn(size, 1, 28, 28, generator=generator)
        yield patterns[labels] + noise, labels


def train(model: nn.Module, steps: int, optimizer: str, device: torch.device) -> list[float]:
    """The loss of each step. Nothing here knows about compilation but the step marker."""
    update = OPTIMIZERS[optimizer](model.parameters())
    losses = list[torch.Tensor]()
    for images, labels in batches(steps):
        update.zero_grad()
        loss = nn.functional.cross_entropy(model(images.to(device)), labels.to(device))
        loss.backward()
        update.step()
        losses.append(loss.detach())
        if device.type == "lazy":
            lazy.mark_step()
    return [loss.item() for loss in losses]


def shown(metrics: lazy.Metrics) -> Table:
    """What has happened on the device, a row for each counter."""
    table = Table("on the lazy device", "", title="metrics")
    for field in dataclasses.fields(metrics):
        value = getattr(metrics, field.name)
        if isinstance(value, dict):
            value = ", ".join(f"{name} x{count}" for name, count in value.items()) or "none"
        text = f"{value:.3f}" if isinstance(value, float) else str(value)
        table.add_row(field.name.replace("_", " "), text)
    return table


def main(arguments: list[str] | None = None) -> int:
    """Trains both ways; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--optimizer", choices=sorted(OPTIMIZERS), default="sgd")
    parser.add_argument("--engine", default="xla")
    parser.add_argument("--print-mlir", action="store_true", help="the last step's torch dialect")
    options = parser.parse_args(arguments)
    torch.manual_seed(0)
    model = network()
    eager = train(deepcopy(model), options.steps, options.optimizer, torch.device("cpu"))
    output_type = "stablehlo" if options.engine == "xla" else "linalg-on-tensors"
    with lazy.device(engine=options.engine, output_type=output_type) as device:
        compiled = train(model.to(device), options.steps, options.optimizer, device)
        step = lazy.last_computation()
    worst = max(
        abs(one - other) / max(other, SMALL) for one, other in zip(compiled, eager, strict=True)
    )
    for index in range(0, options.steps, max(1, options.steps // 5)):
        print(f"step {index:3}: loss {compiled[index]:.6f}, eager {eager[index]:.6f}")
    print(f"largest relative difference of a loss: {worst:.1e}")
    Console().print(shown(lazy.metrics()))
    if options.print_mlir:
        print(step)
    return 0 if worst < TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
