"""Operators of your own in a compiled model: three of ``torch.library``, each made known in another way.

    python examples/own_op.py

``docs/own_ops.md`` explains them.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

import torch2mlir
from torch2mlir.dialects import stablehlo

# 1. A traceable Python body: there is nothing to do.


@torch.library.custom_op("mylib::soft_threshold", mutates_args=())
def soft_threshold(x: Tensor, limit: float) -> Tensor:
    """Shrinks towards zero by ``limit``."""
    return torch.sign(x) * torch.relu(x.abs() - limit)


@soft_threshold.register_fake
def _(x: Tensor, limit: float) -> Tensor:
    return torch.empty_like(x)


# 2. A kernel that cannot be traced: a decomposition says what it computes.


@torch.library.custom_op("mylib::standardize", mutates_args=())
def standardize(x: Tensor) -> Tensor:
    """Rows of mean 0 and deviation 1, computed by another library."""
    array = x.numpy()
    centered = array - array.mean(-1, keepdims=True)
    return torch.from_numpy(centered / array.std(-1, keepdims=True))


@standardize.register_fake
def _(x: Tensor) -> Tensor:
    return torch.empty_like(x)


@torch2mlir.decomposition("mylib::standardize")
def standardize_in_pytorch(x: Tensor) -> Tensor:
    """Any functions of PyTorch; sizes may be symbolic."""
    return (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True, correction=0)


# 3. A better word in one dialect: a lowering. The other dialects get the Python body.


@torch.library.custom_op("mylib::gate", mutates_args=())
def gate(x: Tensor, y: Tensor) -> Tensor:
    """``x`` as far as ``y`` lets it through."""
    return x / (1 + torch.exp(-y))


@gate.register_fake
def _(x: Tensor, y: Tensor) -> Tensor:
    return torch.empty_like(x)


@torch2mlir.lowering("mylib::gate", "stablehlo")
def gate_in_stablehlo(lower: Any, x: Any, y: Any) -> Any:
    """StableHLO has the logistic function."""
    return lower.elementwise(stablehlo.MulOp, x, lower.elementwise(stablehlo.LogisticOp, y))


class Model(nn.Module):
    """All three in one program."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        """[B, 8] -> [B, 8]."""
        y = standardize(self.linear(x))
        return gate(soft_threshold(y, 0.5), x)


def main() -> None:
    """Compiles the model to every dialect and compares it with eager PyTorch."""
    torch.manual_seed(0)
    model, x = Model().eval(), torch.randn(4, 8)
    text = str(torch2mlir.export_and_import(model, x, output_type="stablehlo"))
    assert "stablehlo.logistic" in text
    with torch.no_grad():
        expected = model(x)
    for output_type in ("stablehlo", "linalg-on-tensors", "tosa"):
        compiled = torch2mlir.compile(model, x, output_type=output_type)
        difference = float((compiled(x) - expected).abs().max())
        assert difference < 1e-5, difference
        print(f"{output_type:20} differs from eager PyTorch by {difference:.1e}")


if __name__ == "__main__":
    main()
