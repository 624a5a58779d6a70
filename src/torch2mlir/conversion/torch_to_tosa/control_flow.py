"""Loops over tensors as ``tosa.while_loop``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Region, SSAValue

from torch2mlir.conversion.control_flow import region_of
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_tosa.lowering import TosaLowering
from torch2mlir.dialects import tosa


def while_loop(
    lower: TosaLowering,
    holds: Callable[..., Sequence[Tensor]],
    step: Callable[..., Sequence[Tensor]],
    initial: Sequence[Tensor],
) -> list[Tensor]:
    """What a loop makes of tensors while a condition of them holds."""

    def carried(values: Sequence[SSAValue]) -> list[Tensor]:
        return [Tensor(v, x.sizes, x.dtype) for v, x in zip(values, initial, strict=True)]

    def region(build: Callable[..., Sequence[Tensor]]) -> Region:
        def results(*values: SSAValue) -> Sequence[SSAValue]:
            return [x.value for x in build(*carried(values))]

        return region_of(lower, types, results, tosa.YieldOp)

    operands = [x.value for x in initial]
    types = [value.type for value in operands]
    regions = [region(build) for build in (holds, step)]
    return carried(lower.emit(tosa.WhileLoopOp, operands, types, regions=regions).results)
