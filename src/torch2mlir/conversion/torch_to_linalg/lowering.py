"""Linalg-on-Tensors' words for the shared vocabulary.

Sizes are ``index`` values, computed at the function's entry. Elementwise code is one linalg.generic per op of the
program: broadcasting is in its indexing maps, conversions and numbers are in its body. Destinations (tensor.empty) are
at the entry, one for each type and size; fills are where they are used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial

from xdsl.dialects import scf, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    ArrayAttr,
    ComplexType,
    DenseArrayBase,
    IntegerAttr,
    TensorType,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import widened
from torch2mlir.conversion.expressions import Expr, expressions
from torch2mlir.conversion.lowering import (
    Number,
    Operand,
    ResultType,
    Scalar,
    Tensor,
    dtype_of,
)
from torch2mlir.conversion.registry import lowers as register
from torch2mlir.conversion.tensor_dialect import INDEX, TensorDialect
from torch2mlir.conversion.torch_to_linalg.scalars import Scalars
from torch2mlir.conversion.torch_to_linalg.words import LinalgWords
from torch2mlir.dialects import arith_ext, linalg
from torch2mlir.dialects.linalg.structured import SEGMENTS, segment_sizes
from torch2mlir.dialects.tensors import element_of, i64_array
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import Dim, KnownSize, Sizes, is_static
from torch2mlir.dialects.weights import dense_elements

lowers = partial(register, "linalg-on-tensors")

Subscript = int | None | AffineExpr
"""What indexes a dimension of an operand: a loop, always the first element, or an expression of loops."""
Access = tuple[Tensor, Sequence[Subscript]]
"""An operand of a loop nest and how it is indexed."""
_Key = tuple[SSAValue, tuple[Subscript, ...]]
ScalarCode = Callable[..., Scalar | Sequence[Scalar]]
"""``build(s, *elements)``: emits scalar ops, returns what the nest yields."""


@lru_cache(maxsize=4096)
def _indexing_map(loops: int, subscripts: tuple[Subscript, ...]) -> AffineMapAttr:
    expressions = [
        AffineConstantExpr(0) if s is None else AffineDimExpr(s) if isinstance(s, int) else s
        for s in subscripts
    ]
    return AffineMapAttr(AffineMap(loops, 0, tuple(expressions)))


@lru_cache(maxsize=4096)
def _indexing_maps(
    loops: int, subscripts: tuple[tuple[Subscript, ...], ...]
) -> ArrayAttr[AffineMapAttr]:
    return ArrayAttr([_indexing_map(loops, s) for s in subscripts])


@lru_cache(maxsize=256)
def _iterators(kinds: str) -> Attribute:
    return ArrayAttr([linalg.REDUCTION if kind == "r" else linalg.PARALLEL for kind in kinds])


def broadcast_subscripts(sizes: Sizes, result: Sizes, first: int = 0) -> list[int | None]:
    """How a nest over the result's dimensions, the loops from ``first`` on, reads an operand broadcast to them."""
    offset = len(result) - len(sizes)
    return [
        None if size == 1 and result[offset + i] != 1 else first + offset + i
        for i, size in enumerate(sizes)
    ]


class Spread(Tensor):
    """A tensor as if it were repeated to other sizes: loop nests read it through their maps, for nothing.

    Who asks for its value gets a repeated tensor.
    """

    def __init__(self, lower: LinalgLowering, source: Tensor, sizes: Sizes) -> None:
        vars(self).update(
            lower=lower, source=source, sizes=tuple(sizes), dtype=source.dtype, known=None
        )

    lower: LinalgLowering
    source: Tensor
    known: SSAValue | None

    @property
    def value(self) -> SSAValue:
        """The repeated tensor."""
        if self.known is None:
            vars(self)["known"] = self.lower.broadcast_to(self.source, self.sizes).value
        assert self.known is not None
        return self.known


