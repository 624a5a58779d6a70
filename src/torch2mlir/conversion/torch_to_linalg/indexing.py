"""Reading elements at positions that tensors tell, in Linalg-on-Tensors.

Each is one linalg.generic over the result, with tensor.extract in its body.
"""

from __future__ import annotations

from xdsl.dialects import tensor

from torch2mlir.conversion.indexing import Positions
from torch2mlir.conversion.lowering import Scalar, Tensor
from torch2mlir.conversion.torch_to_linalg.lowering import LinalgLowering, broadcast_subscripts
from torch2mlir.conversion.torch_to_linalg.scalars import INDEX, Scalars
from torch2mlir.dialects import tensor_ext
from torch2mlir.dialects.torch.dims import KnownSize


class Reads(LinalgLowering):
    """The words that read at positions."""

    def take(self, x: Tensor, axis: int, index: Tensor) -> Tensor:
        sizes, shift = [*x.sizes[:axis], *index.sizes, *x.sizes[axis + 1 :]], index.rank - 1
        if index.rank == 1 and (place := number_of(index)) is not None:
            starts = [place if d == axis else 0 for d in range(x.rank)]
            return self.extract_slice(x, starts, sizes, [1] * x.rank, sizes)

        def build(s: Scalars, position: Scalar) -> Scalar:
            before = [s.index(d) for d in range(axis)]
            after = [s.index(d + shift) for d in range(axis + 1, x.rank)]
            return s.extract(x, [*before, s.cast(position, INDEX), *after])

        access = (index, range(axis, axis + index.rank))
        return self.compute(build, [access], sizes, x.dtype)

    def take_elements(self, x: Tensor, axis: int, index: Tensor) -> Tensor:
        def build(s: Scalars, position: Scalar) -> Scalar:
            places = [s.cast(position, INDEX) if d == axis else s.index(d) for d in range(x.rank)]
            return s.extract(x, places)

        return self.compute(build, [(index, range(index.rank))], index.sizes, x.dtype)

    def take_at(self, x: Tensor, at: Positions) -> Tensor:
        accesses = [
            (index, broadcast_subscripts(index.sizes, at.sizes, at.front)) for index in at.indices
        ]

        def build(s: Scalars, *positions: Scalar) -> Scalar:
            found = dict(zip(at.axes, positions, strict=True))
            loops = iter(at.slice_dims(x))
            places = [
                wrapped(s, found[d], x.sizes[d]) if d in found else s.index(next(loops))
                for d in range(x.rank)
            ]
            return s.extract(x, places)

        return self.compute(build, accesses, at.indexed_sizes(x), x.dtype)


def wrapped(s: Scalars, position: Scalar, size: KnownSize) -> Scalar:
    """A position as ``index``; a negative one counts from the end."""
    place = s.cast(position, INDEX)
    from_end = s("add", place, s.lower.number(size, INDEX))
    return s.select(s.compare("lt", place, 0), from_end, place)


def number_of(index: Tensor) -> Scalar | None:
    """The number that a tensor of one element was made from, as a loop's counter is; None for any other tensor."""
    value = index.value
    while isinstance(value.owner, tensor_ext.ExpandShapeOp | tensor.CollapseShapeOp):
        value = value.owner.operands[0]
    if isinstance(value.owner, tensor.FromElementsOp) and len(value.owner.operands) == 1:
        return Scalar(value.owner.operands[0], index.dtype)
    return None
