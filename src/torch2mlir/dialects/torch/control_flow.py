"""TorchScript's control flow: ``torch.prim.If`` and ``torch.prim.Loop``."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import OpTraits
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import IsTerminator

from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.ops import FormattedTorchOp, TorchOp

TERMINATOR = OpTraits(lambda: (IsTerminator(),))


@irdl_op_definition
class PrimIfOp(FormattedTorchOp):
    """``torch.prim.If %c -> (!t) { .. } else { .. }``."""

    name = "torch.prim.If"
    condition = operand_def(t.BoolType)
    then = region_def()
    otherwise = region_def()
    outputs = var_result_def()
    FORMAT: ClassVar[str] = (
        "$condition `->` `(` (type($outputs)^)? `)` $then `else` $otherwise attr-dict"
    )


class PrimIfYieldOp(TorchOp):
    """Ends a branch of ``torch.prim.If``."""

    name = "torch.prim.If.yield"
    traits = TERMINATOR


@irdl_op_definition
class PrimLoopOp(FormattedTorchOp):
    """``torch.prim.Loop %n, %c, init(%a) { ^bb0(%i, %x): .. } : (!torch.int, !torch.bool, !t) -> !t``."""

    name = "torch.prim.Loop"
    trip_count = operand_def(t.IntType)
    condition = operand_def(t.BoolType)
    init = var_operand_def()
    body = region_def()
    outputs = var_result_def()
    FORMAT: ClassVar[str] = (
        "$trip_count `,` $condition `,` `init` `(` ($init^)? `)` $body attr-dict `:` functional-type(operands, results)"
    )


@irdl_op_definition
class PrimLoopConditionOp(FormattedTorchOp):
    """``torch.prim.Loop.condition %c, iter(%x : !t)``: ends the body of ``torch.prim.Loop``."""

    name = "torch.prim.Loop.condition"
    condition = operand_def(t.BoolType)
    values = var_operand_def()
    traits = traits_def(IsTerminator())
    FORMAT: ClassVar[str] = "$condition `,` `iter` `(` ($values^ `:` type($values))? `)` attr-dict"
