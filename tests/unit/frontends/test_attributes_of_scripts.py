"""TorchScript keeps attributes where Python does not look: who changes them is told, and optimized modules follow."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import torch2mlir


class Scaled(nn.Module):
    scale: float
    shape: list[int]

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.scale = 2.0
        self.shape = [3, 2]
        self.doubles = True
        self.register_buffer("offset", torch.zeros(3))

    def forward(self, x: Tensor) -> Tensor:
        if self.doubles:
            x = x * self.scale
        x = nn.functional.dropout(self.linear(x), 1.0, self.training)
        return (x + self.offset).reshape(self.shape)


X = torch.randn(2, 3)
CHANGES: dict[str, Callable[[Any], Any]] = {
    "scale": lambda script: setattr(script, "scale", 3.0),
    "doubles": lambda script: setattr(script, "doubles", False),
    "shape": lambda script: setattr(script, "shape", [6]),
    "linear.weight": lambda script: setattr(
        script.linear, "weight", nn.Parameter(torch.ones(3, 3))
    ),
    "offset": lambda script: setattr(script, "offset", torch.ones(3)),
    "training": lambda script: script.train(),
}


def scripted() -> Any:
    torch.manual_seed(0)
    return torch.jit.script(Scaled().eval())


@torch.no_grad()
@pytest.mark.parametrize("name", CHANGES)
def test_who_changes_attributes_is_told(name: str, recwarn: pytest.WarningsRecorder) -> None:
    script = scripted()
    compiled = torch2mlir.compile(script, X, output_type="linalg-on-tensors", engine="reference")
    script.linear.bias.add_(1)  # elements are read in every call
    torch.testing.assert_close(compiled(X), script(X))
    assert not any("the model's" in str(each.message) for each in recwarn.list)
    CHANGES[name](script)
    with pytest.warns(UserWarning, match=f"the model's '{name}' is"):
        compiled(X)


@pytest.mark.share(4)
@torch.no_grad()
@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("is_part", [False, True], ids=["whole", "part"])
def test_optimized_modules_follow(name: str, is_part: bool) -> None:
    script = scripted()
    model = nn.Sequential(script, nn.ReLU()) if is_part else script
    optimized = torch2mlir.optimize(model, model_inputs=(X,))
    torch.testing.assert_close(optimized(X), model(X))
    CHANGES[name](script)
    torch.testing.assert_close(optimized(X), model(X))


@torch.no_grad()
def test_modules_with_scripted_parts_are_compiled() -> None:
    script = scripted()
    model = nn.Sequential(nn.Linear(3, 3), script)
    compiled = torch2mlir.compile(model, X, output_type="linalg-on-tensors", engine="reference")
    torch.testing.assert_close(compiled(X), model(X))
    model[0].weight = nn.Parameter(torch.ones(3, 3))
    torch.testing.assert_close(compiled(X), model(X))
    script.scale = 3.0
    with pytest.warns(UserWarning, match="the model's '1.scale' is 3.0 and was 2.0"):
        compiled(X)


@torch.no_grad()
def test_constants_of_a_script_are_left_alone() -> None:
    """What a capture had changed was put back with all constants, which PyTorch refuses."""
    torch.manual_seed(0)
    script = torch.jit.script(nn.Sequential(nn.LSTM(3, 4, batch_first=True)).eval())
    optimized = torch2mlir.optimize(script, model_inputs=(torch.randn(2, 5, 3),))
    for length in (5, 5, 6):
        x = torch.randn(2, length, 3)
        for one, other in zip(optimized(x)[1], script(x)[1], strict=True):
            torch.testing.assert_close(one, other)
