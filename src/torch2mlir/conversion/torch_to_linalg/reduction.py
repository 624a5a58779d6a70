"""Reductions in Linalg-on-Tensors: loop nests that start from the neutral element."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import f32, f64
from xdsl.ir import SSAValue

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import neutral, si32, si64
from torch2mlir.conversion.lowering import ResultType, Scalar, Tensor
from torch2mlir.conversion.torch_to_linalg.control_flow import counted
from torch2mlir.conversion.torch_to_linalg.lowering import Access, LinalgLowering, Subscript
from torch2mlir.conversion.torch_to_linalg.scalars import INDEX, Scalars, addition, combining
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import Sizes

ADDED_IN_F32 = 1024
"""Up to this static length f32 are added up in f32; more of them in f64, as PyTorch's kernel does."""


class Reductions(LinalgLowering):
    """The words that combine the elements of a tensor with each other."""

    def combined(self, word: str, x: Tensor, over: Sequence[int], result: ResultType) -> Tensor:
        table = _as_table(self, x) if len(over) == x.rank else None
        if table is None:
            return self._in_one_nest(word, x, over, result)
        axis = table.rank - 2
        columns = ResultType((*table.sizes[:axis], table.sizes[-1]), result.dtype)
        lines = self._in_one_nest(word, table, [axis], columns)
        total = self._in_one_nest(word, lines, range(lines.rank), ResultType((), result.dtype))
        return self.reshape(total, result.sizes)

    def _in_one_nest(self, word: str, x: Tensor, over: Sequence[int], result: ResultType) -> Tensor:
        combine = combining(word)

        def body(s: Scalars, element: Scalar, accumulator: Scalar) -> Scalar:
            return combine(s, s.cast(element, result.dtype), accumulator)

        output = self.full(neutral(word, result.dtype), result.sizes, result.dtype)
        kinds, subscripts = _loops(x, over, result.sizes)
        return self.nest(kinds, [(x, range(x.rank))], [(output, subscripts)], body)[0]

    def extremum(self, word: str, x: Tensor, axis: int, sizes: Sizes) -> list[Tensor]:
        """The extremum and then where it is: two nests of a comparison each become vectors, one of both does not."""
        kinds, subscripts = _loops(x, [axis], sizes)
        best = self.reduce(word, x, [axis], x.dtype, sizes)
        length = x.sizes[axis]
        counted = si32 if isinstance(length, int) and length < 1 << 31 else si64

        def find(s: Scalars, element: Scalar, best: Scalar, place: Scalar) -> Scalar:
            here = s.compare("eq", element, best)
            if element_types.is_float(x.dtype):
                here = s("or", here, s.is_nan(element))  # then the extremum is NaN too
            return s("min", place, s.select(here, s.cast(s.index(axis), counted), place))

        start = self.full(element_types.highest(counted), sizes, counted)
        accesses: list[Access] = [(x, range(x.rank)), (best, subscripts)]
        (places,) = self.nest(kinds, accesses, [(start, subscripts)], find)

        keeps = len(sizes) == x.rank

        def take(s: Scalars, place: Scalar) -> Scalar:
            found = s.cast(place, INDEX)
            at = [
                s.index(d if keeps or d < axis else d - 1) if d != axis else found
                for d in range(x.rank)
            ]
            return s.extract(x, at)

        loops = range(len(sizes))
        values = self.compute(take, [(places, loops)], sizes, x.dtype)
        return [values, self.cast(places, si64)]

    def running_sum(self, x: Tensor, axis: int) -> Tensor:
        length = x.sizes[axis]
        if x.dtype == f32 and not (isinstance(length, int) and length <= ADDED_IN_F32):
            return self.cast(_scanned(self, self.cast(x, f64), axis), f32)
        return _scanned(self, x, axis)


_WIDTHS = range(4096, 63, -1)
"""Elements of a row where all of a tensor are combined by columns first, which become vectors on several threads."""
_COLUMNS = 16
"""Columns of a row that divides by them: few sums stay in registers, those of a whole row go through memory."""


def _as_table(lower: LinalgLowering, x: Tensor) -> Tensor | None:
    """The elements in several rows of as many as there can be; None for few, or where the number is not known."""
    count = dims.product(x.sizes)
    if not isinstance(count, int) or not x.is_static:
        return None
    width = next((width for width in _WIDTHS if count % width == 0 and count > width), None)
    if width is None:
        return None
    table = [width] if width % _COLUMNS else [width // _COLUMNS, _COLUMNS]
    return lower.reshape(x, [count // width, *table])


def _loops(x: Tensor, over: Sequence[int], sizes: Sizes) -> tuple[str, list[Subscript]]:
    """The kinds of the loops over a tensor, and how the result is read: dimensions are left out, or have size 1."""
    kinds = "".join("r" if d in over else "p" for d in range(x.rank))
    if len(sizes) == x.rank:
        return kinds, [None if d in over else d for d in range(x.rank)]
    return kinds, [d for d in range(x.rank) if d not in over]


def _scanned(lower: LinalgLowering, x: Tensor, axis: int) -> Tensor:
    """Running sums: a loop over the places of a dimension, of which ``linalg-loops-to-iree`` makes one op."""
    sizes = [size for d, size in enumerate(x.sizes) if d != axis]
    loops, line = range(len(sizes)), [1 if d == axis else size for d, size in enumerate(x.sizes)]

    def step(number: SSAValue, result: SSAValue, reached: SSAValue) -> Sequence[SSAValue]:
        starts = [Scalar(number, INDEX) if d == axis else 0 for d in range(x.rank)]
        here = lower.extract_slice(x, starts, line, [1] * x.rank, sizes)
        so_far = Tensor(reached, tuple(sizes), x.dtype)
        (total,) = lower.nest(
            "p" * len(sizes),
            [(here, loops)],
            [(so_far, loops)],
            lambda s, new, old: addition(s, old, new),
        )
        whole = Tensor(result, x.sizes, x.dtype)
        return [lower.insert_slice(total, whole, starts, line).value, total.value]

    initial = [lower.empty(x.sizes, x.dtype), lower.full(0, sizes, x.dtype)]
    results = counted(lower, lower.size(x.sizes[axis]), step, [each.value for each in initial])
    return Tensor(results[0], x.sizes, x.dtype)
