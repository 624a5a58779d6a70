"""Sorting in StableHLO: one ``sort`` of the elements and, where somebody asks for them, their positions."""

from __future__ import annotations

from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import Attribute, Region, SSAValue

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import si64
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering, lowers
from torch2mlir.dialects import stablehlo as hlo


@lowers("aten.sort.stable")
def sort(
    lower: StablehloLowering, x: Tensor, stable: bool | None, dim: int, descending: bool
) -> list[Tensor | None]:
    """The elements along a dimension in order, and where each was; NaN is beyond all numbers."""
    if x.rank == 0:
        return [x, lower.splat(0, (), si64)]
    axis = dim
    tensors = [x, lower.iota(x.sizes, axis, si64)] if lower.used[1] else [x]
    emitted = lower.emit(
        hlo.SortOp,
        [t.value for t in tensors],
        [t.value.type for t in tensors],
        {"dimension": hlo.i64_attr(axis), "is_stable": BoolAttr.from_bool(True)},
        [_comparator(lower, [t.dtype for t in tensors], descending)],
    )
    results = [Tensor(r, t.sizes, t.dtype) for r, t in zip(emitted.results, tensors, strict=True)]
    return [*results, *[None] * (2 - len(results))]


def _comparator(lower: StablehloLowering, dtypes: list[Attribute], descending: bool) -> Region:
    """Whether the first of two elements has to come first; what is sorted along does not matter."""

    def build(a: SSAValue, b: SSAValue, *_: SSAValue) -> list[SSAValue]:
        x, y = Tensor(a, (), dtypes[0]), Tensor(b, (), dtypes[0])
        lesser, greater = (y, x) if descending else (x, y)
        first = lower.compare("LT", lesser, greater)
        if element_types.is_float(dtypes[0]):
            number, nan = lower.compare("EQ", lesser, lesser), lower.compare("NE", greater, greater)
            first = lower.apply(hlo.OrOp, first, lower.apply(hlo.AndOp, number, nan))
        return [first.value]

    types = [lower.tensor_type((), dtype) for dtype in dtypes for _ in range(2)]
    return lower.region(types, build)
