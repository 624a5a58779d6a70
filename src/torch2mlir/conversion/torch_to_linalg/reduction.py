"""Reductions in Linalg-on-Tensors: loop nests that start from the neutral element."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import neutral, si64
from torch2mlir.conversion.lowering import Scalar, Tensor
from torch2mlir.conversion.torch_to_linalg.control_flow import doubling
from torch2mlir.conversion.torch_to_linalg.lowering import LinalgLowering, Subscript
from torch2mlir.conversion.torch_to_linalg.scalars import INDEX, Scalars, addition, two
from torch2mlir.dialects.torch.dims import KnownSize

SUMMED_IN_TRIANGLES = 256
"""Up to this static length every running sum is one of its own: a single nest, on IREE as fast as the rounds below."""


class Reductions(LinalgLowering):
    """The words that combine the elements of a tensor with each other."""

    def reduce(
        self,
        word: str,
        x: Tensor,
        over: Sequence[int],
        computed: Attribute,
        sizes: Sequence[KnownSize] | None = None,
    ) -> Tensor:
        sizes = self.out.sizes if sizes is None else sizes
        combine = addition if word == "add" else two(word)

        def body(s: Scalars, element: Scalar, accumulator: Scalar) -> Scalar:
            return combine(s, s.cast(element, computed), accumulator)

        output = self.full(neutral(word, computed), sizes, computed)
        kinds, subscripts = _loops(x, over, sizes)
        return self.nest(kinds, [(x, range(x.rank))], [(output, subscripts)], body)[0]

    def extremum(self, word: str, x: Tensor, axis: int, sizes: Sequence[KnownSize]) -> list[Tensor]:
        predicate = "gt" if word == "max" else "lt"
        kinds, subscripts = _loops(x, [axis], sizes)

        def build(s: Scalars, element: Scalar, best: Scalar, place: Scalar) -> list[Scalar]:
            if element_types.is_float(x.dtype):
                # unordered: also where one of the two is NaN
                better = s.compare(f"u{predicate}", element, best)
                better = s("and", better, s.compare("ord", best, best))
            else:
                better = s.compare(predicate, element, best)
            here = s.cast(s.index(axis), si64)
            return [s.select(better, element, best), s.select(better, here, place)]

        best = self.full(neutral(word, x.dtype), sizes, x.dtype)
        outputs = [(best, subscripts), (self.full(0, sizes, si64), subscripts)]
        return self.nest(kinds, [(x, range(x.rank))], outputs, build)

    def running_sum(self, x: Tensor, axis: int) -> Tensor:
        length = x.sizes[axis]
        if isinstance(length, int) and length <= SUMMED_IN_TRIANGLES:
            return _triangle_sums(self, x, axis)

        def add_earlier(round: Scalar, sums: Tensor) -> list[Tensor]:
            return [_earlier_added(self, sums, axis, round)]

        return doubling(self, add_earlier, [x], length)[0]


def _loops(
    x: Tensor, over: Sequence[int], sizes: Sequence[KnownSize]
) -> tuple[str, list[Subscript]]:
    """The kinds of the loops over a tensor, and how the result is read: dimensions are left out, or have size 1."""
    kinds = "".join("r" if d in over else "p" for d in range(x.rank))
    if len(sizes) == x.rank:
        return kinds, [None if d in over else d for d in range(x.rank)]
    return kinds, [d for d in range(x.rank) if d not in over]


def _triangle_sums(lower: LinalgLowering, x: Tensor, axis: int) -> Tensor:
    """A reduction over a triangle, in parallel over everything else."""
    rank = x.rank
    source = [rank if d == axis else d for d in range(rank)]

    def build(s: Scalars, element: Scalar, total: Scalar) -> Scalar:
        reached = s.compare("le", s.index(rank), s.index(axis))
        return addition(s, total, s.select(reached, element, 0))

    output = (lower.full(0, x.sizes, x.dtype), range(rank))
    return lower.nest("p" * rank + "r", [(x, source)], [output], build)[0]


def _earlier_added(lower: LinalgLowering, x: Tensor, axis: int, round: Scalar) -> Tensor:
    """Each element plus the one ``2 ** round`` places before it, if there is one (Hillis and Steele, 1986)."""

    def build(s: Scalars, element: Scalar) -> Scalar:
        place = s("sub", s.index(axis), s("shl", s.constant(1, INDEX), round))
        at = [s("max", place, 0) if d == axis else s.index(d) for d in range(x.rank)]
        earlier = s.select(s.compare("ge", place, 0), s.extract(x, at), 0)
        return addition(s, earlier, element)

    return lower.compute(build, [(x, range(x.rank))], x.sizes, x.dtype)
