"""``tosa-hits-to-scatters``: what looks for each place at every index becomes a loop over the indices on IREE.

``tosa.scatter`` takes no index twice, so the lowerings to TOSA compare each place with every index and combine what
they find: ``hits = equal(places, indices)``, and then ``reduce_any(hits)``, ``reduce_sum(select(hits, elements, 0))``
or ``matmul(hits, rows)``, of floats with what is infinite apart. That is a product of two sizes, 700 times slower than
eager mode for 512 indices into 8000 places. The loop over rows that Linalg has for it, of which
``linalg-loops-to-iree`` makes one op, is linear. Indices outside hit nothing: they go to a row of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from math import prod
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    IntegerType,
    ModuleOp,
    Signedness,
    TensorType,
    i1,
)
from xdsl.ir import Operation, SSAValue

from torch2mlir.contract.element_types import neutral, si64
from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.conversion.lowering import Scalar, Tensor
from torch2mlir.conversion.torch_to_linalg.lowering import LinalgLowering
from torch2mlir.conversion.torch_to_linalg.scalars import Scalars
from torch2mlir.conversion.torch_to_linalg.scatter import combined_rows
from torch2mlir.dialects import tosa
from torch2mlir.dialects.iree_barriers import ComputeBarrierOp
from torch2mlir.dialects.tensors import element_of, integer, shape_of
from torch2mlir.engine_passes.in_place_of import as_tensor, replace

MIN_COMPARISONS = 1 << 14
"""As many comparisons take about as long as it takes IREE to begin another loop, 10 us."""
_WORDS = {
    tosa.ReduceSumOp.name: "add",
    tosa.ReduceMaxOp.name: "max",
    tosa.ReduceMinOp.name: "min",
    tosa.ReduceProductOp.name: "mul",
}
_COUNTED = IntegerType(32, Signedness.SIGNED)
_Build = Callable[[LinalgLowering], list[Tensor]]


class TosaHitsToScattersPass(PassForOps):
    """See the module's docstring."""

    name = "tosa-hits-to-scatters"
    looks_for = frozenset({tosa.EqualOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in list(op.walk()):
            if (build := _found(each)) is not None:
                replace(each, build, "linalg-on-tensors")


def _found(op: Operation) -> _Build | None:
    """What an op is in other words, if it combines what is hit."""
    if (sums := sums_of_rows(op)) is not None:
        index = _indices(sums.chosen)
        if index is not None and is_static(sums.rows):
            return partial(_added, op=op, index=index, rows=sums.rows)
    elif isinstance(op, tosa.ReduceAnyOp) and axis_of(op) == 2:
        if (index := _indices(op.operands[0])) is not None:
            return partial(_hit, op=op, index=index)
    elif op.name in _WORDS and axis_of(op) == 2:
        chosen = op.operands[0].owner
        if isinstance(chosen, tosa.SelectOp):
            hits, elements, nothing = chosen.operands
            index = _indices(hits)
            if (
                index is not None
                and shape_of(elements) == shape_of(index)
                and number_of(nothing) == neutral(_WORDS[op.name], as_tensor(elements).dtype)
            ):
                return partial(
                    _reduced, op=op, word=_WORDS[op.name], index=index, elements=elements
                )
    return None


class SumsOfRows(NamedTuple):
    """The sums ``[N, K, C]`` of those ``rows [N, W, C]`` that are ``chosen [N, K, W]``."""

    chosen: SSAValue
    rows: SSAValue


def sums_of_rows(op: object) -> SumsOfRows | None:
    """What rows an op adds up, the last one of the product with zeros and ones that the lowering writes."""
    product, is_of_floats = op, False
    if (with_infinity := _without_infinities(op, -math.inf)) is not None:
        sums = _without_infinities(with_infinity.owner, math.inf)
        product, is_of_floats = sums and sums.owner, True
    if not isinstance(product, tosa.MatMulOp):
        return None
    chosen, rows = uncast(product.operands[0]), product.operands[1]
    if element_of(chosen) != i1 or element_of(rows) != element_of(product.results[0]):
        return None
    if is_of_floats:
        finite = rows.owner
        return SumsOfRows(chosen, finite.operands[1]) if isinstance(finite, tosa.SelectOp) else None
    return SumsOfRows(chosen, rows) if isinstance(element_of(rows), IntegerType) else None


def _without_infinities(op: object, infinity: float) -> SSAValue | None:
    """What an op adds an infinity to where there is one."""
    if not isinstance(op, tosa.AddOp):
        return None
    value, added = op.operands
    chosen = added.owner
    if not isinstance(chosen, tosa.SelectOp) or number_of(chosen.operands[1]) != infinity:
        return None
    return value if number_of(chosen.operands[2]) == 0 else None


def axis_of(op: Operation) -> int:
    """The dimension that a reduction is over."""
    return integer(op.properties["axis"])


def is_static(value: SSAValue) -> bool:
    """Whether all sizes of a tensor are known."""
    return isinstance(value.type, TensorType) and DYNAMIC_INDEX not in value.type.get_shape()


def uncast(value: SSAValue) -> SSAValue:
    """What numbers of booleans are made of."""
    while isinstance(value.owner, tosa.CastOp) and element_of(value) != i1:
        value = value.owner.operands[0]
    return value


def _indices(hits: SSAValue) -> SSAValue | None:
    """``[N, 1, W]``, if these ``[N, K, W]`` say which of them are each of the K places; None if others, or few."""
    op = hits.owner
    if not isinstance(op, tosa.EqualOp) or not all(map(is_static, op.operands)):
        return None
    places, index = op.operands
    first, second = shape_of(places), shape_of(index)
    fits = len(first) == len(second) == 3 and first[0] == first[2] == second[1] == 1
    if not fits or 0 in (*first, *second) or prod(shape_of(hits)) < MIN_COMPARISONS:
        return None
    return index if counts_up(places, first[1]) else None


def counts_up(value: SSAValue, count: int) -> bool:
    """Whether a constant is 0, 1, 2, .."""
    while isinstance(value.owner, tosa.ReshapeOp):
        value = value.owner.operands[0]
    literal = _literal(value)
    return literal is not None and list(literal.get_values()) == list(range(count))


def _literal(value: SSAValue) -> DenseIntOrFPElementsAttr | None:
    op = value.owner
    literal = op.properties["values"] if isinstance(op, tosa.ConstOp) else None
    return literal if isinstance(literal, DenseIntOrFPElementsAttr) else None


def number_of(value: SSAValue) -> float | int | None:
    """What all elements of a constant are."""
    literal = _literal(value)
    if literal is None or not literal.is_splat():
        return None
    number: float | int = literal.get_values()[0]  # type: ignore[assignment]
    return number


def _hit(lower: LinalgLowering, op: Operation, index: SSAValue) -> list[Tensor]:
    count, places, _ = shape_of(op.results[0])
    ones = lower.full(1, [prod(shape_of(index)), 1], _COUNTED)
    rows = _over_indices(lower, index, places, ones, "max", 0)
    return [lower.reshape(lower.compare("ne", rows, 0), [count, places, 1])]


def _reduced(
    lower: LinalgLowering, op: Operation, word: str, index: SSAValue, elements: SSAValue
) -> list[Tensor]:
    count, places, _ = shape_of(op.results[0])
    x = as_tensor(elements)
    rows = lower.reshape(x, [prod(shape_of(index)), 1])
    found = _over_indices(lower, index, places, rows, word, neutral(word, x.dtype))
    return [lower.reshape(found, [count, places, 1])]


def _added(lower: LinalgLowering, op: Operation, index: SSAValue, rows: SSAValue) -> list[Tensor]:
    count, places, width = shape_of(op.results[0])
    flat = lower.reshape(as_tensor(rows), [prod(shape_of(index)), width])
    found = _over_indices(lower, index, places, flat, "add", 0)
    return [lower.reshape(found, [count, places, width])]


def _over_indices(
    lower: LinalgLowering, index: SSAValue, places: int, rows: Tensor, word: str, start: float
) -> Tensor:
    """``[N * K, C]``: for each place the rows ``[N * W, C]`` whose index it is, combined with what is started with."""
    batches, _, count = shape_of(index)
    outside, width = batches * places, rows.sizes[1]

    def place(s: Scalars, position: Scalar) -> Scalar:
        wide = s.cast(position, si64)
        within = s("and", s.compare("ge", wide, 0), s.compare("lt", wide, places))
        row = s("add", s("mul", s.cast(s.index(0), si64), places), wide)
        return s.select(within, row, outside)

    flat = lower.reshape(as_tensor(index), [batches, count])
    at = lower.compute(place, [(flat, range(2))], [batches, count], si64)
    begin = lower.full(start, [outside + 1, width], rows.dtype)
    at = lower.reshape(at, [batches * count, 1])
    found = combined_rows(lower, begin, apart(lower, at), apart(lower, rows), word)
    return lower.slice(found, [0, 0], [outside, width], [1, 1])


def apart(lower: LinalgLowering, x: Tensor) -> Tensor:
    """Computed before: IREE would compute the whole tensor within its scatter, on the stack, and refuses large ones."""
    return lower.op(ComputeBarrierOp, [x], x.sizes, x.dtype)
