"""Branches and loops as ``tosa.cond_if`` and ``tosa.while_loop``."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, SSAValue

from torch2mlir.conversion.control_flow import Build, Loop, lower_branch, lower_while
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering, lowers
from torch2mlir.dialects import tosa


@lowers("prim.If")
def branch(
    lower: TosaLowering,
    condition: Tensor,
    types: Sequence[Attribute],
    on_true: Build,
    on_false: Build,
) -> Sequence[SSAValue]:
    """One of two regions."""
    ops = (tosa.CondIfOp, tosa.YieldOp)
    return lower_branch(lower, condition.value, types, [on_true, on_false], ops)


@lowers("prim.Loop")
def loop(lower: TosaLowering, loop: Loop) -> Sequence[SSAValue]:
    """TOSA has one kind of loop; its condition is a region."""
    return lower_while(lower, loop, tosa.WhileLoopOp, tosa.YieldOp)
