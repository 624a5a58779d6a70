"""``stablehlo-extrema-of-nan``: a minimum or maximum is NaN where one of its elements is, also in XLA's library.

XLA (jaxlib 0.10.2) hands minima and maxima over 4096 elements and more to YNNPACK, which leaves NaN out: ``jnp.min`` of
a matrix of 64x64 with a column of NaN is 0. Its sums keep NaN, so a second reduction adds up the NaN and zeros for the
other elements: twice the time of the library's, where XLA's own kernels take ten times as long. Windows have no such
way out and are left to these (``reads_extrema_of_nan``). A softmax takes no harm: where its maximum is no NaN, the
element that is one makes the sum NaN.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, AnyFloat, ModuleOp, TensorType
from xdsl.ir import Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.conversion.lowering import ResultType, Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.tensors import integers, shape_of
from torch2mlir.engine_passes.in_place_of import as_tensor, replace

_FEW = 1024
"""Up to so many elements XLA computes itself; it does up to 4095."""
_EXTREMA = (hlo.MaxOp, hlo.MinOp)


class StablehloExtremaOfNanPass(PassForOps):
    """See the module's docstring."""

    name = "stablehlo-extrema-of-nan"
    looks_for = frozenset({hlo.ReduceOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if isinstance(each, hlo.ReduceOp)]:
            is_static = DYNAMIC_INDEX not in shape_of(each.operands[0])
            if is_static and len(each.results) == 1 and _loses_nan(each):
                replace(each, partial(_with_nan, op=each))


def reads_extrema_of_nan(module: ModuleOp) -> bool:
    """Whether a result may depend on a minimum or maximum of floats being NaN where one of them is."""
    return any(_loses_nan(op) for op in module.walk())


def _loses_nan(op: Operation) -> bool:
    if not isinstance(op, hlo.ReduceOp | hlo.ReduceWindowOp):
        return False
    is_extremum = any(
        isinstance(each, _EXTREMA) and _is_float(each.results[0]) for each in op.regions[0].walk()
    )
    sizes = shape_of(op.operands[0])
    is_small = DYNAMIC_INDEX not in sizes and prod(sizes) <= _FEW
    return is_extremum and not (is_small or _is_of_softmax(op) or _is_with_nan(op))


def _with_nan(lower: StablehloLowering, op: Operation) -> list[Tensor | None]:
    x, result = as_tensor(op.operands[0]), as_tensor(op.results[0])
    over = list(integers(op.properties["dimensions"]))
    nan = lower.select(lower.compare("ne", x, x), x, 0.0)
    total = lower.combined("add", nan, over, ResultType(result.sizes, result.dtype))
    extremum = lower.emit(
        hlo.ReduceOp,
        op.operands,
        [result.value.type],
        op.properties,
        [region.clone() for region in op.regions],
    )
    best = Tensor(extremum.results[0], result.sizes, result.dtype)
    return [lower.select(lower.compare("ne", total, total), total, best)]


def _is_with_nan(op: Operation) -> bool:
    """Whether it is one of two reductions that the pass makes of one."""
    readers = [use.operation for use in op.results[0].uses]
    if len(readers) != 1 or not isinstance(select := readers[0], hlo.SelectOp):
        return False
    is_nan, total, best = select.operands
    terms = total.owner.operands[0].owner if isinstance(total.owner, hlo.ReduceOp) else None
    return (
        best is op.results[0]
        and isinstance(is_nan.owner, hlo.CompareOp)
        and set(is_nan.owner.operands) == {total}
        and isinstance(terms, hlo.SelectOp)
        and terms.operands[1] is op.operands[0]
    )


def _is_float(value: SSAValue) -> bool:
    type = value.type
    return isinstance(type, TensorType) and isinstance(type.element_type, AnyFloat)


def _is_of_softmax(extremum: Operation) -> bool:
    """Whether it is taken from the elements, whose exponentials are divided by their sum, or minus its logarithm."""
    if not isinstance(extremum, hlo.ReduceOp) or len(extremum.results) != 1:
        return False
    return all(
        isinstance(op, hlo.SubtractOp)
        and op.operands[0] is extremum.operands[0]
        and _spread(op.operands[1], extremum) == (extremum.results[0], 0)
        and all(_is_normalized(each, op, extremum) for each in _readers(op.results[0]))
        for op in _readers(extremum.results[0])
    )


def _is_normalized(op: Operation, shifted: Operation, extremum: Operation) -> bool:
    """Whether what reads ``x - max(x)`` is NaN wherever a line of ``x`` has one."""
    if isinstance(op, hlo.ExpOp):
        return all(
            _is_sum(each, op, extremum)
            or (
                isinstance(each, hlo.DivOp)
                and each.operands[0] is op.results[0]
                and _is_spread_sum(each.operands[1], op, extremum, logarithms=0)
            )
            for each in _readers(op.results[0])
        )
    return (
        isinstance(op, hlo.SubtractOp)
        and op.operands[0] is shifted.results[0]
        and any(
            _is_spread_sum(op.operands[1], each, extremum, logarithms=1)
            for each in _readers(shifted.results[0])
            if isinstance(each, hlo.ExpOp)
        )
    )


def _is_sum(op: object, terms: Operation, extremum: Operation) -> bool:
    """Whether an op adds up exponentials along the dimensions of the maximum."""
    return (
        isinstance(op, hlo.ReduceOp)
        and op.operands[0] is terms.results[0]
        and op.properties["dimensions"] == extremum.properties["dimensions"]
        and isinstance(op.regions[0].block.first_op, hlo.AddOp)
    )


def _is_spread_sum(value: SSAValue, terms: Operation, extremum: Operation, logarithms: int) -> bool:
    found, logarithms_taken = _spread(value, extremum)
    return logarithms_taken == logarithms and _is_sum(found.owner, terms, extremum)


def _spread(value: SSAValue, extremum: Operation) -> tuple[SSAValue, int]:
    """What is repeated along the dimensions of the maximum, and how many logarithms are taken of it; else the value."""
    reduced = set(integers(extremum.properties["dimensions"]))
    shape, op = list(shape_of(value)), value.owner
    if not isinstance(op, hlo.BroadcastInDimOp):
        return value, 0
    to, inner, logarithms = list(integers(op.properties["broadcast_dimensions"])), op.operands[0], 0
    kept = [1 if dim in reduced else size for dim, size in enumerate(shape)]
    is_kept = to == list(range(len(shape))) and list(shape_of(inner)) == kept
    if not is_kept and to != [dim for dim in range(len(shape)) if dim not in reduced]:
        return value, 0
    while isinstance(inner.owner, hlo.ReshapeOp | hlo.LogOp):
        logarithms += isinstance(inner.owner, hlo.LogOp)
        inner = inner.owner.operands[0]
    return inner, logarithms


def _readers(value: SSAValue) -> Iterator[Operation]:
    """The ops that read a value, or it in another shape."""
    for use in value.uses:
        if isinstance(use.operation, hlo.BroadcastInDimOp | hlo.ReshapeOp):
            yield from _readers(use.operation.results[0])
        else:
            yield use.operation
