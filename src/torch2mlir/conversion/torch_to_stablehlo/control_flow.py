"""Branches and loops as ``stablehlo.if`` and ``stablehlo.while``."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, SSAValue

from torch2mlir.conversion.control_flow import Build, Loop, lower_branch, lower_while
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering, lowers
from torch2mlir.dialects import stablehlo as hlo


@lowers("prim.If")
def branch(
    lower: StablehloLowering,
    condition: Tensor,
    types: Sequence[Attribute],
    on_true: Build,
    on_false: Build,
) -> Sequence[SSAValue]:
    """One of two regions."""
    ops = (hlo.IfOp, hlo.ReturnOp)
    return lower_branch(lower, condition.value, types, [on_true, on_false], ops)


@lowers("prim.Loop")
def loop(lower: StablehloLowering, loop: Loop) -> Sequence[SSAValue]:
    """StableHLO has one kind of loop; its condition is a region."""
    return lower_while(lower, loop, hlo.WhileOp, hlo.ReturnOp)
