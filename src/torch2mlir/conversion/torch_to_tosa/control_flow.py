"""Branches and loops as ``tosa.cond_if`` and ``tosa.while_loop``."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Region, SSAValue

from torch2mlir.conversion.control_flow import Build, Loop, as_while, region_block
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
    regions = [
        Region(region_block(lower, [], build, tosa.YieldOp)) for build in (on_true, on_false)
    ]
    return lower.emit(tosa.CondIfOp, [condition.value], types, regions=regions).results


@lowers("prim.Loop")
def loop(lower: TosaLowering, loop: Loop) -> Sequence[SSAValue]:
    """TOSA has one kind of loop; it carries the iteration's number."""
    carried = as_while(lower, loop)
    types = [value.type for value in carried.initial]
    regions = [
        Region(region_block(lower, types, build, tosa.YieldOp))
        for build in (carried.holds, carried.step)
    ]
    op = lower.emit(tosa.WhileLoopOp, carried.initial, types, regions=regions)
    return op.results[len(types) - len(loop.initial) :]
