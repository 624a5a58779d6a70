"""Branches and loops as ``tosa.cond_if`` and ``tosa.while_loop``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Attribute, Block, Region, SSAValue

from torch2mlir.conversion.control_flow import Build, Loop, lower_branch, lower_while, region_block
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


def while_loop(
    lower: TosaLowering,
    holds: Callable[..., Sequence[Tensor]],
    step: Callable[..., Sequence[Tensor]],
    initial: Sequence[Tensor],
) -> list[Tensor]:
    """What a loop makes of tensors while a condition of them holds."""

    def carried(values: Sequence[SSAValue]) -> list[Tensor]:
        return [Tensor(v, x.sizes, x.dtype) for v, x in zip(values, initial, strict=True)]

    def block(build: Callable[..., Sequence[Tensor]]) -> Block:
        def results(*values: SSAValue) -> Sequence[SSAValue]:
            return [x.value for x in build(*carried(values))]

        return region_block(lower, types, results, tosa.YieldOp)

    operands = [x.value for x in initial]
    types = [value.type for value in operands]
    regions = [Region(block(build)) for build in (holds, step)]
    return carried(lower.emit(tosa.WhileLoopOp, operands, types, regions=regions).results)
