"""Training loops on PyTorch's lazy device: the losses of eager mode, and no new programs after the first few."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from tests.dynamo import architectures
from tests.dynamo.agreement import assert_close
from torch2mlir import lazy

STEPS = 20
SLOW = {"bert", "resnet", "unet", "llama", "gpt2"}


def _trained(model: nn.Module, loss_of: architectures.Loss, is_lazy: bool) -> list[float]:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    losses = list[torch.Tensor]()
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = loss_of(model, step)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
        if is_lazy:
            lazy.mark_step()
    return [loss.item() for loss in losses]


@pytest.mark.parametrize("name", architectures.ARCHITECTURES)
def test_losses_are_those_of_eager_mode(
    name: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name in SLOW and not request.config.getoption("--full"):
        pytest.skip("with --full")
    torch.manual_seed(0)
    model, loss_of = architectures.ARCHITECTURES[name]()
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0  # the device has random numbers of its own
    eager = copy.deepcopy(model)
    theirs = _trained(eager, loss_of, False)
    with lazy.device() as device:
        lazy.reset_metrics()
        for make in (architectures.batch, architectures.tokens):
            monkeypatch.setattr(
                architectures, make.__name__, lambda *given, make=make: make(*given).to(device)
            )
        model.to(device)
        if hasattr(model, "tie_weights"):  # PyTorch moves every name of a tied weight to a copy
            model.tie_weights()
        ours = _trained(model, loss_of, True)
        counts = lazy.metrics()
        buffers = [buffer.cpu() for buffer in model.buffers()]
    assert_close(torch.tensor(ours), torch.tensor(theirs), 1e-3)
    assert ours[-1] != ours[0]
    assert_close(buffers, [*eager.buffers()], 1e-3)
    assert not counts.fallbacks
    assert counts.cache_misses <= 4 and counts.cache_hits >= STEPS - 4
