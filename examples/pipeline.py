"""Torch-MLIR's own program: export a model, run a pass pipeline over it, print both.

    python examples/pipeline.py

Only the name of the package is another one.
"""

from __future__ import annotations

import torch
import torch.nn as nn

from torch2mlir import fx
from torch2mlir.compiler_utils import run_pipeline_with_repro_report


class LinearModel(nn.Module):
    """A layer and a softmax."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[3, 4] -> [3, 2]."""
        return torch.softmax(self.linear(x), dim=-1)


def main() -> None:
    """Prints the model in the torch dialect and as Linalg-on-Tensors."""
    module = fx.export_and_import(LinearModel(), torch.randn(3, 4))
    print(module)
    run_pipeline_with_repro_report(
        module,
        "builtin.module(func.func(torch-decompose-complex-ops),torch-backend-to-linalg-on-tensors-backend-pipeline)",
        "Lowering a linear model to Linalg-on-Tensors",
    )
    print(module)


if __name__ == "__main__":
    main()
