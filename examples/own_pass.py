"""A pass, a dialect and a lowering of one's own in ``torch2mlir-opt``.

    torch2mlir-opt --load examples/own_pass.py -my-count-ops=dialect=torch model.mlir
    torch2mlir-opt --load examples/own_pass.py -my-select-ops model.mlir

``docs/own_passes.md`` explains it. Nothing here needs PyTorch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import Dialect, Operation
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
)

import torch2mlir
from torch2mlir.dialects import stablehlo
from torch2mlir.dialects.torch.types import ValueTensorType


@irdl_op_definition
class LogisticOp(IRDLOperation):
    """An op of our own accelerator."""

    name = "my.logistic"
    value = operand_def(ValueTensorType)
    result = result_def(ValueTensorType)
    assembly_format = "$value attr-dict `:` type($value) `->` type($result)"


MY = Dialect("my", [LogisticOp])


class SigmoidIsLogistic(RewritePattern):
    """``aten.sigmoid`` is the accelerator's own op."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if op.name == "torch.aten.sigmoid":
            rewriter.replace_op(
                op, LogisticOp.create(operands=op.operands, result_types=op.result_types)
            )


class SelectLogisticPass(ModulePass):
    """Uses the accelerator's ops where there are some."""

    name = "my-select-ops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        patterns = GreedyRewritePatternApplier([SigmoidIsLogistic()])
        PatternRewriteWalker(patterns).rewrite_module(op)


@dataclass(frozen=True)
class CountOpsPass(ModulePass):
    """Writes the number of a dialect's ops on the module."""

    name = "my-count-ops"

    dialect: str = "torch"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        count = sum(inner.name.startswith(f"{self.dialect}.") for inner in op.walk())
        op.attributes[f"my.{self.dialect}_ops"] = IntegerAttr(count, i64)


@torch2mlir.lowering("mylib::wave", "stablehlo")
def wave(lower: Any, x: Any) -> Any:
    """``torch.operator "torch.mylib.wave"`` is a cosine."""
    return lower.elementwise(stablehlo.CosineOp, x)
