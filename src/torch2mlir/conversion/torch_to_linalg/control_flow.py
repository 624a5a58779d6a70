"""Branches and loops as ``scf.if``, ``scf.for`` and ``scf.while``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import cf, scf, tensor
from xdsl.dialects.builtin import TensorType, i1, i64
from xdsl.ir import Attribute, SSAValue

from torch2mlir.contract.element_types import si64
from torch2mlir.conversion.control_flow import Loop, as_while, region_of
from torch2mlir.conversion.lowering import Scalar, Tensor
from torch2mlir.conversion.torch_to_linalg.lowering import LinalgLowering, lowers
from torch2mlir.conversion.torch_to_linalg.scalars import INDEX
from torch2mlir.dialects.torch.dims import Dim, KnownSize


@lowers("prim.Loop")
def loop(lower: LinalgLowering, loop: Loop) -> Sequence[SSAValue]:
    """Counted if only its trip count ends it."""
    return _for(lower, loop) if loop.condition is None else _while(lower, loop)


def _for(lower: LinalgLowering, loop: Loop) -> Sequence[SSAValue]:
    def step(index: SSAValue, *values: SSAValue) -> Sequence[SSAValue]:
        number = lower.scalars.cast(Scalar(index, INDEX), si64).value
        position = lower.emit(tensor.FromElementsOp, [number], [TensorType(i64, [])]).results[0]
        return loop.step(Scalar(position, si64), values)[1:]

    trips = loop.trips or 0
    if isinstance(trips, int | Dim):
        return counted(lower, lower.size(trips), step, loop.initial)
    count = lower.scalars.extract(lower.operand(trips, si64), [])
    return counted(lower, lower.scalars.cast(count, INDEX).value, step, loop.initial)


def counted(
    lower: LinalgLowering,
    end: SSAValue,
    step: Callable[..., Sequence[SSAValue]],
    initial: Sequence[SSAValue],
) -> Sequence[SSAValue]:
    """What ``step(number, *values)`` makes of values for the numbers below an end, in turn."""
    types = [value.type for value in initial]
    bounds = [lower.size(0), end, lower.size(1)]
    region = region_of(lower, [INDEX, *types], step, scf.YieldOp)
    return lower.emit(scf.ForOp, [*bounds, *initial], types, regions=[region]).results


def _while(lower: LinalgLowering, loop: Loop) -> Sequence[SSAValue]:
    carried = as_while(lower, loop)

    def holds(*values: SSAValue) -> Sequence[SSAValue]:
        (going,) = carried.holds(*values)
        return [lower.scalars.extract(Tensor(going, (), i1), []).value, *values]

    results = _held(lower, holds, carried.step, carried.initial)
    return results[len(results) - len(loop.initial) :]


def _held(
    lower: LinalgLowering,
    holds: Callable[..., Sequence[SSAValue]],
    step: Callable[..., Sequence[SSAValue]],
    initial: Sequence[SSAValue],
) -> Sequence[SSAValue]:
    """``scf.while``; of the values, ``holds`` gives whether to go on and then them."""
    types = [value.type for value in initial]
    regions = [
        region_of(lower, types, holds, scf.ConditionOp),
        region_of(lower, types, step, scf.YieldOp),
    ]
    return lower.emit(scf.WhileOp, initial, types, regions=regions).results


def doubling(
    lower: LinalgLowering,
    step: Callable[..., Sequence[Tensor]],
    initial: Sequence[Tensor],
    length: KnownSize,
) -> list[Tensor]:
    """What ``step(round, *tensors)`` makes of tensors for rounds 0, 1, .. as long as ``2 ** round < length``."""
    s, first = lower.scalars, lower.size(0)
    operands = [*(x.value for x in initial), first]
    end = Scalar(lower.size(length), INDEX)

    def tensors(values: Sequence[SSAValue]) -> list[Tensor]:
        return [Tensor(v, x.sizes, x.dtype) for v, x in zip(values, initial, strict=True)]

    def holds(*values: SSAValue) -> Sequence[SSAValue]:
        reach = s("shl", s.constant(1, INDEX), Scalar(values[-1], INDEX))
        return [s.compare("lt", reach, end).value, *values]

    def body(*values: SSAValue) -> Sequence[SSAValue]:
        round = Scalar(values[-1], INDEX)
        results = step(round, *tensors(values[:-1]))
        return [*(x.value for x in results), s("add", round, 1).value]

    return tensors(_held(lower, holds, body, operands)[:-1])


@lowers("runtime.assert")
def runtime_assert(lower: LinalgLowering, condition: Tensor, message: Attribute) -> None:
    """Stops the program with a message unless the condition holds."""
    holds = lower.scalars.extract(condition, [])
    lower.emit(cf.AssertOp, [holds.value], [], {"msg": message})
