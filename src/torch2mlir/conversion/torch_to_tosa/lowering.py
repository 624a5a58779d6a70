"""TOSA's words for the shared vocabulary; where TOSA has none, see :mod:`.dynamic_shapes`.

Element types. TOSA 1.0 with its extensions EXT-INT64 and EXT-BF16 computes in f16, bf16, f32, i32, i64 and i1, and that
is what IREE and torch-mlir-opt accept:

- narrower and unsigned integers are widened, computed and narrowed again; integers wrap around;
- f64 can be moved, not computed with: such an op is refused with a hint;
- complex numbers have become tensors of their parts before (``torch-split-complex-ops``), at the boundary too;
- i64 stays i64, at the function's boundary and inside. It meets floats and indices through i32 (see :mod:`.casts`).

Layout. TOSA's convolutions and pools are channels last, PyTorch's are channels first. A value that exists in both
layouts is remembered, elementwise ops and reductions of such values are computed channels last, and transposes that
cancel are not emitted. A transpose without users disappears with the other dead code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from xdsl.dialects.builtin import (
    DenseArrayBase,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import si32, widened
from torch2mlir.conversion.expressions import Expr
from torch2mlir.conversion.lowering import (
    Number,
    Operand,
    ResultType,
    Scalar,
    Tensor,
    joint_sizes,
)
from torch2mlir.conversion.registry import lowers as register
from torch2mlir.conversion.tensor_dialect import number_attribute
from torch2mlir.conversion.torch_to_tosa.casts import cast, computed_dtype, si8
from torch2mlir.conversion.torch_to_tosa.dynamic_shapes import DynamicShapes
from torch2mlir.conversion.torch_to_tosa.layouts import (
    channels_last_permutation,
    only_ones_move,
    slice_is_constant,
)
from torch2mlir.conversion.torch_to_tosa.words import COMPARISONS, IN_HALVES, OF_NUMBERS, TosaWords
from torch2mlir.dialects import tosa
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import Dim, KnownSize, Sizes, is_static
from torch2mlir.dialects.weights import dense_elements, retyped_literal

lowers = partial(register, "tosa")

_BITWISE = {tosa.BitwiseAndOp, tosa.BitwiseOrOp, tosa.BitwiseXorOp, tosa.BitwiseNotOp}
_LOGICAL = {tosa.LogicalAndOp, tosa.LogicalNotOp, tosa.LogicalOrOp, tosa.LogicalXorOp}
_ANY_INTEGER = {tosa.SelectOp, tosa.CastOp} | _BITWISE | _LOGICAL
"""Elementwise ops that take integers of every width as they are."""
_MOVEMENT = {tosa.ConcatOp, tosa.PadOp, tosa.ReshapeOp, tosa.SliceOp, tosa.TransposeOp}
"""Ops that IREE takes with f64 elements too."""


class TosaLowering(DynamicShapes):
    """Builds TOSA."""

    target = "tosa"
    branch_ops = (tosa.CondIfOp, tosa.YieldOp)
    loop_ops = (tosa.WhileLoopOp, tosa.YieldOp)

    def __init__(self) -> None:
        super().__init__()
        self.words = TosaWords(self)
        self._last: dict[SSAValue, Tensor] = {}
        self._transposed: dict[SSAValue, tuple[Tensor, tuple[int, ...]]] = {}
        self._reshaped: dict[SSAValue, Tensor] = {}
        self.narrowed: dict[SSAValue, Tensor] = {}
        """i64 values that were widened, and what they were widened from."""
        self.caches += [self._last, self._transposed, self._reshaped, self.narrowed]

    def op(
        self,
        op_class: type[Operation],
        operands: Sequence[Tensor | SSAValue],
        sizes: Sizes,
        dtype: Attribute,
        properties: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
    ) -> Tensor:
        if op_class.name.startswith("tosa."):
            for type in (dtype, *(o.dtype for o in operands if isinstance(o, Tensor))):
                self._check_element(op_class, type)
            if 0 in sizes:
                return self.empty(sizes, dtype)
        return super().op(op_class, operands, sizes, dtype, properties, regions)

    def _check_element(self, op_class: type[Operation], dtype: Attribute) -> None:
        if element_types.is_complex(dtype):
            self.refuse_complex()
        if isinstance(dtype, Float64Type) and op_class not in _MOVEMENT:
            hint = "convert the model and its inputs to float32, or choose another dialect"
            self.fail("TOSA has no 64-bit floats", hint)

    def size_from_tensor(self, count: Tensor) -> SSAValue:
        self.fail(
            "in TOSA no size can depend on the elements of a tensor",
            "choose another dialect, or use a mask or a result of fixed size (nonzero_static)",
        )

    # constants

    def shape(self, sizes: Sequence[int]) -> SSAValue:
        """A ``!tosa.shape`` constant."""
        return self.at_entry(("shape", tuple(sizes)), lambda: tosa.const_shape(sizes))

    def constant(self, values: Attribute, sizes: Sequence[int], dtype: Attribute) -> Tensor:
        """A constant tensor, one for equal values."""
        if 0 in sizes:
            return self.empty(sizes, dtype)
        type = self.tensor_type(sizes, dtype)
        value = self.at_entry(
            ("constant", values),
            lambda: tosa.ConstOp.create(result_types=[type], properties={"values": values}),
        )
        return Tensor(value, tuple(sizes), dtype)

    def elements(self, values: Sequence[Number], sizes: Sequence[int], dtype: Attribute) -> Tensor:
        """A constant tensor of these elements; a single one is repeated."""
        type = self.tensor_type(sizes, dtype)
        attribute = dense_elements(type, [self._number(value, dtype) for value in values])
        return self.constant(attribute, sizes, dtype)

    def _number(self, value: Number, dtype: Attribute) -> int | float:
        """A number as PyTorch converts it to an element type."""
        if isinstance(value, complex) or element_types.is_complex(dtype):
            self.refuse_complex()
        element = self.element(value, dtype)
        assert not isinstance(element, tuple)
        return element

    def literal(self, value: Attribute, sizes: tuple[int, ...], dtype: Attribute) -> Tensor:
        return self.constant(retyped_literal(value, self.tensor_type(sizes, dtype)), sizes, dtype)

    def splat(self, value: Number | Dim | Scalar, sizes: Sizes, dtype: Attribute) -> Tensor:
        if isinstance(value, Scalar):
            return self.broadcast_to(self.cast(Tensor(value.value, (), value.dtype), dtype), sizes)
        if isinstance(value, Dim):
            count = Tensor(self.size_tensor(value, i32), (), si32)
            return self.broadcast_to(self.cast(count, dtype), sizes)
        if is_static(sizes):
            return self.elements([value], sizes, dtype)
        number, element = self._number(value, dtype), self.element_type(dtype)
        return self.fill(number_attribute(number, element), sizes, dtype)

    def operand(self, value: Operand, dtype: Attribute) -> Tensor:
        """An operand of the op being lowered; numbers get its rank, since TOSA's operands have equal ranks."""
        if isinstance(value, Tensor):
            return self.cast(value, dtype)
        if isinstance(value, Dim | Scalar):
            return self.splat(value, (), dtype)
        return self.splat(value, (1,) * self.out.rank, dtype)

    # elements

    def cast(self, x: Tensor, dtype: Attribute) -> Tensor:
        return x if x.dtype == dtype else cast(self, x, dtype)

    def elementwise(
        self,
        op_class: type[Operation],
        *operands: Tensor,
        dtype: Attribute | None = None,
        properties: Mapping[str, Attribute] | None = None,
    ) -> Tensor:
        """An op on tensors that broadcast together; element type of the last operand unless given.

        Integers TOSA does not compute with are widened, and the result is narrowed again.
        """
        own = operands[-1].dtype
        if isinstance(own, Float64Type) and all(x.rank == 0 for x in operands):
            return self.number_op(op_class, operands)
        wide = own if op_class in _ANY_INTEGER else computed_dtype(own)
        if wide != own:
            widened = [self.cast(x, wide) for x in operands]
            result = self.elementwise(op_class, *widened, dtype=dtype, properties=properties)
            return result if dtype is not None else self.cast(result, own)
        rank = max(x.rank for x in operands)
        xs = [self.ranked(x, rank) for x in operands]
        dtype = own if dtype is None else dtype
        last = self._all_channels_last(xs)
        result = self._broadcasting(op_class, xs if last is None else last, dtype, properties)
        return result if last is None else self.channels_first(result)

    def term(self, operand: Operand, dtype: Attribute, result: ResultType) -> Tensor:
        if isinstance(operand, int | float):
            return self.splat(operand, (1,) * result.rank, dtype)
        return self.operand(operand, dtype)

    def computed_in(self, word: str, dtype: Attribute) -> Attribute:
        if element_types.is_float(dtype):
            return dtype if word in IN_HALVES or word in OF_NUMBERS else widened(dtype)
        return dtype if self.words.has(word, dtype) else computed_dtype(dtype)

    def clamp(self, x: Tensor, low: float, high: float) -> Tensor | None:
        dtype = x.dtype
        if not element_types.is_float(dtype):
            return None
        bounds = {
            "min_val": FloatAttr(element_types.in_range(float(low), dtype), dtype),
            "max_val": FloatAttr(element_types.in_range(float(high), dtype), dtype),
        }
        return self.elementwise(tosa.ClampOp, x, properties=bounds)

    def bits(self, x: Tensor, dtype: Attribute) -> Tensor:
        self.fail("TOSA cannot read the bits of a float as an integer, nor the other way round")

    def _broadcasting(
        self,
        op_class: type[Operation],
        xs: Sequence[Tensor],
        dtype: Attribute,
        properties: Mapping[str, Attribute] | None,
    ) -> Tensor:
        sizes = joint_sizes(xs)
        operands: list[Tensor | SSAValue] = [*xs]
        if op_class is tosa.MulOp:
            operands.append(self.splat(0, (1,), si8))
        elif op_class is tosa.NegateOp:
            operands += [self.splat(0, (1,), dtype)] * 2
        return self.op(op_class, operands, sizes, dtype, properties)

    def select(
        self, condition: Tensor, on_true: Tensor | Number, on_false: Tensor | Number
    ) -> Tensor:
        like = on_true if isinstance(on_true, Tensor) else on_false
        assert isinstance(like, Tensor)
        branches = (self._beside(like, each) for each in (on_true, on_false))
        return self.elementwise(tosa.SelectOp, condition, *branches)

    def compare(self, predicate: str, x: Tensor, y: Tensor | Number) -> Tensor:
        op_class, swapped, negated = COMPARISONS[predicate]
        operands = (x, self._beside(x, y))
        result = self.elementwise(op_class, *(operands[::-1] if swapped else operands), dtype=i1)
        return self.elementwise(tosa.LogicalNotOp, result) if negated else result

    def _beside(self, x: Tensor, value: Tensor | Number) -> Tensor:
        """A number as a tensor that broadcasts beside another."""
        return value if isinstance(value, Tensor) else self.splat(value, (1,) * x.rank, x.dtype)

    # shapes

    def ranked(self, x: Tensor, rank: int) -> Tensor:
        """Leading dimensions of size 1 up to a rank."""
        return self.reshape(x, (*[1] * (rank - x.rank), *x.sizes))

    def broadcast_to(self, x: Tensor, sizes: Sizes) -> Tensor:
        if x.sizes == tuple(sizes):
            return x
        lead = len(sizes) - x.rank
        repeated = [
            size for have, size in zip((1,) * lead + x.sizes, sizes, strict=True) if have != size
        ]
        unknown = [size for size in sizes if not isinstance(size, int)]
        # IREE expands tosa.tile to a reshape, which may leave one size open
        if not is_static(repeated) or len(unknown) > 1:
            return self.repeat_to(x, sizes)
        x = self.ranked(x, len(sizes))
        pairs = zip(x.sizes, sizes, strict=True)
        multiples = [1 if have == size else size for have, size in pairs]
        return self.tile(x, multiples)  # type: ignore[arg-type]

    def spread(self, x: Tensor, sizes: Sizes) -> Tensor:
        """Of the rank of the result: TOSA's ops repeat dimensions of size 1."""
        return self.ranked(x, len(sizes))

    def repeat(self, x: Tensor, counts: Sizes) -> Tensor:
        if not is_static(counts) or sum(not isinstance(size, int) for size in x.sizes) > 1:
            return super().repeat(x, counts)
        return self.tile(self.ranked(x, len(counts)), counts)

    def tile(self, x: Tensor, multiples: Sequence[int]) -> Tensor:
        """Repeats the tensor along each dimension."""
        if all(count == 1 for count in multiples):
            return x
        sizes = [dims.mul(size, count) for size, count in zip(x.sizes, multiples, strict=True)]
        return self.op(tosa.TileOp, [x, self.shape(multiples)], sizes, x.dtype)

    def reshape(self, x: Tensor, sizes: Sizes) -> Tensor:
        if x.sizes == tuple(sizes):
            return x
        source = self._reshaped.get(x.value, x)
        if source.sizes == tuple(sizes):
            return source
        unknown = [size for size in sizes if not isinstance(size, int)]
        if 0 in sizes:
            return self.empty(sizes, x.dtype)
        if len(unknown) > 1:
            result = self.regrouped(x, sizes)
        else:
            shape = [size if isinstance(size, int) else -1 for size in sizes]
            result = self.op(tosa.ReshapeOp, [source, self.shape(shape)], sizes, x.dtype)
        self._reshaped[result.value] = source
        return result

    def transpose(self, x: Tensor, permutation: Sequence[int]) -> Tensor:
        source, order = self._transposed.get(x.value, (x, tuple(range(x.rank))))
        composed = tuple(order[p] for p in permutation)
        if list(composed) == list(range(x.rank)):
            return source
        sizes = [source.sizes[p] for p in composed]
        if only_ones_move(source.sizes, composed):
            return self.reshape(source, sizes)
        properties = {"perms": DenseArrayBase.from_list(i32, composed)}
        result = self.op(tosa.TransposeOp, [source], sizes, x.dtype, properties)
        self._transposed[result.value] = (source, composed)
        return result

    def reverse(self, x: Tensor, over: Sequence[int]) -> Tensor:
        for axis in over:
            if x.sizes[axis] != 1:
                properties = {"axis": IntegerAttr(axis, i32)}
                x = self.op(tosa.ReverseOp, [x], x.sizes, x.dtype, properties)
        return x

    def known_channels_last(self, x: Tensor) -> Tensor | None:
        """``[N, ..., C]`` of what has been computed so, as ``[N, C, ...]``."""
        return self._last.get(x.value)

    def channels_last(self, x: Tensor) -> Tensor:
        """``[N, C, ...]`` as ``[N, ..., C]``."""
        known = self._last.get(x.value)
        return self.transpose(x, channels_last_permutation(x.rank)) if known is None else known

    def channels_first(self, x: Tensor) -> Tensor:
        """``[N, ..., C]`` as ``[N, C, ...]``; ``x`` is remembered as its form with channels last."""
        result = self.transpose(x, (0, x.rank - 1, *range(1, x.rank - 1)))
        self._last[result.value] = x
        return result

    def _all_channels_last(self, xs: Sequence[Tensor]) -> list[Tensor] | None:
        """Operands with channels last, if one exists so and no other one has to be transposed."""
        if not any(x.value in self._last for x in xs):
            return None
        permutation = channels_last_permutation(xs[0].rank)
        if all(x.value in self._last or only_ones_move(x.sizes, permutation) for x in xs):
            return [self.channels_last(x) for x in xs]
        return None

    def sliced(self, x: Tensor, starts: Sizes, sizes: Sizes, steps: Sequence[int]) -> Tensor:
        rows = list(zip(x.sizes, starts, sizes, steps, strict=True))
        if not all(slice_is_constant(*row) for row in rows):
            return self.extract_slice(x, starts, sizes, steps, sizes)
        return self._every_step(x, starts, sizes, steps)  # type: ignore[arg-type]

    def _slice(self, x: Tensor, starts: Sequence[int], sizes: Sizes) -> Tensor:
        """A slice without steps; a size that is no constant reaches to the end."""
        if x.sizes == tuple(sizes):
            return x
        lengths = [size if isinstance(size, int) else -1 for size in sizes]
        operands: list[Tensor | SSAValue] = [x, self.shape(starts), self.shape(lengths)]
        return self.op(tosa.SliceOp, operands, sizes, x.dtype)

    def _every_step(
        self,
        x: Tensor,
        starts: Sequence[int],
        sizes: Sizes,
        steps: Sequence[int],
    ) -> Tensor:
        """Splits a dimension into ``[size, step]`` and takes the first of each step; pads where the last is short."""
        strided = [i for i, step in enumerate(steps) if step != 1]
        spans, missing = list(sizes), [0] * x.rank
        for i in strided:
            spans[i] = dims.mul(sizes[i], steps[i])
            missing[i] = max(spans[i] - (x.sizes[i] - starts[i]), 0)  # type: ignore[operator]
        x = self._slice(self.pad(x, [0] * x.rank, missing, 0), starts, spans)
        if not strided:
            return x
        split = list[KnownSize]()
        first = list[KnownSize]()
        for size, step in zip(sizes, steps, strict=True):
            split += [size] if step == 1 else [size, step]
            first += [size] if step == 1 else [size, 1]
        x = self._slice(self.reshape(x, split), [0] * len(split), first)
        return self.reshape(x, sizes)

    def joined(self, xs: Sequence[Tensor], dim: int, sizes: Sizes) -> Tensor:
        properties = {"axis": IntegerAttr(dim, i32)}
        return self.op(tosa.ConcatOp, xs, sizes, xs[0].dtype, properties)

    def padded(self, x: Tensor, low: Sizes, high: Sizes, value: Number) -> Tensor:
        if not is_static((*low, *high)):
            return self._pad_by_joining(x, low, high, value)
        sizes = [dims.add(*parts) for parts in zip(low, x.sizes, high, strict=True)]
        if 0 in x.sizes:
            return self.splat(value, sizes, x.dtype)
        amounts = [amount for pair in zip(low, high, strict=True) for amount in pair]
        fill = self.splat(value, (1,), x.dtype)
        operands: list[Tensor | SSAValue] = [x, self.shape(amounts), fill]  # type: ignore[arg-type]
        return self.op(tosa.PadOp, operands, sizes, x.dtype)

    def _pad_by_joining(self, x: Tensor, low: Sizes, high: Sizes, value: Number) -> Tensor:
        """Padding whose amounts are no constants: constant tensors are joined on."""
        for dim in range(x.rank):
            parts = []
            for amount in (low[dim], high[dim]):
                sizes = [amount if i == dim else size for i, size in enumerate(x.sizes)]
                parts.append(self.splat(value, sizes, x.dtype))
            x = self.concatenate([parts[0], x, parts[1]], dim)
        return x

    def iota(self, sizes: Sizes, dim: int, dtype: Attribute) -> Tensor:
        length = sizes[dim]
        if isinstance(length, int):
            line = self.elements(range(length), (length,), dtype)
        else:
            integer = dtype if element_types.is_integer(dtype) else si32
            line = self.cast(self.count_to(length, integer), dtype)
        column = [length if i == dim else 1 for i in range(len(sizes))]
        return self.broadcast_to(self.reshape(line, column), sizes)

    # structured ops

    def batch_matmul(self, a: Tensor, b: Tensor, dtype: Attribute) -> Tensor:
        """``[N, H, C] @ [N, C, W]``, accumulated in ``dtype``."""
        if a.sizes[2] == 0:
            return self.splat(0, (a.sizes[0], a.sizes[1], b.sizes[2]), dtype)
        zero = self.splat(0, (1,), a.dtype)
        sizes = (a.sizes[0], a.sizes[1], b.sizes[2])
        return self.op(tosa.MatMulOp, [a, b, zero, zero], sizes, dtype)

    def gather_rows(self, values: Tensor, indices: Tensor) -> Tensor:
        """Rows of ``values [N, K, C]`` at ``indices [N, W]``, as ``[N, W, C]``."""
        sizes = (values.sizes[0], indices.sizes[1], values.sizes[2])
        # the 64-bit integer extension wants indices of the values' width
        index = element_types.si64 if self.element_type(values.dtype) == i64 else si32
        return self.op(tosa.GatherOp, [values, self.cast(indices, index)], sizes, values.dtype)

    def scatter_rows(self, values: Tensor, indices: Tensor, rows: Tensor) -> Tensor:
        """``values [N, K, C]`` with ``rows [N, W, C]`` at ``indices [N, W]``, no index twice.

        IREE 3.13 compiles several batches of static sizes only: others become one, with indices to match.
        """
        batches, places, channels = values.sizes
        if batches != 1 and not is_static((*values.sizes, *indices.sizes)):
            sizes, count = (1, dims.mul(batches, places), channels), indices.sizes[1]
            first = Expr(self.words, self.iota((batches, 1), 0, si32))
            start = first * Expr(self.words, self.splat(places, (1, 1), si32))
            moved = Expr(self.words, self.cast(indices, si32)) + start
            flat = self.reshape(moved.value, (1, dims.mul(batches, count)))
            source = self.reshape(rows, (*flat.sizes, channels))
            return self.reshape(
                self.scatter_rows(self.reshape(values, sizes), flat, source), values.sizes
            )
        operands = [values, self.cast(indices, si32), rows]
        return self.op(tosa.ScatterOp, operands, values.sizes, values.dtype)
