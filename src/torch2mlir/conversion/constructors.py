"""Tensors made of numbers, in the words that all dialects share."""

from __future__ import annotations

from typing import Any

from torch2mlir.contract.element_types import si64
from torch2mlir.conversion.expressions import Expr
from torch2mlir.conversion.lowering import Lowering, Number, ResultType, Scalar, Tensor
from torch2mlir.conversion.registry import lowers_everywhere
from torch2mlir.dialects.torch.dims import Dim

Count = Number | Dim | Scalar


@lowers_everywhere("aten.full")
def full(lower: Lowering, size: Any, value: Count, *_: object) -> Tensor:
    """One value everywhere."""
    return lower.splat(value, lower.out.sizes, lower.out.dtype)


@lowers_everywhere("aten.scalar_tensor")
def scalar_tensor(lower: Lowering, value: Count, *_: object) -> Tensor:
    """A number as a rank-0 tensor."""
    return lower.splat(value, (), lower.out.dtype)


@lowers_everywhere("aten.repeat_interleave.Tensor")
def repeat_interleave(lower: Lowering, repeats: Tensor, *_: object) -> Tensor:
    """As many zeros as the only element of ``repeats`` says; none for a negative one, which a check tells."""
    given = lower.reshape(lower.cast(repeats, si64), ())
    result = ResultType((), si64)
    count = lower.formula(lambda x: x.of("max", 0), given, computed=si64, result=result)
    lower.learn_size(lower.out.sizes[0], count)
    return lower.splat(0, lower.out.sizes, si64)


@lowers_everywhere("aten.arange.start_step")
def arange(lower: Lowering, start: Count, end: Any, step: Count, *_: object) -> Tensor:
    """``start + i * step``, of integers with fractions cut off both; half floats in f32."""
    out = lower.out
    computed = lower.computed_in("scaled", out.dtype)
    places = lower.iota(out.sizes, 0, computed)
    factors = [] if step == 1 else [step]
    offsets = [] if start == 0 else [start]

    def code(place: Expr, *given: Expr) -> Expr:
        if factors:
            place = place * given[0]
        return place + given[-1] if offsets else place

    if not factors and not offsets:
        return lower.cast(places, out.dtype)
    return lower.formula(code, places, *factors, *offsets, computed=computed)
