"""Between which numbers the elements of an integer tensor lie, as far as the program says it.

What is known is sound for all elements: constants are looked at, positions that an op finds are within what it
searches, arithmetic carries bounds on. Bounds are numbers or expressions of sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerType, Signedness, i1
from xdsl.ir import Operation, SSAValue

from torch2mlir.dialects.torch import core, dims
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim, KnownSize, is_size
from torch2mlir.dialects.torch.values import Values
from torch2mlir.frontends.weights import TorchSource, is_fake
from torch2mlir.transforms.index_ranges.operands import operator_name, sizes_of

Interval = tuple[KnownSize | None, KnownSize | None]
"""The lowest and the highest number, None where nothing is known."""

UNKNOWN: Interval = (None, None)
_DEEPEST = 64
"""How many ops are looked through."""


def is_at_most(one: KnownSize, other: KnownSize) -> bool:
    """Whether a number is never above another one, for all sizes."""
    for dim, all_or_any in ((one, {"min": any, "max": all}), (other, {"min": all, "max": any})):
        if isinstance(dim, Dim) and dim.op in all_or_any:
            parts = dim.operands()
            pairs = [(part, other) if dim is one else (one, part) for part in parts]
            return all_or_any[dim.op](is_at_most(*pair) for pair in pairs)
    return is_size(dims.sub(other, one))


class Intervals:
    """The intervals of a program's tensors, each found once.

    Args:
        values: of the program.
    """

    def __init__(self, values: Values) -> None:
        self.values = values
        self._known = dict[SSAValue, Interval]()
        self._depth = 0

    def of(self, value: SSAValue) -> Interval:
        """The interval of a tensor or an integer."""
        if not isinstance(value.type, t.AnyTensorType):
            number = self.values.of(value)
            return (number, number) if isinstance(number, int | Dim) else UNKNOWN
        if value not in self._known:
            found = self._of_op(value) if self._depth < _DEEPEST else UNKNOWN
            self._known[value] = _within(found, _of_type(value))
        return self._known[value]

    def number(self, op: Operation, place: int) -> KnownSize | None:
        """An integer among an op's operands, if it is known."""
        value = self.values.of(op.operands[place]) if place < len(op.operands) else None
        return value if isinstance(value, int | Dim) else None

    def _of_op(self, value: SSAValue) -> Interval:
        op = value.owner
        if not isinstance(op, Operation):
            return UNKNOWN
        if isinstance(op, core.ValueTensorLiteralOp):
            return _of_literal(op)
        rule = RULES.get(operator_name(op))
        if rule is None:
            return UNKNOWN
        self._depth += 1
        try:
            return rule(self, op, value)
        finally:
            self._depth -= 1


Rule = Callable[[Intervals, Operation, SSAValue], Interval]


def held_by(value: SSAValue) -> tuple[int, int] | None:
    """What a tensor's dtype holds, if that is integers."""
    dtype = value.type.dtype if isinstance(value.type, t.AnyTensorType) else None
    if not isinstance(dtype, IntegerType):
        return None
    width = dtype.width.data
    if dtype == i1 or dtype.signedness.data is Signedness.UNSIGNED:
        return 0, (1 << width) - 1
    return -(1 << (width - 1)), (1 << (width - 1)) - 1


def _of_type(value: SSAValue) -> Interval:
    """What the dtype says; of 32 bits and more nothing, for no size comes near."""
    held = held_by(value)
    return UNKNOWN if held is None or held[1] >= (1 << 31) - 1 else held


def _within(one: Interval, other: Interval) -> Interval:
    """What is known of a number that is in two intervals; expressions of sizes say more than the dtype's numbers."""
    low = one[0] if other[0] is None or one[0] is not None else other[0]
    high = one[1] if other[1] is None or one[1] is not None else other[1]
    return low, high


