"""What a lowering function is given: the context it builds with, and the vocabulary all three dialects share.

A lowering reads ``def f(lower, x, dim, keepdim)``: plain values in the order of the op's schema, tensors as
:class:`Tensor`, and returns tensors. ``lower.out`` is the type PyTorch gives the result; sizes in it are expressions of
the program's symbols, so no lowering computes or checks shapes at run time.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, NoReturn

from xdsl.dialects.builtin import ComplexType
from xdsl.ir import Attribute, Operation, SSAValue

from torch2mlir.contract import element_types
from torch2mlir.contract.positions import is_natural
from torch2mlir.conversion.emitter import DTYPES as DTYPES
from torch2mlir.conversion.emitter import Emitter
from torch2mlir.conversion.emitter import Number as Number
from torch2mlir.conversion.emitter import Operand as Operand
from torch2mlir.conversion.emitter import ResultType as ResultType
from torch2mlir.conversion.emitter import Scalar as Scalar
from torch2mlir.conversion.emitter import Tensor as Tensor
from torch2mlir.conversion.emitter import dtype_of as dtype_of
from torch2mlir.conversion.emitter import joint_sizes as joint_sizes
from torch2mlir.conversion.expressions import Expr, Words, expressions
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import Dim, KnownSize, Sizes
from torch2mlir.dialects.weights import retyped_literal

if TYPE_CHECKING:
    from torch2mlir.conversion.indexing import Positions
    from torch2mlir.conversion.pooling import Window


class Lowering(Emitter, ABC):
    """The vocabulary that all dialects share, on top of what emits ops."""

    words: Words
    branch_ops: ClassVar[tuple[type[Operation], type[Operation]]]
    """The op that has a region for true and one for false, and what ends them."""
    constant_op: ClassVar[type[Operation]]
    """The op that has a literal as its ``value``."""
    loop_ops: ClassVar[tuple[type[Operation], type[Operation]]]
    """The op that has a region for its condition and one for its body, and what ends them."""

    def learn_size(self, size: KnownSize, count: Tensor) -> None:
        """Makes an element of a tensor the size that a symbol stands for: the result's size depends on data.

        What has been emitted is finished, and the entry goes on behind it: there the size can be computed with.

        Args:
            size: the symbol; a size that is known already says nothing new.
            count: rank 0, i64.
        """
        if not isinstance(size, Dim) or self.symbols.keys() >= set(size.symbols()):
            return
        if self.depth:
            self.fail("in a branch or loop, a size cannot depend on the elements of a tensor")
        value = self.size_from_tensor(count)
        self.finished += [*self.entry, *self.body]
        self.entry, self.body = [], []
        self.symbols[size.name] = value
        self.from_data.add(size.name)

    def depends_on_data(self, size: KnownSize) -> bool:
        """Whether elements of a tensor decide a size: no call tells whether it is 0."""
        return isinstance(size, Dim) and not self.from_data.isdisjoint(size.symbols())

    # shapes and types

    def element(self, value: Number, dtype: Attribute) -> int | float | tuple[float, float]:
        """A number as an element of a literal, converted as PyTorch converts it: integers wrap around.

        Raises:
            UnsupportedOpError: it is infinite or NaN, and the element an integer.
        """
        if isinstance(dtype, ComplexType):
            number, part = complex(value), dtype.element_type
            return element_types.in_range(number.real, part), element_types.in_range(
                number.imag, part
            )
        assert not isinstance(value, complex)
        if element_types.is_float(dtype):
            return element_types.in_range(float(value), dtype)
        if element_types.is_bool(dtype):
            return int(bool(value))
        if not math.isfinite(value):
            self.fail(f"{value} is no integer")
        width = element_types.bit_width(dtype)
        wrapped = int(value) & ((1 << width) - 1)
        signed = not (self.keep_unsigned and element_types.is_unsigned(dtype))
        return wrapped - (1 << width) if signed and wrapped >> (width - 1) else wrapped

    def static(self, value: object, what: str) -> int:
        """An int argument that must be known when compiling."""
        if not isinstance(value, int):
            self.fail(f"{what} must be a constant")
        return value

    def operand(self, value: Operand, dtype: Attribute) -> Tensor:
        """An operand as a tensor of an element type: tensors are cast, numbers become rank-0 tensors."""
        if isinstance(value, Tensor):
            return value if value.dtype == dtype else self.cast(value, dtype)
        return self.splat(value, (), dtype)

    # the vocabulary: each dialect has its own words for these

    def scalar_type(self, type: Attribute) -> Attribute:
        """What a ``!torch.int``, ``!torch.float`` or ``!torch.bool`` becomes at function boundaries, of rank 0."""
        return self.tensor_type((), DTYPES[type])

    def branch_condition(self, condition: Tensor) -> SSAValue:
        """A boolean of rank 0 as ``branch_ops`` take it."""
        return condition.value

    @abstractmethod
    def symbol_from_argument(self, argument: SSAValue, dim: int) -> SSAValue:
        """The size of a function argument's dimension, as the dialect computes with sizes; emitted at the entry."""

    def size(self, size: KnownSize) -> SSAValue:
        """A size as the dialect computes with sizes; emitted at the entry, once."""
        if isinstance(size, int):
            return self.size_constant(size)
        if size.op == "symbol":
            if size.name not in self.symbols:
                self.fail(f"no argument tells the value of the size '{size.name}'")
            return self.symbols[size.name]
        return self.in_entry(lambda: self._computed_size(size), ("size", size))

    def _computed_size(self, size: Dim) -> SSAValue:
        result, *others = [self.size(operand) for operand in dims.operands_to_compute(size)]
        for operand in others:
            result = self.size_op(size.op, result, operand, is_natural(size))
        return result

    @abstractmethod
    def size_constant(self, size: int) -> SSAValue:
        """A number as the dialect computes with sizes; emitted at the entry, once."""

    @abstractmethod
    def size_op(self, word: str, x: SSAValue, y: SSAValue, natural: bool) -> SSAValue:
        """Two sizes combined: ``add mul max min floordiv mod``, the last two as Python's, of a positive divisor.

        Args:
            word: what is computed.
            x: a size.
            y: another one.
            natural: whether no number on the way is negative.
        """

    @abstractmethod
    def size_from_tensor(self, count: Tensor) -> SSAValue:
        """An i64 of rank 0 as the dialect computes with sizes."""

    @abstractmethod
    def size_as_scalar(self, size: KnownSize) -> SSAValue:
        """A size as a ``!torch.int`` value (see :meth:`scalar_type`)."""

    def literal(self, value: Attribute, sizes: tuple[int, ...], dtype: Attribute) -> Tensor:
        """A tensor literal (dense or weight attribute)."""
        type = self.tensor_type(sizes, dtype)
        return Tensor(self.constant_value(retyped_literal(value, type), type), sizes, dtype)

    def constant_value(self, literal: Attribute, type: Attribute) -> SSAValue:
        """A literal of a builtin type as a value; one of each is at the entry."""
        return self.at_entry(
            ("literal", literal),
            lambda: self.constant_op.create(result_types=[type], properties={"value": literal}),
        )

    @abstractmethod
    def splat(self, value: Number | Dim | Scalar, sizes: Sizes, dtype: Attribute) -> Tensor:
        """A tensor with one value everywhere, converted to ``dtype`` as PyTorch converts numbers."""

    @abstractmethod
    def cast(self, x: Tensor, dtype: Attribute) -> Tensor:
        """Converts elements as ``Tensor.to`` does: float to int truncates, anything to bool is ``!= 0``."""

    @staticmethod
    def one_each(
        computed: Attribute | Sequence[Attribute], operands: Sequence[object]
    ) -> Sequence[Attribute]:
        """An element type for each operand."""
        return [computed] * len(operands) if isinstance(computed, Attribute) else computed

    def formula(
        self,
        code: Callable[..., Expr],
        *operands: Operand,
        computed: Attribute | Sequence[Attribute],
        result: ResultType | None = None,
    ) -> Tensor:
        """A formula on operands of the sizes of the op's result (see :meth:`spread`), and on numbers.

        Args:
            code: from an expression for each operand to that of the result, which becomes of the result's type.
            operands: tensors and numbers.
            computed: the element type that operands are converted to before, one for all or one for each.
            result: sizes and element type of the result, if they are not the op's own.
        """
        types, result = self.one_each(computed, operands), result or self.out
        values = [self.term(x, type, result) for x, type in zip(operands, types, strict=True)]
        found = code(*expressions(self.words, values, operands)).value
        return self.broadcast_to(self.cast(found, result.dtype), result.sizes)

    def term(self, operand: Operand, dtype: Attribute, result: ResultType) -> Tensor:
        """An operand as a formula computes with it, whose result has these sizes."""
        return self.operand(operand, dtype)

    def computed_with(self, word: str, dtype: Attribute, *operands: Operand) -> Attribute:
        """As :meth:`computed_in`, and wide enough for the numbers among the operands, also those in tensors.

        PyTorch multiplies half floats by a number in f32: ``x * 1e5`` of f16 may be finite.
        """
        computed = self.computed_in(word, dtype)
        if element_types.widened(computed) == computed:
            return computed

        def fits(operand: Operand) -> bool:
            if isinstance(operand, int | float):
                return element_types.rounded(operand, computed) == operand
            return isinstance(operand, Tensor | Scalar) and operand.dtype == dtype

        return computed if all(map(fits, operands)) else element_types.widened(computed)

    def computed_in(self, word: str, dtype: Attribute) -> Attribute:
        """The type that a word, or its formula, is computed in to give elements of a type.

        Formulas round more than once, so half floats are computed in f32.
        """
        return dtype if self.words.has(word, dtype) else element_types.widened(dtype)

    @abstractmethod
    def bits(self, x: Tensor, dtype: Attribute) -> Tensor:
        """The bits of elements as those of another type of the same width; at least one of the two is of floats."""

    @abstractmethod
    def compare(self, predicate: str, x: Tensor, y: Tensor | Number) -> Tensor:
        """``eq ne lt le gt ge`` of tensors of one size and element type, booleans; with a NaN only ``ne`` holds."""

    @abstractmethod
    def select(
        self, condition: Tensor, on_true: Tensor | Number, on_false: Tensor | Number
    ) -> Tensor:
        """``on_true`` where the condition holds, else ``on_false``; at least one of them is no number."""

    def clamp(self, x: Tensor, low: float, high: float) -> Tensor | None:
        """Elements held between two numbers in order, NaN staying NaN; None without an op for it, as by default."""
        return None

    # of complex numbers: by default there are none

    def refuse_complex(self) -> NoReturn:
        """Stops with an error: the dialect has no complex numbers."""
        self.fail(
            "the dialect has no complex numbers",
            "compute with the real and the imaginary part in tensors of their own, or choose another dialect",
        )

    def complex(self, real: Tensor, imaginary: Tensor | None, dtype: Attribute) -> Tensor:
        """Complex numbers of parts of one size, which are rounded as the dtype is; no parts are zero."""
        self.refuse_complex()

    def real(self, x: Tensor) -> Tensor:
        """The real parts."""
        self.refuse_complex()

    def imag(self, x: Tensor) -> Tensor:
        """The imaginary parts."""
        self.refuse_complex()

    # moving elements

    @abstractmethod
    def broadcast_to(self, x: Tensor, sizes: Sizes) -> Tensor:
        """Right-aligned broadcasting; a size of 1 that faces another size is repeated."""

    def spread(self, x: Tensor, sizes: Sizes) -> Tensor:
        """An operand of elementwise ops under the sizes of their result: broadcast, unless the dialect does better.

        That is a view where an op reads its operands through maps, or the rank alone where ops repeat what has size 1.
        """
        return self.broadcast_to(x, sizes)

    @abstractmethod
    def reshape(self, x: Tensor, sizes: Sizes) -> Tensor:
        """The same elements in row-major order under other sizes."""

    @abstractmethod
    def transpose(self, x: Tensor, permutation: Sequence[int]) -> Tensor:
        """``result.sizes[i] == x.sizes[permutation[i]]``."""

    def slice(self, x: Tensor, starts: Sizes, sizes: Sizes, steps: Sequence[int]) -> Tensor:
        """``sizes[i]`` elements from ``starts[i]`` on, every ``steps[i]``-th."""
        if x.sizes == tuple(sizes) and all(step == 1 for step in steps):
            return x
        return self.sliced(x, starts, sizes, steps)

    @abstractmethod
    def sliced(self, x: Tensor, starts: Sizes, sizes: Sizes, steps: Sequence[int]) -> Tensor:
        """A :meth:`slice` that is not the whole tensor."""

    def section(
        self, x: Tensor, axis: int, start: KnownSize, size: KnownSize, step: int = 1
    ) -> Tensor:
        """So many elements of one dimension, each a step behind the one before."""
        starts, sizes, steps = list[KnownSize]([0] * x.rank), list(x.sizes), [1] * x.rank
        starts[axis], sizes[axis], steps[axis] = start, size, step
        return self.slice(x, starts, sizes, steps)

    def concatenate(self, xs: Sequence[Tensor], dim: int) -> Tensor:
        """Joins tensors along a dimension; those that have nothing there are left out."""
        xs = [x for x in xs if x.sizes[dim] != 0] or xs[:1]
        if len(xs) == 1:
            return xs[0]
        sizes = list(xs[0].sizes)
        sizes[dim] = dims.add(*(x.sizes[dim] for x in xs))
        return self.joined(xs, dim, sizes)

    @abstractmethod
    def joined(self, xs: Sequence[Tensor], dim: int, sizes: Sizes) -> Tensor:
        """Several tensors, joined along a dimension to one of these sizes."""

    def pad(self, x: Tensor, low: Sizes, high: Sizes, value: Number) -> Tensor:
        """Adds a constant around; no negative amounts."""
        if all(amount == 0 for amount in (*low, *high)):
            return x
        return self.padded(x, low, high, value)

    @abstractmethod
    def padded(self, x: Tensor, low: Sizes, high: Sizes, value: Number) -> Tensor:
        """A :meth:`pad` of some amount."""

    @abstractmethod
    def reverse(self, x: Tensor, over: Sequence[int]) -> Tensor:
        """The elements in opposite order along dimensions."""

    def repeat(self, x: Tensor, counts: Sizes) -> Tensor:
        """The tensor ``counts[i]`` times along dimension ``i``; more counts than dimensions add leading ones.

        A repeated dimension is broadcast from one before it, and joined with that; one of size 1 is broadcast itself.
        """
        have = (*[1] * (len(counts) - x.rank), *x.sizes)
        split, repeated = list[KnownSize](), list[KnownSize]()
        for count, size in zip(counts, have, strict=True):
            joined = size == 1 or count == 1
            split += [size] if joined else [1, size]
            repeated += [dims.mul(count, size)] if joined else [count, size]
        sizes = [dims.mul(count, size) for count, size in zip(counts, have, strict=True)]
        return self.reshape(self.broadcast_to(self.reshape(x, split), repeated), sizes)

    def sized(self, x: Tensor, sizes: Sizes) -> Tensor:
        """The same tensor under other expressions for its sizes."""
        return Tensor(x.value, tuple(sizes), x.dtype)

    def reduce(
        self,
        word: str,
        x: Tensor,
        over: Sequence[int],
        computed: Attribute,
        sizes: Sizes | None = None,
    ) -> Tensor:
        """The elements along dimensions combined by a word: ``add mul max min or and``; a NaN is an extremum.

        Args:
            word: starts from its neutral element, so that of no elements that is left.
            x: any tensor.
            over: the dimensions, sorted; without any the elements stay.
            computed: what elements are converted to before, and the type of the result.
            sizes: of the result, the dimensions left out or with size 1; the op's own by default.
        """
        result = ResultType(tuple(self.out.sizes if sizes is None else sizes), computed)
        return self.combined(word, x, over, result)

    @abstractmethod
    def combined(self, word: str, x: Tensor, over: Sequence[int], result: ResultType) -> Tensor:
        """See :meth:`reduce`."""

    @abstractmethod
    def extremum(self, word: str, x: Tensor, axis: int, sizes: Sizes) -> list[Tensor]:
        """The ``max`` or ``min`` along a dimension and its first position; the first NaN is both."""

    @abstractmethod
    def running_sum(self, x: Tensor, axis: int) -> Tensor:
        """``result[i] = x[0] + .. + x[i]`` along a dimension, of elements of a tensor that has some."""

    @abstractmethod
    def matmul(self, x: Tensor, y: Tensor) -> Tensor:
        """``x @ y`` of matrices or of batches of them, in the type that is added up in: f32 for half floats."""

    @abstractmethod
    def project(self, x: Tensor, weight: Tensor) -> Tensor:
        """``x @ weight.T`` along the last dimension of ``x``, as :meth:`matmul`; a weight of rank 1 is a single row."""

    @abstractmethod
    def pool(self, word: str, x: Tensor, window: Window) -> Tensor:
        """The elements of each window over ``[n, c, h, w]`` combined: ``max``, NaN if there is one, or ``add``."""

    def average_pool(
        self, x: Tensor, window: Window, with_padding: bool, divisor: int | None
    ) -> Tensor | None:
        """The mean of each window over ``[n, c, h, w]``, or its sum by a divisor; None where there is no word for it.

        The elements counted are those of the plane, or also those of its padding, but not what ``ceil_mode`` adds.
        """
        return None

    @abstractmethod
    def max_pool_places(self, x: Tensor, window: Window) -> list[Tensor]:
        """The maxima and where in the plane each first is, i64; of NaNs the last, and never in the padding."""

    @abstractmethod
    def take(self, x: Tensor, axis: int, index: Tensor) -> Tensor:
        """``x``, which has elements, with a dimension replaced by those of an index; its positions are not negative."""

    @abstractmethod
    def take_elements(self, x: Tensor, axis: int, index: Tensor) -> Tensor:
        """``x[i, index[i, j, k], k]`` for axis 1; the index, of the same rank, may reach less far in the others."""

    @abstractmethod
    def take_at(self, x: Tensor, at: Positions) -> Tensor:
        """``x`` with the indexed dimensions replaced by those of the indices."""

    @abstractmethod
    def scatter(
        self, x: Tensor, axis: int, index: Tensor, source: Operand, word: str | None
    ) -> Tensor:
        """``x`` with a number, or elements of the index's sizes, written where :meth:`take_elements` would read.

        A word (``add mul max min``) combines them with what is there.
        """

    @abstractmethod
    def put(self, x: Tensor, at: Positions, values: Tensor, word: str | None) -> Tensor:
        """``x`` with values, which broadcast, written where :meth:`take_at` would read, or combined by ``add``."""

    @abstractmethod
    def iota(self, sizes: Sizes, dim: int, dtype: Attribute) -> Tensor:
        """``0, 1, 2, ..`` along a dimension, repeated along the others."""
