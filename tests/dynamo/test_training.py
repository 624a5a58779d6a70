"""Training loops through torch.compile: the losses of eager mode, dropout included."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from tests.dynamo.agreement import assert_close, compiled
from tests.dynamo.architectures import ARCHITECTURES
from torch2mlir import dynamo

STEPS = 20
SLOW = {"unet", "llama", "gpt2"}


@pytest.mark.share(3)
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_losses_are_those_of_eager_mode(name: str, request: pytest.FixtureRequest) -> None:
    if name in SLOW and not request.config.getoption("--full"):
        pytest.skip("with --full")
    model, loss_of = ARCHITECTURES[name]()
    eager = copy.deepcopy(model)
    found = []
    for trained, run in ((model, compiled(model)), (eager, eager)):
        optimizer = torch.optim.AdamW(trained.parameters(), lr=1e-3)
        losses = []
        torch.manual_seed(0)
        for step in range(STEPS):
            optimizer.zero_grad()
            loss = loss_of(run, step)
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        found.append((losses, torch.get_rng_state()))
    (ours, our_state), (theirs, their_state) = found
    assert torch.equal(our_state, their_state)
    assert_close(ours, theirs, 1e-3)
    assert float(ours[-1]) != float(ours[0])
    assert_close([*model.buffers()], [*eager.buffers()], 1e-3)
    metrics = dynamo.metrics()
    assert not metrics.fallbacks
    assert metrics.compiled == metrics.graphs >= 2


def test_gradients_of_many_at_once() -> None:
    """Autograd's own ``vmap`` runs a compiled backward pass on tensors that have no memory."""
    model = nn.Sequential(nn.Linear(8, 4), nn.Tanh())
    compiled = torch.compile(model, backend="torch2mlir")
    for _ in range(3):
        x, grads = torch.randn(3, 8, requires_grad=True), torch.randn(5, 3, 4)
        found, wanted = (
            (
                *torch.autograd.grad(each(x), x, grads, is_grads_batched=True),
                torch.autograd.functional.jacobian(each, x, vectorize=True),
            )
            for each in (compiled, model)
        )
        torch.testing.assert_close(found, wanted)