class LinalgLowering(TensorDialect):
    """Builds linalg, tensor, arith, math and complex ops."""

    target = "linalg-on-tensors"
    branch_ops = (scf.IfOp, scf.YieldOp)
    constant_op = arith_ext.ConstantOp

    def __init__(self) -> None:
        super().__init__()
        self.scalars = Scalars(self)
        self.words = LinalgWords(self.scalars)

    # sizes

    def index(self, size: KnownSize | Scalar) -> SSAValue:
        return self.scalars.cast(size, INDEX).value if isinstance(size, Scalar) else self.size(size)

    def branch_condition(self, condition: Tensor) -> SSAValue:
        return self.scalars.extract(condition, []).value

    def size_from_tensor(self, count: Tensor) -> SSAValue:
        return self.scalars.cast(self.scalars.extract(count, []), INDEX).value

    def size_as_scalar(self, size: KnownSize) -> SSAValue:
        if isinstance(size, int):
            return self.splat(size, (), element_types.si64).value
        number = self.scalars.cast(Scalar(self.size(size), INDEX), element_types.si64)
        type = TensorType(i64, [])
        return self.emit(tensor.FromElementsOp, [number.value], [type]).results[0]

    # constants and destinations

    def splat(self, value: Number | Dim | Scalar, sizes: Sizes, dtype: Attribute) -> Tensor:
        if isinstance(value, Dim | Scalar) or not is_static(sizes):
            return self.full(value, sizes, dtype)
        type = self.tensor_type(sizes, dtype)
        literal = dense_elements(type, [self.element(value, dtype)])
        return Tensor(self.constant_value(literal, type), tuple(sizes), dtype)

    def full(self, value: Number | Dim | Scalar, sizes: Sizes, dtype: Attribute) -> Tensor:
        """A tensor filled with one value; a destination to compute into."""
        if isinstance(value, Scalar) and isinstance(value.value.type, TensorType):
            source = Tensor(value.value, (), value.dtype)
            return self.broadcast_to(self.cast(source, dtype), sizes)
        init = self.empty(sizes, dtype)
        operands = [self.number(value, dtype).value, init.value]
        return self.op(linalg.FillOp, operands, sizes, dtype, {SEGMENTS: segment_sizes(1, 1)})

    def number(self, value: Number | Dim | Scalar, dtype: Attribute) -> Scalar:
        """A number as a scalar value of an element type, made at the entry."""
        if isinstance(value, Dim):
            index = Scalar(self.size(value), INDEX)
            build = lambda: self.scalars.cast(index, dtype).value  # noqa: E731
            return Scalar(self.in_entry(build, ("number", value, dtype)), dtype)
        if isinstance(value, Scalar):
            return self.scalars.cast(value, dtype)
        return self.scalars.constant(value, dtype)

    # loop nests

    def block(self, types: Sequence[Attribute], build: Callable[..., object]) -> Block:
        """A block of what ``build(*arguments)`` emits."""
        block = Block(arg_types=types)
        outer, self.body = self.body, []
        try:
            build(*block.args)
            block.add_ops(self.body)
        finally:
            self.body = outer
        return block

    def nest(
        self, kinds: str, inputs: Sequence[Access], outputs: Sequence[Access], build: ScalarCode
    ) -> list[Tensor]:
        """A linalg.generic; ``build`` gets an element of each input and output.

        Args:
            kinds: for each loop ``p`` (parallel) or ``r`` (reduction).
            inputs: what is read.
            outputs: what is computed into.
            build: emits the body.
        """
        accesses: dict[_Key, int] = {}
        places = list[int]()
        for x, subscripts in inputs:
            places.append(accesses.setdefault((x.value, tuple(subscripts)), len(accesses)))
        keys = [*accesses, *((x.value, tuple(subscripts)) for x, subscripts in outputs)]

        def body(*elements: SSAValue) -> None:
            read = [
                Scalar(elements[place], x.dtype)
                for place, (x, _) in zip(places, inputs, strict=True)
            ]
            written = map(Scalar, elements[len(accesses) :], dtypes)
            results = build(self.scalars, *read, *written)
            results = [results] if isinstance(results, Scalar) else results
            self.emit(linalg.YieldOp, [result.value for result in results], [])

        operands, subscripts_of = zip(*keys, strict=True)
        dtypes = [x.dtype for x, _ in outputs]
        properties = {
            "indexing_maps": _indexing_maps(len(kinds), subscripts_of),
            "iterator_types": _iterators(kinds),
            SEGMENTS: segment_sizes(len(accesses), len(outputs)),
        }
        block = self.block([element_of(value) for value in operands], body)
        types = [value.type for value in operands[len(accesses) :]]
        op = self.emit(linalg.GenericOp, operands, types, properties, [Region(block)])
        return [
            Tensor(result, x.sizes, x.dtype)
            for result, (x, _) in zip(op.results, outputs, strict=True)
        ]

    def compute(
        self,
        build: ScalarCode,
        accesses: Sequence[Access],
        sizes: Sizes,
        dtype: Attribute,
    ) -> Tensor:
        """A tensor whose elements are each computed on their own, from elements of operands at given places."""
        rank = len(sizes)

        def body(s: Scalars, *elements: Scalar) -> Scalar:
            result = build(s, *elements[:-1])
            return s.cast(result, dtype)  # type: ignore[arg-type]

        output = (self.empty(sizes, dtype), range(rank))
        return self.nest("p" * rank, accesses, [output], body)[0]

    def elementwise(
        self,
        build: ScalarCode,
        *operands: Operand,
        computed: Attribute | Sequence[Attribute] | None = None,
        dtype: Attribute | None = None,
        sizes: Sizes | None = None,
    ) -> Tensor:
        """``build(s, *elements)`` for corresponding elements of operands.

        Args:
            build: emits the scalar code; its result is converted to ``dtype``.
            operands: tensors, spread to the result's sizes (see :meth:`spread`), and numbers.
            computed: what elements are converted to first, one type for all or one for each; by default tensors keep
                their types, and numbers, which need one, are of the result's.
            dtype: element type of the result; the op's own by default.
            sizes: sizes of the result; the op's own by default.
        """
        sizes = self.out.sizes if sizes is None else sizes
        dtype = self.out.dtype if dtype is None else dtype
        types = [None] * len(operands) if computed is None else self.one_each(computed, operands)
        known, accesses = list[Scalar | None](), list[Access]()
        for operand, type in zip(operands, types, strict=True):
            if isinstance(operand, Scalar) and isinstance(operand.value.type, TensorType):
                operand = Tensor(operand.value, (), operand.dtype)  # a number known at run time
            if not isinstance(operand, Tensor | Scalar):
                operand = self.number(operand, type or dtype)
            known.append(operand if isinstance(operand, Scalar) else None)
            if isinstance(operand, Tensor):
                accesses.append(self._element_by_element(self.spread(operand, sizes)))

        def body(s: Scalars, *elements: Scalar) -> Scalar | Sequence[Scalar]:
            read = iter(elements)
            scalars = [next(read) if number is None else number for number in known]
            return build(s, *(s.cast(x, t) if t else x for x, t in zip(scalars, types)))

        return self.compute(body, accesses, sizes, dtype)

    def _element_by_element(self, x: Tensor) -> Access:
        """How a nest over the result's dimensions reads an operand; a number has none."""
        if isinstance(x, Spread):
            return x.source, broadcast_subscripts(x.source.sizes, x.sizes)
        return x, range(x.rank)

    def formula(
        self,
        code: Callable[..., Expr],
        *operands: Operand,
        computed: Attribute | Sequence[Attribute],
        result: ResultType | None = None,
    ) -> Tensor:
        def build(s: Scalars, *elements: Scalar) -> Scalar:
            found: Scalar = code(*expressions(self.words, elements, operands)).value
            return found

        dtype, sizes = (result or self.out).dtype, (result or self.out).sizes
        return self.elementwise(build, *operands, computed=computed, dtype=dtype, sizes=sizes)

    def computed_in(self, word: str, dtype: Attribute) -> Attribute:
        return widened(dtype)

    def compare(self, predicate: str, x: Tensor, y: Tensor | Number) -> Tensor:
        result = ResultType(x.sizes, i1)
        operands, computed = (x, self.operand(y, x.dtype)), x.dtype
        return self.formula(
            lambda a, b: a.compare(predicate, b), *operands, computed=computed, result=result
        )

    def select(
        self, condition: Tensor, on_true: Tensor | Number, on_false: Tensor | Number
    ) -> Tensor:
        dtype = dtype_of(on_true, on_false)
        branches = [self.operand(each, dtype) for each in (on_true, on_false)]
        return self.formula(
            lambda flag, a, b: flag.where(a, b),
            *(condition, *branches),
            computed=(i1, dtype, dtype),
            result=ResultType(condition.sizes, dtype),
        )

    def complex(self, real: Tensor, imaginary: Tensor | None, dtype: Attribute) -> Tensor:
        assert isinstance(dtype, ComplexType)

        def build(s: Scalars, real: Scalar, imaginary: Scalar) -> Scalar:
            return s.create_complex(real, imaginary, dtype)

        parts = (real, 0 if imaginary is None else imaginary)
        return self.elementwise(build, *parts, computed=dtype.element_type)

    def real(self, x: Tensor) -> Tensor:
        return self.elementwise(lambda s, element: s.real(element), x)

    def imag(self, x: Tensor) -> Tensor:
        return self.elementwise(lambda s, element: s.imaginary(element), x)

    def bits(self, x: Tensor, dtype: Attribute) -> Tensor:
        return self.elementwise(lambda s, element: s.bits(element, dtype), x, computed=x.dtype)

    # the rest of the shared vocabulary

    def cast(self, x: Tensor, dtype: Attribute) -> Tensor:
        if x.dtype == dtype:
            return x
        if self.element_type(x.dtype) == self.element_type(dtype):
            return Tensor(x.value, x.sizes, dtype)
        return self.elementwise(lambda s, e: s.cast(e, dtype), x, dtype=dtype, sizes=x.sizes)

    def broadcast_to(self, x: Tensor, sizes: Sizes) -> Tensor:
        if x.sizes == tuple(sizes):
            return x
        subscripts = broadcast_subscripts(x.sizes, sizes)
        if None in subscripts:
            return self.compute(lambda s, e: e, [(x, subscripts)], sizes, x.dtype)
        added = i64_array(range(len(sizes) - x.rank))
        operands = [x, self.empty(sizes, x.dtype)]
        return self.op(linalg.BroadcastOp, operands, sizes, x.dtype, {"dimensions": added})

    def spread(self, x: Tensor, sizes: Sizes) -> Tensor:
        return x if x.sizes == tuple(sizes) else Spread(self, x, sizes)

    def transpose(self, x: Tensor, permutation: Sequence[int]) -> Tensor:
        if list(permutation) == list(range(x.rank)):
            return x
        sizes = [x.sizes[p] for p in permutation]
        operands = [x, self.empty(sizes, x.dtype)]
        properties = {"permutation": i64_array(permutation)}
        return self.op(linalg.TransposeOp, operands, sizes, x.dtype, properties)

    def reshape(self, x: Tensor, sizes: Sizes) -> Tensor:
        if x.sizes == tuple(sizes):
            return x
        if 0 in x.sizes or 0 in sizes:
            return self.empty(sizes, x.dtype)
        return self.regrouped(x, sizes)

    def sized(self, x: Tensor, sizes: Sizes) -> Tensor:
        value = self.tensor_cast(x.value, self.tensor_type(sizes, x.dtype))
        return Tensor(value, tuple(sizes), x.dtype)

    def sliced(self, x: Tensor, starts: Sizes, sizes: Sizes, steps: Sequence[int]) -> Tensor:
        if 0 in sizes:  # IREE takes a start at the end of a tensor for one outside
            return self.empty(sizes, x.dtype)
        return self.extract_slice(x, starts, sizes, steps, sizes)

    def joined(self, xs: Sequence[Tensor], dim: int, sizes: Sizes) -> Tensor:
        joined = [x.sizes[dim] for x in xs]
        if not is_static(joined) and isinstance(sizes[dim], int):
            return self._put_together(xs, dim, sizes)
        shape = [size if isinstance(size, int) else DYNAMIC_INDEX for size in sizes]
        if not is_static(joined):
            shape[dim] = DYNAMIC_INDEX
        type = TensorType(self.element_type(xs[0].dtype), shape)
        values = [x.value for x in xs]
        op = self.emit(tensor.ConcatOp, values, [type], {"dim": IntegerAttr(dim, i64)})
        wanted = self.tensor_type(sizes, xs[0].dtype)
        return Tensor(self.tensor_cast(op.results[0], wanted), tuple(sizes), xs[0].dtype)

    def _put_together(self, xs: Sequence[Tensor], dim: int, sizes: Sizes) -> Tensor:
        """As ``joined``, where only the whole has a known size: IREE casts no such ``tensor.concat``."""
        whole = self.empty(sizes, xs[0].dtype)
        start: list[KnownSize] = [0] * len(sizes)
        for x in xs:
            whole = self.insert_slice(x, whole, start, x.sizes)
            start[dim] = dims.add(start[dim], x.sizes[dim])
        return whole

    def padded(self, x: Tensor, low: Sizes, high: Sizes, value: Number) -> Tensor:
        sizes = [dims.add(*parts) for parts in zip(low, x.sizes, high, strict=True)]
        if isinstance(x.dtype, ComplexType):  # IREE's compiler dies of a tensor.pad of them
            return self.insert_slice(x, self.full(value, sizes, x.dtype), low, x.sizes)
        fill = self.number(value, x.dtype).value
        block = self.block([INDEX] * x.rank, lambda *_: self.emit(tensor.YieldOp, [fill], []))
        static_low, below = self.mixed(low)
        static_high, above = self.mixed(high)
        properties = {
            "static_low": static_low,
            "static_high": static_high,
            SEGMENTS: DenseArrayBase.from_list(i32, [1, len(below), len(above)]),
        }
        operands = [x, *below, *above]
        return self.op(tensor.PadOp, operands, sizes, x.dtype, properties, [Region(block)])

    def reverse(self, x: Tensor, over: Sequence[int]) -> Tensor:
        if not over:
            return x

        def build(s: Scalars) -> Scalar:
            places = [s.index(d) for d in range(x.rank)]
            for d in over:
                places[d] = s("sub", self.number(dims.sub(x.sizes[d], 1), INDEX), places[d])
            return s.extract(x, places)

        return self.compute(build, [], x.sizes, x.dtype)

    def iota(self, sizes: Sizes, dim: int, dtype: Attribute) -> Tensor:
        return self.compute(lambda s: s.cast(s.index(dim), dtype), [], sizes, dtype)