def _of_literal(op: core.ValueTensorLiteralOp) -> Interval:
    """Of a constant, or a weight as it is when it is compiled."""
    value = op.value
    if isinstance(value, DenseIntOrFPElementsAttr):
        numbers = list(value.get_values())
        return (int(min(numbers)), int(max(numbers))) if numbers else (0, -1)
    source = getattr(getattr(value, "source", None), "data", None)
    if not isinstance(source, TorchSource) or is_fake(source.tensor):
        return UNKNOWN
    tensor = source.tensor.detach()
    if tensor.is_floating_point() or tensor.is_complex() or not tensor.numel():
        return UNKNOWN
    low, high = torch.aminmax(tensor)
    return int(low), int(high)


def _is_integer(value: SSAValue) -> bool:
    return isinstance(value.type, t.AnyTensorType) and isinstance(value.type.dtype, IntegerType)


def _first(known: Intervals, op: Operation, value: SSAValue) -> Interval:
    """Of some of the first operand's elements."""
    return known.of(op.operands[0]) if _is_integer(op.operands[0]) else UNKNOWN


def _converted(known: Intervals, op: Operation, value: SSAValue) -> Interval:
    """The first operand's, if the dtype holds it."""
    low, high = _first(known, op, value)
    held = held_by(value)
    if held is None:
        return UNKNOWN
    if is_narrower(op.operands[0], value):
        return low, high
    fits = isinstance(low, int) and isinstance(high, int) and held[0] <= low and high <= held[1]
    return (low, high) if fits else UNKNOWN


def is_narrower(value: SSAValue, other: SSAValue) -> bool:
    """Whether a dtype of integers holds all that another one does."""
    one, wide = held_by(value), held_by(other)
    return one is not None and wide is not None and wide[0] <= one[0] and one[1] <= wide[1]


def _joined(first: Interval, *others: Interval) -> Interval:
    """Of numbers that are each in one of the intervals."""
    low, high = first
    for other in others:
        low = _extreme(low, other[0], dims.minimum)
        high = _extreme(high, other[1], dims.maximum)
    return low, high


def _extreme(
    one: KnownSize | None, other: KnownSize | None, which: Callable[..., KnownSize]
) -> KnownSize | None:
    return None if one is None or other is None else which(one, other)


def _known_of(
    one: KnownSize | None, other: KnownSize | None, which: Callable[..., KnownSize]
) -> KnownSize | None:
    """Of both bounds, if they are known, or of one."""
    if one is None or other is None:
        return other if one is None else one
    return which(one, other)


def _selected(known: Intervals, op: Operation, value: SSAValue) -> Interval:
    return _joined(known.of(op.operands[1]), known.of(op.operands[2]))


def _of_list(known: Intervals, op: Operation, value: SSAValue) -> Interval:
    """Of the tensors of a list."""
    listed = known.values.of(op.operands[0])
    if not isinstance(listed, list) or not listed:
        return UNKNOWN
    tensors = [known.of(each) for each in listed if isinstance(each, SSAValue)]
    return _joined(*tensors) if len(tensors) == len(listed) else UNKNOWN


def _counted(start: int | None, end: int, step: int | None = None) -> Rule:
    """From one number until before another, by a step; these are operands, 0 and 1 if they are none."""

    def rule(known: Intervals, op: Operation, value: SSAValue) -> Interval:
        first = 0 if start is None else known.number(op, start)
        last, by = known.number(op, end), 1 if step is None else known.number(op, step)
        if not _is_integer(value) or first is None or last is None or not isinstance(by, int):
            return UNKNOWN
        return (first, dims.sub(last, 1)) if by > 0 else (dims.add(last, 1), first)

    return rule


def _place_in(operand: int, dim: int | None) -> Rule:
    """A position along the dimension that an operand says, or among all elements."""

    def rule(known: Intervals, op: Operation, value: SSAValue) -> Interval:
        if value is not op.results[-1] or not _is_integer(value):
            return UNKNOWN
        sizes = sizes_of(op.operands[operand])
        axis = None if dim is None else known.values.of(op.operands[dim])
        if sizes is None or not isinstance(axis, int | None):
            return UNKNOWN
        if not sizes:
            return 0, 0
        along = sizes if axis is None else [sizes[axis]]
        return (0, dims.sub(dims.product(along), 1) if dims.are_known(along) else None)

    return rule


