"""What a call asks once and remembers is asked again when it may be another."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import torch2mlir
from torch2mlir.errors import InputError


def test_layouts_are_looked_at_in_every_call() -> None:
    """A program that reads memory refuses another layout of sizes that it has taken before."""
    compiled = torch2mlir.compile(lambda x: x.as_strided((3,), (1,)) + 1, torch.randn(4, 4))
    for _ in range(2):
        x = torch.randn(4, 4)
        torch.testing.assert_close(compiled(x), x.as_strided((3,), (1,)) + 1)
    with pytest.raises(InputError, match="strides"):
        compiled(torch.randn(4, 4).t())


@pytest.mark.share(4)
@pytest.mark.parametrize(
    ("output_type", "engine"),
    [("stablehlo", "xla"), ("linalg-on-tensors", "iree"), ("onnx", "onnxruntime")],
)
def test_held_weights_follow_the_model(output_type: str, engine: str) -> None:
    """Written weights, moved weights, weights of another layout and other parameters are used by the next call."""
    model = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 8)).eval()
    x = torch.randn(2, 8)
    compiled = torch2mlir.compile(model, x, output_type=output_type, engine=engine)
    changes = [
        lambda: None,
        lambda: model[0].weight.mul_(2),
        lambda: setattr(model[3].weight, "data", model[3].weight.data.t()),
        lambda: setattr(model[0], "bias", nn.Parameter(torch.randn(8))),
        lambda: model[1].running_mean.add_(1),
        lambda: model.load_state_dict({k: v * 1.5 for k, v in model.state_dict().items()}),
        lambda: model.__setitem__(3, nn.Linear(8, 8)),
    ]
    with torch.no_grad():
        for change in changes:
            change()
            for _ in range(2):
                torch.testing.assert_close(compiled(x), model(x), rtol=1e-4, atol=1e-4)
