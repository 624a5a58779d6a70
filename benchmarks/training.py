"""How long a training step takes: forward, loss, backward and SGD, in ms.

    python benchmarks/training.py
    python benchmarks/training.py --rows resnet50 --columns eager ours --rounds 1 --seconds 1

Models are in training mode, dropout included; the optimizer is PyTorch's own in every column. The first loss is
compared with eager's; where there is dropout, only roughly.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from cells import Benchmark, main

BATCH = {"bert-base": 2, "resnet50": 4, "gpt2": 1}
BACKENDS = {"eager": None, "inductor": "inductor", "ours": "torch2mlir"}


def measure(row: str, column: str, options: argparse.Namespace) -> list[float]:
    """Milliseconds of each step, the first three left out."""
    import torch

    from runtime import first_output
    from zoo import MODELS

    torch.manual_seed(0)
    entry = MODELS[row](size=options.size, batch=BATCH[row])
    model = first_output(entry.model).train()
    forward: Any = model
    if (backend := BACKENDS[column]) is not None:
        forward = torch.compile(model, backend=backend)
    with torch.no_grad():
        shape = model(*entry.args, **entry.kwargs).shape
    targets = torch.randint(0, shape[-1], shape[:-1]).flatten()

    def loss_of(call: Any) -> torch.Tensor:
        result = call(*entry.args, **entry.kwargs)
        return torch.nn.functional.cross_entropy(result.flatten(0, -2), targets)

    eager, first = float(loss_of(model).detach()), float(loss_of(forward).detach())
    if abs(eager - first) > 0.1 * abs(eager):
        raise AssertionError(f"the first loss is {first:.4g}, and {eager:.4g} in eager")
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)

    def step() -> None:
        optimizer.zero_grad()
        loss_of(forward).backward()
        optimizer.step()

    for _ in range(2):
        step()
    found, start = list[float](), time.perf_counter()
    while len(found) < 3 or time.perf_counter() - start < options.seconds:
        before = time.perf_counter()
        step()
        found.append(1e3 * (time.perf_counter() - before))
    return found


if __name__ == "__main__":
    benchmark = Benchmark(
        __file__,
        "ms per training step, median (lowest)",
        list(BATCH),
        list(BACKENDS),
        measure,
        frozenset({"inductor"}),
    )
    raise SystemExit(main(benchmark, __doc__ or ""))