def _found_in(operand: int) -> Rule:
    """A place between sorted boundaries, the last dimension of an operand."""

    def rule(known: Intervals, op: Operation, value: SSAValue) -> Interval:
        sizes = sizes_of(op.operands[operand])
        return (0, sizes[-1]) if sizes else (0, None)

    return rule


def _positions(known: Intervals, op: Operation, value: SSAValue) -> Interval:
    """``nonzero``: in each column, positions along another dimension."""
    sizes = sizes_of(op.operands[0])
    if not sizes or not dims.are_known(sizes):
        return 0, None
    return 0, dims.sub(dims.maximum(*sizes), 1)


def _positions_or_fill(known: Intervals, op: Operation, value: SSAValue) -> Interval:
    """The same, and a number for those that are not there."""
    return _joined(_positions(known, op, value), known.of(op.operands[2]))


def _clamped(low: int | None, high: int | None) -> Rule:
    """Between the bounds at these operands."""

    def rule(known: Intervals, op: Operation, value: SSAValue) -> Interval:
        if not _is_integer(value) or not _is_integer(op.operands[0]):
            return UNKNOWN
        least, most = known.of(op.operands[0])
        if low is not None:
            bound, highest = known.of(op.operands[low])
            given = not isinstance(op.operands[low].type, t.NoneType)
            least = _known_of(least, bound, dims.maximum)
            most = _extreme(most, highest, dims.maximum) if given else most
        if high is not None:  # which wins over the other
            lowest, bound = known.of(op.operands[high])
            given = not isinstance(op.operands[high].type, t.NoneType)
            least = _extreme(least, lowest, dims.minimum) if given else least
            most = _known_of(most, bound, dims.minimum)
        return least, most

    return rule


def _remainder(known: Intervals, op: Operation, value: SSAValue) -> Interval:
    """Of a positive divisor."""
    low, high = known.of(op.operands[1])
    positive = low is not None and is_at_most(1, low)
    if not positive or high is None or not _is_integer(op.operands[0]):
        return UNKNOWN
    return 0, dims.sub(high, 1)


def _masked(known: Intervals, op: Operation, value: SSAValue) -> Interval:
    """Bits in common with a number that is not negative."""
    for operand in op.operands:
        low, high = known.of(operand)
        if low is not None and is_at_most(0, low):
            return 0, high
    return UNKNOWN


def _sum(sign: int) -> Rule:
    def rule(known: Intervals, op: Operation, value: SSAValue) -> Interval:
        factor = known.number(op, 2)
        if not isinstance(factor, int) or not _is_integer(value):
            return UNKNOWN
        one, other = known.of(op.operands[0]), known.of(op.operands[1])
        factor *= sign
        if factor < 0:
            other = other[1], other[0]
        low, high = (
            None if a is None or b is None else dims.add(a, dims.mul(factor, b))
            for a, b in zip(one, other)
        )
        return _if_no_overflow(value, low, high)

    return rule


def _product(known: Intervals, op: Operation, value: SSAValue) -> Interval:
    """Of two intervals of which none is negative."""
    one, other = known.of(op.operands[0]), known.of(op.operands[1])
    lows = [bound for bound in (one[0], other[0]) if bound is not None and is_at_most(0, bound)]
    if len(lows) < 2 or one[1] is None or other[1] is None:
        return UNKNOWN
    return _if_no_overflow(value, dims.mul(*lows), dims.mul(one[1], other[1]))


def _if_no_overflow(value: SSAValue, low: KnownSize | None, high: KnownSize | None) -> Interval:
    """What arithmetic gives, unless the dtype may not hold it; sizes are numbers of elements that memory holds."""
    held = held_by(value)
    for number in (low, high):
        if number is None or held is None:
            return UNKNOWN
        if isinstance(number, int) and not held[0] <= number <= held[1]:
            return UNKNOWN
    return low, high


