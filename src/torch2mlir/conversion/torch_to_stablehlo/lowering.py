"""StableHLO's words for the shared vocabulary.

Sizes are computed as rank-0 ``tensor<i32>`` values, what ``stablehlo.get_dimension_size`` gives. A fully static result
never uses a dynamic op.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache, partial
from typing import Any

from xdsl.dialects.builtin import (
    ComplexType,
    Float16Type,
    IntegerType,
    TensorType,
    f32,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from torch2mlir.contract import element_types
from torch2mlir.conversion.lowering import Lowering, Number, Operand, ResultType, Scalar, Tensor
from torch2mlir.conversion.registry import lowers as register
from torch2mlir.conversion.torch_to_stablehlo.words import IN_HALVES, StablehloWords
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import Dim, KnownSize, Sizes, is_static
from torch2mlir.dialects.weights import dense_elements

lowers = partial(register, "stablehlo")

_SIZE = TensorType(i32, [])
_HELD: dict[Attribute, Attribute] = {ComplexType(Float16Type()): ComplexType(f32)}
"""Types StableHLO does not have, and those that hold their values."""
_SIZE_ARITHMETIC: dict[str, type[Operation]] = {
    "add": hlo.AddOp,
    "mul": hlo.MulOp,
    "max": hlo.MaxOp,
    "min": hlo.MinOp,
}


class StablehloLowering(Lowering):
    """Builds StableHLO."""

    target = "stablehlo"
    keep_unsigned = True
    branch_ops = (hlo.IfOp, hlo.ReturnOp)
    constant_op = hlo.ConstantOp
    loop_ops = (hlo.WhileOp, hlo.ReturnOp)

    def __init__(self) -> None:
        super().__init__()
        self.words = StablehloWords(self)
        self._broadcasts: dict[Hashable, Tensor] = {}
        self.caches.append(self._broadcasts)

    def element_type(self, dtype: Attribute) -> Attribute:
        """As for other dialects; complex numbers of halves, which StableHLO has none of, are held in complex<f32>."""
        return _HELD.get(dtype) or super().element_type(dtype)

    # sizes

    def symbol_from_argument(self, argument: SSAValue, dim: int) -> SSAValue:
        return self.at_entry(
            ("dim", argument, dim),
            lambda: hlo.GetDimensionSizeOp.create(
                operands=[argument],
                result_types=[_SIZE],
                properties={"dimension": hlo.i64_attr(dim)},
            ),
        )

    def size_constant(self, size: int) -> SSAValue:
        if size.bit_length() > _SIZE.element_type.width.data - 1:
            self.fail(f"StableHLO's engines count sizes in 32 bits, and {size} has more")
        return self.at_entry(("size", size), lambda: _constant(_SIZE, [size]))

    def size_op(self, word: str, x: SSAValue, y: SSAValue, natural: bool) -> SSAValue:
        def emit(op_class: type[Operation], *operands: SSAValue) -> SSAValue:
            return self.emit(op_class, operands, [_SIZE]).results[0]

        if word in _SIZE_ARITHMETIC:
            return emit(_SIZE_ARITHMETIC[word], x, y)
        if natural:
            return emit(hlo.DivOp if word == "floordiv" else hlo.RemOp, x, y)
        # ceil divisions are written ``-((-a) // b)``: what is left over, made positive
        rest = emit(hlo.RemOp, emit(hlo.AddOp, emit(hlo.RemOp, x, y), y), y)
        return rest if word == "mod" else emit(hlo.DivOp, emit(hlo.SubtractOp, x, rest), y)

    def shape(self, sizes: Sizes) -> SSAValue:
        """Sizes as a ``tensor<Nxi32>``, the shape operand of StableHLO's dynamic ops."""
        if is_static(sizes):
            type = TensorType(i32, [len(sizes)])
            return self.at_entry(("shape", tuple(sizes)), lambda: _constant(type, sizes))
        return self.in_entry(lambda: self._shape(sizes), ("shape", tuple(sizes)))

    def _shape(self, sizes: Sizes) -> SSAValue:
        parts, constant = list[SSAValue](), list[KnownSize]()
        for size in (*sizes, None):
            if isinstance(size, int):
                constant.append(size)
                continue
            if constant:
                parts.append(self.shape(tuple(constant)))
                constant.clear()
            if size is not None:
                parts.append(self._extent(size))
        if len(parts) == 1:
            return parts[0]
        type = TensorType(i32, [len(sizes)])
        properties = {"dimension": hlo.i64_attr(0)}
        return self.emit(hlo.ConcatenateOp, parts, [type], properties).results[0]

    def _extent(self, size: KnownSize) -> SSAValue:
        """A size as a ``tensor<1xi32>``."""

        def build() -> SSAValue:
            return self.emit(hlo.ReshapeOp, [self.size(size)], [TensorType(i32, [1])]).results[0]

        return self.in_entry(build, ("extent", size))

    def size_from_tensor(self, count: Tensor) -> SSAValue:
        return self.emit(hlo.ConvertOp, [count.value], [_SIZE]).results[0]

    def size_as_scalar(self, size: KnownSize) -> SSAValue:
        if isinstance(size, int):
            type = TensorType(i64, [])
            return self.at_entry(("scalar", size), lambda: _constant(type, [size]))
        return self.emit(hlo.ConvertOp, [self.size(size)], [TensorType(i64, [])]).results[0]

    # constants

    def splat(self, value: Number | Dim | Scalar, sizes: Sizes, dtype: Attribute) -> Tensor:
        if isinstance(value, Scalar):
            return self.broadcast_to(self.cast(Tensor(value.value, (), value.dtype), dtype), sizes)
        if isinstance(value, Dim):
            scalar = Tensor(self.size_as_scalar(value), (), element_types.si64)
            return self.broadcast_to(self.cast(scalar, dtype), sizes)
        if not is_static(sizes):
            return self.broadcast_to(self.splat(value, (), dtype), sizes)
        type, element = self.tensor_type(sizes, dtype), self.element(value, dtype)
        key = ("splat", type, repr(element))
        constant = self.at_entry(key, lambda: _constant(type, [element]))
        return Tensor(constant, tuple(sizes), dtype)

    # elements

    def cast(self, x: Tensor, dtype: Attribute) -> Tensor:
        if x.dtype == dtype:
            return x
        if element_types.is_bool(dtype):
            return self.compare("ne", x, 0)
        if isinstance(x.dtype, ComplexType) and not element_types.is_complex(dtype):
            return self.cast(self.part(hlo.RealOp, x), dtype)
        if self.element_type(x.dtype) == self.element_type(dtype) and x.dtype in _HELD:
            return Tensor(x.value, x.sizes, dtype)
        if dtype in _HELD:
            real = self.part(hlo.RealOp, x) if isinstance(x.dtype, ComplexType) else x
            imaginary = self.part(hlo.ImagOp, x) if isinstance(x.dtype, ComplexType) else None
            return self.complex(real, imaginary, dtype)
        if element_types.is_float(x.dtype) and element_types.is_integer(dtype):
            x = self.apply(hlo.ConvertOp, x, dtype=element_types.whole(dtype))
        if x.dtype == dtype:
            return x
        return self.apply(hlo.ConvertOp, x, dtype=dtype)

    def part(self, op_class: type[Operation], x: Tensor) -> Tensor:
        """Real parts, imaginary parts or magnitudes of complex numbers."""
        held: Any = _HELD.get(x.dtype, x.dtype)
        parts = self.apply(op_class, x, dtype=held.element_type)
        return self.cast(parts, element_types.part_of(x.dtype))

    def real(self, x: Tensor) -> Tensor:
        return self.part(hlo.RealOp, x)

    def imag(self, x: Tensor) -> Tensor:
        return self.part(hlo.ImagOp, x)

    def complex(self, real: Tensor, imaginary: Tensor | None, dtype: Attribute) -> Tensor:
        held: Any = _HELD.get(dtype, dtype)
        if imaginary is None:
            imaginary = self.splat(0, real.sizes, held.element_type)
        parts = (self.cast(x, element_types.part_of(dtype)) for x in (real, imaginary))
        wide = [self.cast(part, held.element_type) for part in parts]
        return self.op(hlo.ComplexOp, wide, real.sizes, dtype)

    def apply(
        self,
        op_class: type[Operation],
        *operands: Tensor | Number | Dim,
        dtype: Attribute | None = None,
    ) -> Tensor:
        """An op on tensors of one size; a number stands for a tensor full of it.

        Numbers, and the result unless ``dtype`` is given, have the element type of the first tensor.
        """
        first = next(o for o in operands if isinstance(o, Tensor))
        tensors = [self._filled(operand, first) for operand in operands]
        return self.op(op_class, tensors, first.sizes, dtype or first.dtype)

    def _filled(self, x: Tensor | Number | Dim, like: Tensor) -> Tensor:
        return x if isinstance(x, Tensor) else self.splat(x, like.sizes, like.dtype)

    def compare(self, predicate: str, x: Tensor, y: Tensor | Number | Dim) -> Tensor:
        properties = _comparison(predicate.upper(), x.dtype)
        return self.op(hlo.CompareOp, [x, self._filled(y, x)], x.sizes, i1, properties)

    def select(
        self, condition: Tensor, on_true: Tensor | Number, on_false: Tensor | Number
    ) -> Tensor:
        first = next(x for x in (on_true, on_false) if isinstance(x, Tensor))
        branches = [self._filled(x, first) for x in (on_true, on_false)]
        return self.op(hlo.SelectOp, [condition, *branches], first.sizes, first.dtype)

    def elementwise(
        self, op_class: type[Operation], *operands: Operand, computed: Attribute | None = None
    ) -> Tensor:
        """An op on operands spread to the result's sizes, converted to ``computed``, by default the result's type."""
        dtype, out = computed or self.out.dtype, self.out
        tensors = [self.spread(self.term(x, dtype, out), out.sizes) for x in operands]
        return self.cast(self.apply(op_class, *tensors), out.dtype)

    def term(self, operand: Operand, dtype: Attribute, result: ResultType) -> Tensor:
        if isinstance(operand, Tensor):
            return self.cast(operand, dtype)
        return self.splat(operand, result.sizes, dtype)

    def computed_in(self, word: str, dtype: Attribute) -> Attribute:
        return dtype if word in IN_HALVES else super().computed_in(word, dtype)

    def clamp(self, x: Tensor, low: float, high: float) -> Tensor:
        bounds = [self.splat(bound, (), x.dtype) for bound in (low, high)]
        return self.op(hlo.ClampOp, [bounds[0], x, bounds[1]], x.sizes, x.dtype)

    def bits(self, x: Tensor, dtype: Attribute) -> Tensor:
        return self.op(hlo.BitcastConvertOp, [x], x.sizes, dtype)

    # combining elements

    def region(
        self, types: Sequence[Attribute], build: Callable[..., Sequence[SSAValue]]
    ) -> Region:
        """The body ``build(*arguments)`` emits, ended by a return of what it gives."""
        block = Block(arg_types=types)
        outer, self.body = self.body, []
        outer_entry, self.entry = self.entry, self.body
        outer_known, self._entry_values = self._entry_values, {}
        try:
            returned = build(*block.args)
            self.emit(hlo.ReturnOp, returned, [])
            block.add_ops(self.body)
        finally:
            self.body, self.entry, self._entry_values = outer, outer_entry, outer_known
        return Region(block)

    def combiner(self, op_class: type[Operation], dtype: Attribute) -> Region:
        """The body that combines two elements with an op."""
        return hlo.combiner(op_class, self.element_type(dtype), self.location)

    def window_properties(
        self,
        window: Sequence[int],
        strides: Sequence[int] = (),
        dilations: Sequence[int] = (),
        padding: Sequence[tuple[int, int]] = (),
    ) -> dict[str, Attribute]:
        """The properties of ``reduce_window``; what changes nothing is left out."""
        properties: dict[str, Attribute] = {"window_dimensions": hlo.i64_array(window)}
        for name, factors in (("window_strides", strides), ("window_dilations", dilations)):
            if any(factor != 1 for factor in factors):
                properties[name] = hlo.i64_array(factors)
        if any(pair != (0, 0) for pair in padding):
            properties["padding"] = hlo.padding_attr(padding)
        return properties

    def reduce_window(
        self,
        op_class: type[Operation],
        x: Tensor,
        init: Number,
        sizes: Sizes,
        properties: dict[str, Attribute],
    ) -> Tensor:
        """The elements of each window combined; see :meth:`window_properties`."""
        operands = [x, self.splat(init, (), x.dtype)]
        body = self.combiner(op_class, x.dtype)
        return self.op(hlo.ReduceWindowOp, operands, sizes, x.dtype, properties, [body])

    # shapes

    def broadcast_to(self, x: Tensor, sizes: Sizes) -> Tensor:
        if x.sizes == tuple(sizes):
            return x
        return self.broadcast_in_dim(x, sizes, range(len(sizes) - x.rank, len(sizes)))

    def broadcast_in_dim(self, x: Tensor, sizes: Sizes, places: Sequence[int]) -> Tensor:
        """Dimension ``i`` of ``x`` becomes dimension ``places[i]``; sizes of 1 and the others are repeated."""
        key = (x.value, tuple(sizes), tuple(places))
        known = self._broadcasts.get(key)
        if known is None:
            known = self._broadcasts[key] = self._broadcast(x, sizes, places)
        return known

    def _broadcast(self, x: Tensor, sizes: Sizes, places: Sequence[int]) -> Tensor:
        properties: dict[str, Attribute] = {"broadcast_dimensions": hlo.i64_array(places)}
        if is_static((*sizes, *x.sizes)):
            return self.op(hlo.BroadcastInDimOp, [x], sizes, x.dtype, properties)
        expanding = [i for i, size in enumerate(x.sizes) if size != sizes[places[i]]]
        kept = [i for i in range(x.rank) if i not in expanding]
        if expanding:
            properties["known_expanding_dimensions"] = hlo.i64_array(expanding)
        if kept:
            properties["known_nonexpanding_dimensions"] = hlo.i64_array(kept)
        operands = [x, self.shape(sizes)]
        return self.op(hlo.DynamicBroadcastInDimOp, operands, sizes, x.dtype, properties)

    def reshape(self, x: Tensor, sizes: Sizes) -> Tensor:
        if x.sizes == tuple(sizes):
            return x
        if is_static((*x.sizes, *sizes)):
            return self.op(hlo.ReshapeOp, [x], sizes, x.dtype)
        kept = [place for place, size in enumerate(sizes) if size != 1]
        if x.sizes == tuple(sizes[place] for place in kept):
            return self.broadcast_in_dim(x, sizes, kept)  # engines take this more readily
        return self.op(hlo.DynamicReshapeOp, [x, self.shape(sizes)], sizes, x.dtype)

    def transpose(self, x: Tensor, permutation: Sequence[int]) -> Tensor:
        if list(permutation) == list(range(x.rank)):
            return x
        sizes = [x.sizes[p] for p in permutation]
        properties = {"permutation": hlo.i64_array(permutation)}
        return self.op(hlo.TransposeOp, [x], sizes, x.dtype, properties)

    def reverse(self, x: Tensor, over: Sequence[int]) -> Tensor:
        if not over:
            return x
        return self.op(hlo.ReverseOp, [x], x.sizes, x.dtype, {"dimensions": hlo.i64_array(over)})

    def sliced(self, x: Tensor, starts: Sizes, sizes: Sizes, steps: Sequence[int]) -> Tensor:
        spans = [_span(size, step) for size, step in zip(sizes, steps, strict=True)]
        limits = [dims.add(start, span) for start, span in zip(starts, spans, strict=True)]
        if is_static(x.sizes) and is_static(starts) and is_static(limits):
            properties = {
                "start_indices": hlo.i64_array(starts),
                "limit_indices": hlo.i64_array(limits),
                "strides": hlo.i64_array(steps),
            }
            return self.op(hlo.SliceOp, [x], sizes, x.dtype, properties)
        operands = [x, self.shape(starts), self.shape(limits), self.shape(steps)]
        return self.op(hlo.RealDynamicSliceOp, operands, sizes, x.dtype)

    def joined(self, xs: Sequence[Tensor], dim: int, sizes: Sizes) -> Tensor:
        properties = {"dimension": hlo.i64_attr(dim)}
        return self.op(hlo.ConcatenateOp, list(xs), sizes, xs[0].dtype, properties)

    def padded(self, x: Tensor, low: Sizes, high: Sizes, value: Number) -> Tensor:
        sizes = [dims.add(*parts) for parts in zip(low, x.sizes, high, strict=True)]
        fill = self.splat(value, (), x.dtype)
        if is_static(low) and is_static(high):
            properties = {
                "edge_padding_low": hlo.i64_array(low),
                "edge_padding_high": hlo.i64_array(high),
                "interior_padding": hlo.i64_array([0] * x.rank),
            }
            return self.op(hlo.PadOp, [x, fill], sizes, x.dtype, properties)
        operands = [x, fill, self.shape(low), self.shape(high), self.shape([0] * x.rank)]
        return self.op(hlo.DynamicPadOp, operands, sizes, x.dtype)

    def iota(self, sizes: Sizes, dim: int, dtype: Attribute) -> Tensor:
        value = self.in_entry(
            lambda: self._iota(sizes, dim, dtype).value, ("iota", tuple(sizes), dim, dtype)
        )
        return Tensor(value, tuple(sizes), dtype)

    def _iota(self, sizes: Sizes, dim: int, dtype: Attribute) -> Tensor:
        properties = {"iota_dimension": hlo.i64_attr(dim)}
        if is_static(sizes):
            return self.op(hlo.IotaOp, [], sizes, dtype, properties)
        return self.op(hlo.DynamicIotaOp, [self.shape(sizes)], sizes, dtype, properties)


def _span(size: KnownSize, step: int) -> KnownSize:
    """How far ``size`` elements reach that lie ``step`` apart; 0 for none, as a limit is not below its start."""
    if step == 1:
        return size
    return dims.maximum(dims.add(dims.mul(dims.sub(size, 1), step), 1), 0)


def _constant(type: TensorType[Any], values: Sequence[Any]) -> Operation:
    """A literal of all elements, or of the one that all are."""
    value = dense_elements(type, values)
    return hlo.ConstantOp.create(result_types=[type], properties={"value": value})


@lru_cache(maxsize=256)
def _comparison(direction: str, dtype: Attribute) -> dict[str, Attribute]:
    """The properties of a comparison of elements."""
    if not isinstance(dtype, IntegerType):
        kind = hlo.ComparisonType.FLOAT
    elif element_types.is_unsigned(dtype):
        kind = hlo.ComparisonType.UNSIGNED
    else:
        kind = hlo.ComparisonType.SIGNED
    return {
        "comparison_direction": hlo.ComparisonDirectionAttr(hlo.ComparisonDirection(direction)),
        "compare_type": hlo.ComparisonTypeAttr(kind),
    }
