"""What PyTorch's own kernels run in a training step, because they are faster there: as in eager mode, and counted."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import nn

from tests.dynamo.agreement import compiled
from torch2mlir import dynamo


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 32, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(32)
        self.second = nn.Conv2d(32, 32, 3, padding=1)
        self.small = nn.Conv2d(32, 2, 1)
        self.head = nn.Linear(2, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.norm(self.first(x)))
        x = nn.functional.max_pool2d(self.second(x) + x, 3, 2, 1)
        return self.head(self.small(x).mean((2, 3)))


def losses(model: nn.Module, call: Any) -> list[float]:
    torch.manual_seed(1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    found = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = call(torch.randn(8, 3, 64, 64)).square().mean()
        loss.backward()
        optimizer.step()
        found.append(float(loss.detach()))
    return found


CONVOLUTIONS = {"aten.convolution.default": 2, "aten.convolution_backward.default": 2}
POOLINGS = {
    "aten.max_pool2d_with_indices.default": 1,
    "aten.max_pool2d_with_indices_backward.default": 1,
}


@pytest.mark.share(3)
@pytest.mark.parametrize(
    "options, left",
    [(None, CONVOLUTIONS | POOLINGS), ({"fallback": False}, {}), ({"engine": "xla"}, {})],
)
def test_a_training_step(options: dict[str, Any] | None, left: dict[str, int]) -> None:
    torch.manual_seed(0)
    model = Net()
    eager = copy.deepcopy(model)
    ours = losses(model, compiled(model, options))
    assert dynamo.metrics().fallbacks == left
    assert ours == pytest.approx(losses(eager, eager), rel=1e-4)
    for name, tensor in model.state_dict().items():
        torch.testing.assert_close(tensor, eager.state_dict()[name], rtol=1e-3, atol=1e-4)


def test_inference_is_compiled_whole() -> None:
    model = Net().eval()
    other = compiled(model)
    with torch.no_grad():
        for _ in range(3):
            x = torch.randn(4, 3, 64, 64)
            torch.testing.assert_close(other(x), model(x), rtol=1e-4, atol=1e-4)
    assert not dynamo.metrics().fallbacks and dynamo.metrics().compiled == 1


def test_detached_results_share_memory_as_in_eager() -> None:
    """A value and what ``detach`` makes of it, both results, are one tensor's memory."""

    def function(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = x.sin()
        return y, y.detach() * 1, y.detach()

    other = compiled(function)
    for _ in range(3):
        x = torch.randn(5, requires_grad=True)
        ours, eager = other(x), function(x)
        torch.testing.assert_close(ours, eager)
        assert [t.requires_grad for t in ours] == [t.requires_grad for t in eager]
        assert ours[0].data_ptr() == ours[2].data_ptr()