def _filled(operand: int) -> Rule:
    def rule(known: Intervals, op: Operation, value: SSAValue) -> Interval:
        number = known.values.of(op.operands[operand])
        return (number, number) if isinstance(number, int) and _is_integer(value) else UNKNOWN

    return rule


def _always(number: int) -> Rule:
    return lambda known, op, value: (number, number) if _is_integer(value) else UNKNOWN


def _named(rule: Rule, names: str) -> dict[str, Rule]:
    return {f"torch.aten.{name}": rule for name in names.split()}


def _ops(names: str) -> frozenset[str]:
    return frozenset(f"torch.aten.{name}" for name in names.split())


_CONVERSIONS = _ops("to.dtype to.device to.dtype_layout to.other _to_copy type_as")

WHOLE = (
    _ops(
        "alias clone contiguous detach expand broadcast_to flatten.using_ints flip lift_fresh_copy"
    )
    | _ops(
        "movedim.intlist permute t transpose.int reshape view _unsafe_view unflatten.int unsqueeze"
    )
    | _ops("squeeze squeeze.dim squeeze.dims repeat roll")
    | _CONVERSIONS
    | {core.TensorStaticInfoCastOp.name}
)
"""Ops whose result has all elements of the first operand and no others, if its sizes are not 0."""

PART = (
    _ops("diagonal narrow select.int slice.Tensor unfold")
    | _ops("gather index.Tensor index_select masked_select take take_along_dim")
    | _ops("repeat_interleave.self_int repeat_interleave.self_Tensor")
)
"""Ops whose result has some of the first operand's elements and no others."""

RULES: dict[str, Rule] = {
    **dict.fromkeys(WHOLE | PART, _first),
    **dict.fromkeys(_CONVERSIONS, _converted),
    **_named(_selected, "where.self where.ScalarSelf where.ScalarOther where.Scalar"),
    **_named(_of_list, "cat stack hstack vstack concat"),
    **_named(_counted(None, 0), "arange randperm randint"),
    **_named(_counted(0, 1), "arange.start randint.low"),
    **_named(_counted(0, 1, step=2), "arange.start_step"),
    **_named(_place_in(0, dim=1), "argmax argmin argsort max.dim min.dim sort cummax cummin"),
    **_named(_place_in(0, dim=2), "argsort.stable kthvalue topk sort.stable"),
    **_named(_place_in(0, dim=1), "median.dim mode"),
    **_named(_found_in(0), "searchsorted.Tensor"),
    **_named(_found_in(1), "bucketize.Tensor"),
    **_named(_positions, "nonzero argwhere"),
    **_named(_positions_or_fill, "nonzero_static"),
    **_named(_clamped(1, 2), "clamp clamp.Tensor clip"),
    **_named(_clamped(1, None), "clamp_min clamp_min.Tensor maximum"),
    **_named(_clamped(None, 1), "clamp_max clamp_max.Tensor minimum"),
    **_named(_remainder, "remainder.Scalar remainder.Tensor"),
    **_named(_masked, "bitwise_and.Tensor bitwise_and.Scalar __and__.Tensor __and__.Scalar"),
    **_named(_sum(1), "add.Tensor add.Scalar"),
    **_named(_sum(-1), "sub.Tensor sub.Scalar"),
    **_named(_product, "mul.Tensor mul.Scalar"),
    **_named(_filled(1), "full full_like"),
    **_named(_filled(2), "new_full"),
    **_named(_always(0), "zeros zeros_like new_zeros"),
    **_named(_always(1), "ones ones_like new_ones"),
}
"""Op -> the interval of a result."""


def shares_all(op: Operation, sizes: Sequence[KnownSize | None] | None) -> bool:
    """Whether the elements of an op's result, of these sizes, are all those of its first operand."""
    if operator_name(op) not in WHOLE:
        return False
    given = sizes_of(op.operands[0])
    if given is None or sizes is None:
        return False
    return all(size in given or (isinstance(size, int) and size > 0) for size in sizes)
