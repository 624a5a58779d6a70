"""Branches and loops: their regions, converted in place, and what a target's word for a loop is given.

A target names its ops for branches and loops (``branch_ops``, ``loop_ops``), or lowers ``prim.Loop`` itself as
``f(lower, loop)``, which returns the values of the results. Regions refer to outer values directly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from torch2mlir.contract.element_types import si64
from torch2mlir.conversion.lowering import Lowering, Scalar, Tensor
from torch2mlir.conversion.registry import lowers_everywhere
from torch2mlir.conversion.scalar_ops import applied
from torch2mlir.dialects.placing import end_of
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch.dims import Dim

if TYPE_CHECKING:
    from torch2mlir.conversion.driver import FunctionConversion

Build = Callable[..., Sequence[SSAValue]]
"""Emits a region's ops for its arguments; returns what the region ends with."""
MOST_TRIPS = 2**63 - 1


@dataclass
class Loop:
    """A loop over carried values.

    Attributes:
        trips: how often it runs at most; None without a limit.
        condition: whether it runs at all; None if only ``trips`` ends it.
        counts: whether an iteration reads its number.
        initial: the carried values at the beginning.
        step: emits an iteration, from its number and the carried values to whether to go on and the next values.
        apply: emits an op of the contract on rank-0 tensors, by name.
    """

    trips: int | Dim | Scalar | None
    condition: Tensor | None
    counts: bool
    initial: list[SSAValue]
    step: Callable[[Scalar, Sequence[SSAValue]], list[SSAValue]]
    apply: Callable[..., Tensor] = field(repr=False)

    @property
    def counted(self) -> bool:
        """Whether the loop carries the number of its iteration."""
        return self.counts or self.trips is not None


@dataclass
class While:
    """The same as values carried by a loop with a condition: the iteration's number, whether to go on, the rest."""

    initial: list[SSAValue]
    holds: Build
    step: Build


def as_while(lower: Lowering, loop: Loop) -> While:
    """A loop for targets that have no other; the first ``len(initial) - len(loop.initial)`` values are its own."""
    zero = lower.splat(0, (), si64).value
    flag = [] if loop.condition is None else [loop.condition.value]
    counter = [zero] if loop.counted else []
    own = len(flag) + len(counter)

    def holds(*values: SSAValue) -> list[SSAValue]:
        number = Tensor(values[0] if counter else zero, (), si64)
        going = Tensor(values[own - 1], (), i1) if flag else None
        if loop.trips is not None:
            limit = lower.splat(loop.trips, (), si64)
            left = loop.apply("torch.aten.lt.Tensor", i1, number, limit)
            going = loop.apply("torch.aten.logical_and", i1, going, left) if going else left
        return [going.value] if going else [lower.splat(True, (), i1).value]

    def step(*values: SSAValue) -> list[SSAValue]:
        number = Tensor(values[0] if counter else zero, (), si64)
        go_on, *results = loop.step(Scalar(number.value, si64), values[own:])
        own_values = []
        if flag:  # IREE fails where MLIR drops a carried value because the body does not read it
            flags = [Tensor(value, (), i1) for value in (values[own - 1], go_on)]
            own_values.append(loop.apply("torch.aten.logical_and", i1, *flags).value)
        if counter:
            one = lower.splat(1, (), si64)
            following = loop.apply("torch.aten.add.Tensor", si64, number, one, 1)
            own_values.insert(0, following.value)
        return [*own_values, *results]

    return While([*counter, *flag, *loop.initial], holds, step)


def region_of(
    lower: Lowering, types: Sequence[Attribute], build: Build, terminator: type[Operation]
) -> Region:
    """A block of what ``build`` emits for its arguments, closed by a terminator."""
    block = Block(arg_types=types)
    outer, lower.body = lower.body, []
    location, name = lower.location, lower.op_name
    caches = [(cache, dict(cache)) for cache in lower.caches]
    lower.depth += 1
    try:
        results = build(*block.args)
        lower.location = location
        lower.emit(terminator, results, [])
        block.add_ops(lower.body)
    finally:
        lower.depth -= 1
        lower.body = outer
        lower.location, lower.op_name = location, name
        for cache, known in caches:  # what is remembered of the region's values ends with it
            cache.clear()
            cache.update(known)
    return Region(block)


