"""TorchScript under ``optimize``: what PyTorch's converter takes, and what it ends the process of."""

import torch
from torch import Tensor, nn
from torch.testing import assert_close

import torch2mlir


@torch.jit.ignore
def _in_python(x: Tensor) -> Tensor:
    return x + 1


class _Calling(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return _in_python(x) * 2


class _Convolved(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm, self.drop = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Dropout(0.5)

    def forward(self, x: Tensor) -> Tensor:
        return self.drop(torch.relu(self.norm(self.conv(x))))  # type: ignore[no-any-return]


def test_a_call_of_python_is_left_to_pytorch() -> None:
    """PyTorch's converter read memory that is not there."""
    script = torch.jit.script(_Calling())
    optimized = torch2mlir.optimize(script, True, model_inputs=(torch.randn(3),))
    for _ in range(3):
        x = torch.randn(3)
        assert_close(optimized(x), (x + 1) * 2)
    assert "@torch.jit.ignore" in str(optimized.report())


def test_frozen_modules() -> None:
    """``torch.jit.freeze`` takes the attribute ``training`` away."""
    model = _Convolved().eval()
    frozen = torch.jit.freeze(torch.jit.script(model))
    optimized = torch2mlir.optimize(frozen, True, model_inputs=(torch.randn(2, 3, 8, 8),))
    for batch in (2, 3, 1):
        x = torch.randn(batch, 3, 8, 8)
        with torch.no_grad():
            assert_close(optimized(x), model(x))
    assert not optimized.training
    assert "0 of them all in PyTorch" in str(optimized.report())


@torch.jit.script
def _appends(xs: list[Tensor]) -> Tensor:
    xs.append(xs[0] + 1)
    return xs[-1] * len(xs)


@torch.jit.script
def _adds_a_key(xs: dict[str, Tensor]) -> Tensor:
    xs["c"] = xs["a"] + 1
    return xs["c"] * len(xs)


def test_lists_and_dictionaries_of_the_caller_stay_as_they_are() -> None:
    """TorchScript has copies of them."""
    appends, adds = torch2mlir.optimize(_appends), torch2mlir.optimize(_adds_a_key)
    xs, named = [torch.randn(3), torch.randn(3)], {"a": torch.randn(3)}
    for _ in range(3):
        assert_close(appends(xs), _appends(xs))
        assert_close(adds(named), _adds_a_key(named))
        assert (len(xs), len(named)) == (2, 1)
