"""A target and an engine of your own: a small accelerator that multiplies matrices, the rest stays Linalg.

    python examples/own_target.py
    torch2mlir compile zoo:bert_base --load own_target.py --to accel -o bert.mlir        # from examples/
    torch2mlir run package.module:factory --load own_target.py --to accel --compare

The accelerator is made of 16 x 16 tiles. Its dialect has two ops; what it has no word for is lowered as to its base,
Linalg-on-Tensors. The engine is a simulator: the reference engine with the two ops added, which counts the tiles.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import torch
from torch import nn
from xdsl.dialects.builtin import AnyTensorTypeConstr
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def

import torch2mlir
from torch2mlir.conversion.torch_to_linalg.scalars import two
from torch2mlir.runtime.reference import ReferenceEngine
from torch2mlir.runtime.reference.interpreter import implements

TILE = 16

# 1. The dialect.


@irdl_op_definition
class MatmulOp(IRDLOperation):
    """``lhs[m, k] @ rhs[k, n]``, accumulated in the element type."""

    name = "accel.matmul"
    lhs = operand_def(AnyTensorTypeConstr)
    rhs = operand_def(AnyTensorTypeConstr)
    result = result_def(AnyTensorTypeConstr)
    assembly_format = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)"


@irdl_op_definition
class ReluOp(IRDLOperation):
    """``max(x, 0)`` while the tile is written back; NaN stays NaN."""

    name = "accel.relu"
    value = operand_def(AnyTensorTypeConstr)
    result = result_def(AnyTensorTypeConstr)
    assembly_format = "$value attr-dict `:` type($value) `->` type($result)"


ACCEL = Dialect("accel", [MatmulOp, ReluOp])

# 2. The target, and its words.

torch2mlir.register_target(
    torch2mlir.Target(name="accel", base="linalg-on-tensors", default_engine="accel-simulator")
)


def _matmul(lower: Any, x: Any, y: Any) -> Any:
    return lower.op(MatmulOp, [x, y], (x.sizes[0], y.sizes[1]), x.dtype)


@torch2mlir.lowering("aten.mm", "accel")
def mm(lower: Any, x: Any, y: Any) -> Any:
    """``x @ y`` of matrices."""
    return _matmul(lower, x, y)


@torch2mlir.lowering("aten.linear", "accel")
def linear(lower: Any, x: Any, weight: Any, bias: Any) -> Any:
    """``x @ weight.T + bias``; the leading dimensions of ``x`` are rows."""
    columns = weight.sizes[0]
    rows = lower.reshape(x, (prod(x.sizes[:-1]), x.sizes[-1]))
    product = lower.reshape(
        _matmul(lower, rows, lower.transpose(weight, (1, 0))), (*x.sizes[:-1], columns)
    )
    if bias is None:
        return product
    return lower.elementwise(two("add"), product, bias)


@torch2mlir.lowering("aten.relu", "accel")
def relu(lower: Any, x: Any) -> Any:
    """``max(x, 0)``."""
    return lower.op(ReluOp, [x], x.sizes, x.dtype)


# 3. The engine.


class Simulator(ReferenceEngine):
    """Runs the accelerator's programs with numpy and counts the tiles its matrix unit has worked on."""

    name = "accel-simulator"
    output_types = frozenset({"accel"})
    tiles = 0


@implements("accel.matmul")
def _run_matmul(interpreter: Any, op: Any, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    m, k, n = (-(-size // TILE) for size in (*x.shape, y.shape[1]))
    Simulator.tiles += m * k * n
    return x @ y


@implements("accel.relu")
def _run_relu(interpreter: Any, op: Any, x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0)


torch2mlir.register_engine("accel-simulator", Simulator)


def main() -> None:
    """Compiles a network for the accelerator and compares it with eager PyTorch."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(48, 64), nn.ReLU(), nn.Linear(64, 10), nn.Softmax(-1)).eval()
    x = torch.randn(32, 48)
    text = str(torch2mlir.export_and_import(model, x, output_type="accel", weights="arguments"))
    print(text)
    compiled = torch2mlir.compile(model, x, output_type="accel")
    with torch.no_grad():
        for batch in (x, torch.randn(32, 48), torch.zeros(32, 48)):
            difference = float((compiled(batch) - model(batch)).abs().max())
            assert difference < 1e-6, difference
    print(f"agrees with eager PyTorch on three batches; {Simulator.tiles // 3} tiles a call")


if __name__ == "__main__":
    main()