def convert_branch(conversion: FunctionConversion, op: core.PrimIfOp) -> None:
    """``torch.prim.If``; a condition that is known chooses its region now."""
    condition = conversion.operand(op.operands[0])
    regions = [region.block for region in op.regions]
    if isinstance(condition, bool):
        values: Sequence[SSAValue] = conversion.convert_ops(regions[0 if condition else 1])
    else:
        flag = conversion.lower.operand(condition, i1)
        types = [conversion.boundary_type(result.type) for result in op.results]
        branches = [_in_scope(conversion, block) for block in regions]
        values = conversion.functions[op.name](conversion.lower, flag, types, *branches)
    conversion.bind(op.results, values)


def convert_loop(conversion: FunctionConversion, op: core.PrimLoopOp) -> None:
    """``torch.prim.Loop``; which of its two ways to end it has is looked up."""
    trips, condition, *initial = op.operands
    block = op.regions[0].block
    limit = conversion.operand(trips)
    ends = [conversion.values.of(v) for v in (condition, end_of(block).operands[0])]
    always = all(end is True for end in ends)
    run = _in_scope(conversion, block)

    def step(number: Scalar, values: Sequence[SSAValue]) -> list[SSAValue]:
        return run(number.value, *values)

    loop = Loop(
        None if isinstance(limit, int) and limit >= MOST_TRIPS else limit,
        None if always else _as_flag(conversion.lower, conversion.operand(condition)),
        block.args[0].first_use is not None,
        [conversion.result(value) for value in initial],
        step,
        partial(applied, conversion.lower, conversion.functions),
    )
    conversion.bind(op.results, conversion.functions[op.name](conversion.lower, loop))


def _as_flag(lower: Lowering, condition: Any) -> Tensor:
    """Whether a loop begins, as a tensor of rank 0."""
    if isinstance(condition, bool):
        return lower.splat(condition, (), i1)
    return lower.operand(condition, i1)


def _in_scope(conversion: FunctionConversion, block: Block) -> Callable[..., list[SSAValue]]:
    """Converts a block for given arguments; what it converts is not known outside."""

    def build(*arguments: SSAValue) -> list[SSAValue]:
        outer, conversion.converted = conversion.converted, dict(conversion.converted)
        try:
            conversion.bind(block.args, arguments)
            return conversion.convert_ops(block)
        finally:
            conversion.converted = outer

    return build


@lowers_everywhere("prim.If")
def branch(
    lower: Lowering,
    condition: Tensor,
    types: Sequence[Attribute],
    on_true: Build,
    on_false: Build,
) -> Sequence[SSAValue]:
    """One of two regions, by the target's op for it."""
    op_class, terminator = lower.branch_ops
    regions = [region_of(lower, [], build, terminator) for build in (on_true, on_false)]
    flag = lower.branch_condition(condition)
    return lower.emit(op_class, [flag], types, regions=regions).results


@lowers_everywhere("prim.Loop")
def while_loop(lower: Lowering, loop: Loop) -> Sequence[SSAValue]:
    """A loop by a target's only one, which has a region for its condition and one for its body."""
    carried, (op_class, terminator) = as_while(lower, loop), lower.loop_ops
    types = [value.type for value in carried.initial]
    builds = (carried.holds, carried.step)
    regions = [region_of(lower, types, build, terminator) for build in builds]
    op = lower.emit(op_class, carried.initial, types, regions=regions)
    return op.results[len(types) - len(loop.initial) :]


CONTROL_FLOW: dict[type[Operation], Callable[..., None]] = {
    core.PrimIfOp: convert_branch,
    core.PrimLoopOp: convert_loop,
}
"""Ops with regions -> what converts them."""
