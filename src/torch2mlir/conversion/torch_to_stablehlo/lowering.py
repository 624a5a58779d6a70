"""StableHLO's words for the shared vocabulary.

Sizes are computed as rank-0 ``tensor<i32>`` values, what ``stablehlo.get_dimension_size`` gives. A fully static result
never uses a dynamic op.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from xdsl.dialects.builtin import (
    BFloat16Type,
    ComplexType,
    DenseIntOrFPElementsAttr,
    Float16Type,
    TensorType,
    f32,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from torch2mlir.conversion import promotion
from torch2mlir.conversion.lowering import Lowering, Number, Operand, Scalar, Tensor
from torch2mlir.conversion.registry import lowers as register
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim, KnownSize
from torch2mlir.dialects.weights import retyped_literal

lowers = partial(register, "stablehlo")

_SIZE = TensorType(i32, [])
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
    bool = i1
    si64 = promotion.si64
    f64 = f64

    def scalar_type(self, type: Attribute) -> Attribute:
        return TensorType({t.int_type: i64, t.float_type: f64, t.bool_type: i1}[type], [])

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

    def size(self, size: KnownSize) -> SSAValue:
        if isinstance(size, int):
            return self._size_constant(size)
        if size.op == "symbol":
            return self.symbols[size.name]
        return self.in_entry(lambda: self._size_expression(size), ("size", size))

    def _size_constant(self, size: int) -> SSAValue:
        value = DenseIntOrFPElementsAttr.from_list(_SIZE, [size])
        return self.at_entry(
            ("size", size),
            lambda: hlo.ConstantOp.create(result_types=[_SIZE], properties={"value": value}),
        )

    def _size_expression(self, size: Dim) -> SSAValue:
        operands = [self.size(arg) for arg in size.operands()]
        result = operands[0]
        for operand in operands[1:]:
            if size.op in _SIZE_ARITHMETIC:
                result = self._size_op(_SIZE_ARITHMETIC[size.op], result, operand)
            elif size.op == "floordiv":
                result = self._floor_division(result, operand)
            else:  # mod: x - floor(x / y) * y
                whole = self._size_op(hlo.MulOp, self._floor_division(result, operand), operand)
                result = self._size_op(hlo.SubtractOp, result, whole)
        return result

    def _size_op(self, op_class: type[Operation], *operands: SSAValue) -> SSAValue:
        return self.emit(op_class, operands, [_SIZE]).results[0]

    def _floor_division(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Rounds down also for negative numerators, as ceil divisions are written ``-((-a) // b)``; ``rhs > 0``."""
        remainder = self._size_op(hlo.RemOp, lhs, rhs)
        # (lhs - ((lhs rem rhs) + rhs) rem rhs) is a multiple of rhs, so truncation is exact
        shifted = self._size_op(hlo.RemOp, self._size_op(hlo.AddOp, remainder, rhs), rhs)
        exact = self._size_op(hlo.SubtractOp, lhs, shifted)
        return self._size_op(hlo.DivOp, exact, rhs)

    def shape(self, sizes: Sequence[KnownSize]) -> SSAValue:
        """Sizes as a ``tensor<Nxi32>``, the shape operand of StableHLO's dynamic ops."""
        if all(isinstance(size, int) for size in sizes):
            type = TensorType(i32, [len(sizes)])
            value = DenseIntOrFPElementsAttr.from_list(type, list(sizes))  # type: ignore[arg-type]
            return self.at_entry(
                ("shape", tuple(sizes)),
                lambda: hlo.ConstantOp.create(result_types=[type], properties={"value": value}),
            )
        return self.in_entry(lambda: self._shape(sizes), ("shape", tuple(sizes)))

    def _shape(self, sizes: Sequence[KnownSize]) -> SSAValue:
        one = TensorType(i32, [1])
        parts = [self.emit(hlo.ReshapeOp, [self.size(s)], [one]).results[0] for s in sizes]
        if len(parts) == 1:
            return parts[0]
        joined = self.emit(
            hlo.ConcatenateOp,
            parts,
            [TensorType(i32, [len(parts)])],
            {"dimension": hlo.i64_attr(0)},
        )
        return joined.results[0]

    def size_as_scalar(self, size: KnownSize) -> SSAValue:
        if isinstance(size, int):
            type = TensorType(i64, [])
            value = DenseIntOrFPElementsAttr.from_list(type, [size])
            return self.at_entry(
                ("scalar", size),
                lambda: hlo.ConstantOp.create(result_types=[type], properties={"value": value}),
            )
        return self.emit(hlo.ConvertOp, [self.size(size)], [TensorType(i64, [])]).results[0]

    # constants

    def literal(self, value: Attribute, sizes: tuple[int, ...], dtype: Attribute) -> Tensor:
        type = self.tensor_type(sizes, dtype)
        attribute = retyped_literal(value, type)
        constant = self.at_entry(
            ("literal", attribute),
            lambda: hlo.ConstantOp.create(result_types=[type], properties={"value": attribute}),
        )
        return Tensor(constant, sizes, dtype)

    def splat(
        self, value: Number | Dim | Scalar, sizes: Sequence[KnownSize], dtype: Attribute
    ) -> Tensor:
        if isinstance(value, Scalar):
            return self.broadcast_to(self.cast(Tensor(value.value, (), value.dtype), dtype), sizes)
        if isinstance(value, Dim):
            scalar = Tensor(self.size_as_scalar(value), (), promotion.si64)
            return self.broadcast_to(self.cast(scalar, dtype), sizes)
        static = tuple(size for size in sizes if isinstance(size, int))
        if len(static) < len(sizes):
            return self.broadcast_to(self.splat(value, (), dtype), sizes)
        type = self.tensor_type(static, dtype)
        key = ("splat", type, str(value))
        constant = self.at_entry(
            key,
            lambda: hlo.ConstantOp.create(
                result_types=[type], properties={"value": _splat_attribute(value, type, dtype)}
            ),
        )
        return Tensor(constant, static, dtype)

    # elements

    def cast(self, x: Tensor, dtype: Attribute) -> Tensor:
        if x.dtype == dtype:
            return x
        if promotion.is_bool(dtype):
            return self.compare("NE", x, self.splat(0, x.sizes, x.dtype))
        if promotion.is_complex(x.dtype) and not promotion.is_complex(dtype):
            part = x.dtype.element_type  # type: ignore[attr-defined]
            return self.cast(self.op(hlo.RealOp, [x], x.sizes, part), dtype)
        return self.op(hlo.ConvertOp, [x], x.sizes, dtype)

    def compare(self, direction: str, lhs: Tensor, rhs: Tensor) -> Tensor:
        """``stablehlo.compare`` of tensors of equal sizes and element type: EQ, NE, LT, LE, GT or GE."""
        if promotion.is_complex(lhs.dtype) or promotion.is_float(lhs.dtype):
            kind = hlo.ComparisonType.FLOAT
        elif promotion.is_unsigned(lhs.dtype):
            kind = hlo.ComparisonType.UNSIGNED
        else:
            kind = hlo.ComparisonType.SIGNED
        properties = {
            "comparison_direction": hlo.ComparisonDirectionAttr(hlo.ComparisonDirection(direction)),
            "compare_type": hlo.ComparisonTypeAttr(kind),
        }
        return self.op(hlo.CompareOp, [lhs, rhs], lhs.sizes, i1, properties)

    def elementwise(
        self, op_class: type[Operation], *operands: Tensor, dtype: Attribute | None = None
    ) -> Tensor:
        """An op on tensors broadcast to the result's sizes; element type of the first operand unless given."""
        sizes = self.out.sizes
        return self.op(
            op_class,
            [self.broadcast_to(x, sizes) for x in operands],
            sizes,
            operands[0].dtype if dtype is None else dtype,
        )

    def operands(self, *operands: Operand) -> tuple[Tensor, ...]:
        """Operands on the result's element type."""
        return tuple(self.operand(operand, self.out.dtype) for operand in operands)

    def select(self, condition: Tensor, on_true: Tensor, on_false: Tensor) -> Tensor:
        """``stablehlo.select`` of tensors of equal sizes."""
        return self.op(hlo.SelectOp, [condition, on_true, on_false], on_true.sizes, on_true.dtype)

    def logical(self, op_class: type[Operation], a: Tensor, b: Tensor) -> Tensor:
        """An operation on booleans of equal sizes."""
        return self.op(op_class, [a, b], a.sizes, i1)

    def truncated(self, x: Tensor) -> Tensor:
        """Floats rounded toward zero."""
        down, up = (self.op(op, [x], x.sizes, x.dtype) for op in (hlo.FloorOp, hlo.CeilOp))
        return self.select(self.compare("LT", x, self.splat(0, x.sizes, x.dtype)), up, down)

    def widened(self, dtype: Attribute) -> Attribute:
        """What sums of an element type are computed in: f32 for half floats, as PyTorch does."""
        return f32 if isinstance(dtype, Float16Type | BFloat16Type) else dtype

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

    def reduce(
        self,
        op_class: type[Operation],
        x: Tensor,
        over: Sequence[int],
        init: Number,
        keepdim: bool = False,
    ) -> Tensor:
        """Combines the elements along dimensions; sums and products of half floats in f32."""
        if not over:
            return x
        computed = self.widened(x.dtype) if op_class in (hlo.AddOp, hlo.MulOp) else x.dtype
        kept = [size for axis, size in enumerate(x.sizes) if axis not in over]
        start = self.splat(init, (), computed)
        reduced = self.op(
            hlo.ReduceOp,
            [self.cast(x, computed), start],
            kept,
            computed,
            {"dimensions": hlo.i64_array(over)},
            [hlo.combiner(op_class, self.element_type(computed), self.location)],
        )
        if keepdim:
            sizes = [1 if axis in over else size for axis, size in enumerate(x.sizes)]
            reduced = self.reshape(reduced, sizes)
        return self.cast(reduced, x.dtype)

    def window_properties(
        self,
        window: Sequence[int],
        strides: Sequence[int] | None,
        dilations: Sequence[int] | None,
        padding: Sequence[tuple[int, int]] | None,
    ) -> dict[str, Attribute]:
        """The properties of ``reduce_window``."""
        properties: dict[str, Attribute] = {"window_dimensions": hlo.i64_array(window)}
        if strides is not None and set(strides) != {1}:
            properties["window_strides"] = hlo.i64_array(strides)
        if dilations is not None and set(dilations) != {1}:
            properties["window_dilations"] = hlo.i64_array(dilations)
        if padding is not None and any(pair != (0, 0) for pair in padding):
            properties["padding"] = hlo.padding_attr(padding)
        return properties

    def reduce_window(
        self,
        op_class: type[Operation],
        x: Tensor,
        init: Number,
        window: Sequence[int],
        *,
        sizes: Sequence[KnownSize],
        strides: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        padding: Sequence[tuple[int, int]] | None = None,
    ) -> Tensor:
        """Combines the elements of each window; sums of half floats in f32."""
        computed = self.widened(x.dtype) if op_class is hlo.AddOp else x.dtype
        result = self.op(
            hlo.ReduceWindowOp,
            [self.cast(x, computed), self.splat(init, (), computed)],
            sizes,
            computed,
            self.window_properties(window, strides, dilations, padding),
            [hlo.combiner(op_class, self.element_type(computed), self.location)],
        )
        return self.cast(result, x.dtype)

    def dot(self, a: Tensor, b: Tensor, contracting: tuple[int, int], batching: int = 0) -> Tensor:
        """``dot_general`` over one dimension of each; the first ``batching`` dimensions are paired."""
        left, right = contracting
        sizes = [
            *a.sizes[:batching],
            *(s for i, s in enumerate(a.sizes) if i >= batching and i != left),
            *(s for i, s in enumerate(b.sizes) if i >= batching and i != right),
        ]
        numbers = hlo.DotDimensionNumbersAttr(
            lhs_batching_dimensions=range(batching),
            rhs_batching_dimensions=range(batching),
            lhs_contracting_dimensions=[left],
            rhs_contracting_dimensions=[right],
        )
        return self.op(hlo.DotGeneralOp, [a, b], sizes, a.dtype, {"dot_dimension_numbers": numbers})

    # shapes

    def broadcast_to(self, x: Tensor, sizes: Sequence[KnownSize]) -> Tensor:
        if x.sizes == tuple(sizes):
            return x
        return self.broadcast_in_dim(x, sizes, range(len(sizes) - x.rank, len(sizes)))

    def broadcast_in_dim(
        self, x: Tensor, sizes: Sequence[KnownSize], places: Sequence[int]
    ) -> Tensor:
        """Dimension ``i`` of ``x`` becomes dimension ``places[i]``; sizes of 1 and the others are repeated."""
        properties: dict[str, Attribute] = {"broadcast_dimensions": hlo.i64_array(places)}
        if all(isinstance(size, int) for size in (*sizes, *x.sizes)):
            return self.op(hlo.BroadcastInDimOp, [x], sizes, x.dtype, properties)
        expanding = [i for i, size in enumerate(x.sizes) if size != sizes[places[i]]]
        kept = [i for i in range(x.rank) if i not in expanding]
        properties["known_expanding_dimensions"] = hlo.i64_array(expanding)
        properties["known_nonexpanding_dimensions"] = hlo.i64_array(kept)
        operands = [x, self.shape(sizes)]
        return self.op(hlo.DynamicBroadcastInDimOp, operands, sizes, x.dtype, properties)

    def reshape(self, x: Tensor, sizes: Sequence[KnownSize]) -> Tensor:
        if x.sizes == tuple(sizes):
            return x
        if all(isinstance(size, int) for size in (*x.sizes, *sizes)):
            return self.op(hlo.ReshapeOp, [x], sizes, x.dtype)
        return self.op(hlo.DynamicReshapeOp, [x, self.shape(sizes)], sizes, x.dtype)

    def transpose(self, x: Tensor, permutation: Sequence[int]) -> Tensor:
        if list(permutation) == list(range(x.rank)):
            return x
        sizes = [x.sizes[p] for p in permutation]
        properties = {"permutation": hlo.i64_array(permutation)}
        return self.op(hlo.TransposeOp, [x], sizes, x.dtype, properties)

    def slice(
        self,
        x: Tensor,
        starts: Sequence[KnownSize],
        sizes: Sequence[KnownSize],
        steps: Sequence[int],
    ) -> Tensor:
        if x.sizes == tuple(sizes) and all(step == 1 for step in steps):
            return x
        limits = [
            dims.add(start, dims.mul(dims.sub(size, 1), step), 1) if size != 0 else start
            for start, size, step in zip(starts, sizes, steps, strict=True)
        ]
        bounds = (*x.sizes, *starts, *limits)
        if all(isinstance(bound, int) for bound in bounds):
            properties = {
                "start_indices": hlo.i64_array(starts),  # type: ignore[arg-type]
                "limit_indices": hlo.i64_array(limits),  # type: ignore[arg-type]
                "strides": hlo.i64_array(steps),
            }
            return self.op(hlo.SliceOp, [x], sizes, x.dtype, properties)
        operands = [x, self.shape(starts), self.shape(limits), self.shape(steps)]
        return self.op(hlo.RealDynamicSliceOp, operands, sizes, x.dtype)

    def concatenate(self, xs: Sequence[Tensor], dim: int) -> Tensor:
        if len(xs) == 1:
            return xs[0]
        sizes = list(xs[0].sizes)
        sizes[dim] = dims.add(*(x.sizes[dim] for x in xs))
        properties = {"dimension": hlo.i64_attr(dim)}
        return self.op(hlo.ConcatenateOp, list(xs), sizes, xs[0].dtype, properties)

    def pad(
        self, x: Tensor, low: Sequence[KnownSize], high: Sequence[KnownSize], value: Number
    ) -> Tensor:
        sizes = [dims.add(*parts) for parts in zip(low, x.sizes, high, strict=True)]
        fill = self.splat(value, (), x.dtype)
        if all(isinstance(amount, int) for amount in (*low, *high)):
            properties = {
                "edge_padding_low": hlo.i64_array(low),  # type: ignore[arg-type]
                "edge_padding_high": hlo.i64_array(high),  # type: ignore[arg-type]
                "interior_padding": hlo.i64_array([0] * x.rank),
            }
            return self.op(hlo.PadOp, [x, fill], sizes, x.dtype, properties)
        operands = [x, fill, self.shape(low), self.shape(high), self.shape([0] * x.rank)]
        return self.op(hlo.DynamicPadOp, operands, sizes, x.dtype)

    def iota(self, sizes: Sequence[KnownSize], dim: int, dtype: Attribute) -> Tensor:
        properties = {"iota_dimension": hlo.i64_attr(dim)}
        if all(isinstance(size, int) for size in sizes):
            return self.op(hlo.IotaOp, [], sizes, dtype, properties)
        return self.op(hlo.DynamicIotaOp, [self.shape(sizes)], sizes, dtype, properties)


def _splat_attribute(
    value: Number, type: TensorType[Attribute], dtype: Attribute
) -> DenseIntOrFPElementsAttr:
    """One element for all; a number is converted as PyTorch converts it."""
    element: object = value
    if isinstance(dtype, ComplexType):
        number = complex(value)
        element = (number.real, number.imag)
    elif promotion.is_float(dtype):
        element = float(value)  # type: ignore[arg-type]
    elif promotion.is_bool(dtype):
        element = int(bool(value))
    else:
        element = int(value)  # type: ignore[arg-type]
    return DenseIntOrFPElementsAttr.from_list(type, [element])  # type: ignore[call-overload, no-any-return]
