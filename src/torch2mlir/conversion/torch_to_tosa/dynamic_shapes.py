"""What TOSA has no words for: sizes known only at run time, and f64 at the function's boundary.

A ``!tosa.shape`` must be a constant. ``?`` dimensions are legal in the types of tensors, so elementwise ops, matrix
products, convolutions, reductions, transposes and concatenations of dynamic tensors are TOSA; so is a reshape with one
unknown size. Beyond that the ``tensor``, ``arith`` and ``linalg`` dialects are used, as Torch-MLIR's TOSA pipeline
does, and nowhere but in this file:

- sizes are ``index`` values: ``tensor.dim`` and ``arith``;
- a reshape to several unknown sizes is ``tensor.collapse_shape`` and ``tensor.expand_shape``;
- a slice with bounds that are no constants is ``tensor.extract_slice``;
- repetition to an unknown size is ``linalg.broadcast`` or ``linalg.fill``, counting is a ``linalg.generic``;
- a tensor without elements is ``tensor.empty``;
- Python's floats are f64, which TOSA does not have: ``arith`` and ``math`` compute with and convert such numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, math, tensor
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    Float64Type,
    IntegerAttr,
    TensorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from torch2mlir.contract.element_types import is_float
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.tensor_dialect import INDEX, TensorDialect
from torch2mlir.dialects import arith_ext, linalg, tosa
from torch2mlir.dialects.linalg.structured import (
    SEGMENTS,
    dims_map,
    iterator_types,
    segment_sizes,
)
from torch2mlir.dialects.torch.dims import KnownSize, Sizes

_NUMBERS: dict[type[Operation], type[Operation]] = {
    tosa.AbsOp: math.AbsFOp,
    tosa.AddOp: arith.AddfOp,
    tosa.CeilOp: math.CeilOp,
    tosa.FloorOp: math.FloorOp,
    tosa.MaximumOp: arith.MaximumfOp,
    tosa.MinimumOp: arith.MinimumfOp,
    tosa.MulOp: arith.MulfOp,
    tosa.NegateOp: arith.NegfOp,
    tosa.PowOp: math.PowFOp,
    tosa.ReciprocalOp: arith.DivfOp,
    tosa.RsqrtOp: math.RsqrtOp,
    tosa.SelectOp: arith.SelectOp,
    tosa.SubOp: arith.SubfOp,
}
"""What Python's floats are computed with, in place of TOSA's op."""
_PREDICATES: dict[type[Operation], int] = {
    tosa.EqualOp: 1,
    tosa.GreaterOp: 2,
    tosa.GreaterEqualOp: 3,
}
"""TOSA's comparison -> the ordered predicate of ``arith.cmpf``."""


class DynamicShapes(TensorDialect):
    """The part of the vocabulary that is not TOSA."""

    # sizes

    def size_tensor(self, size: KnownSize, type: Attribute) -> SSAValue:
        """A size as a rank-0 tensor of a builtin integer type, made once."""

        def build() -> SSAValue:
            number = self.emit(arith.IndexCastOp, [self.size(size)], [type]).results[0]
            return self.emit(tensor.FromElementsOp, [number], [TensorType(type, [])]).results[0]

        return self.in_entry(build, ("size tensor", size, type))

    def size_as_scalar(self, size: KnownSize) -> SSAValue:
        return self.size_tensor(size, i64)

    # tensors

    def fill(self, number: Attribute, sizes: Sizes, dtype: Attribute) -> Tensor:
        """A tensor of sizes known at run time with one value, a builtin number, everywhere."""
        value = self.at_entry(("number", number), lambda: arith_ext.ConstantOp.of(number))
        operands = [value, self.empty(sizes, dtype)]
        return self.op(linalg.FillOp, operands, sizes, dtype, {SEGMENTS: segment_sizes(1, 1)})

    def repeat_to(self, x: Tensor, sizes: Sizes) -> Tensor:
        """Broadcasts where a repeated dimension becomes one of a size known at run time."""
        offset = len(sizes) - x.rank
        added = [
            i
            for i, size in enumerate(sizes)
            if i < offset or (x.sizes[i - offset] == 1 and size != 1)
        ]
        source = self.reshape(x, [size for i, size in enumerate(sizes) if i not in added])
        operands = [source, self.empty(sizes, x.dtype)]
        properties = {"dimensions": DenseArrayBase.from_list(i64, added)}
        return self.op(linalg.BroadcastOp, operands, sizes, x.dtype, properties)

    def count_to(self, size: KnownSize, dtype: Attribute) -> Tensor:
        """``0, 1, 2, ..`` of a length known at run time, i32 or i64.

        IREE 3.13 fuses counting into what repeats the numbers and then computes wrong ones; it does not fuse across
        ``tensor.reshape``.
        """
        type = self.element_type(dtype)
        block = Block(arg_types=[type])
        index = linalg.IndexOp.of(0)
        number = arith.IndexCastOp.create(operands=[index.results[0]], result_types=[type])
        block.add_ops([index, number, linalg.YieldOp.create(operands=[number.results[0]])])
        properties = {
            "indexing_maps": ArrayAttr([dims_map(1, (0,))]),
            "iterator_types": iterator_types(parallel=1),
            SEGMENTS: segment_sizes(0, 1),
        }
        line = self.empty([size], dtype)
        counted = self.op(linalg.GenericOp, [line], [size], dtype, properties, [Region(block)])
        row = self.op(tensor.ReshapeOp, [counted, self._row_shape(size)], [1, size], dtype)
        return self.reshape(row, [size])

    def _row_shape(self, size: KnownSize) -> SSAValue:
        """``[1, size]`` as a tensor, made once."""
        sizes, type = [self.size(1), self.size(size)], TensorType(INDEX, [2])
        build = lambda: self.emit(tensor.FromElementsOp, sizes, [type]).results[0]  # noqa: E731
        return self.in_entry(build, ("row shape", size))

    # f64

    def number_op(self, op_class: type[Operation], operands: Sequence[Tensor]) -> Tensor:
        """An op on f64 numbers, rank-0 tensors."""
        if (predicate := _PREDICATES.get(op_class)) is not None:
            code = {"predicate": IntegerAttr(predicate, i64)}
            return self.op(arith.CmpfOp, operands, (), i1, code)
        named = _NUMBERS.get(op_class)
        if named is None:
            self.fail(
                f"TOSA has no 64-bit floats, and one that is only known at run time is no operand of {op_class.name}"
            )
        if op_class is tosa.ReciprocalOp:
            operands = [self.splat(1.0, (), operands[0].dtype), *operands]
        return self.op(named, operands, (), operands[-1].dtype)

    def convert_f64(self, x: Tensor, dtype: Attribute) -> Tensor:
        """Between f64 and another float type or i64."""
        if is_float(x.dtype) and is_float(dtype):
            narrows = isinstance(x.dtype, Float64Type)
            return self.op(arith.TruncFOp if narrows else arith.ExtFOp, [x], x.sizes, dtype)
        op_class = arith_ext.FPToSIOp if is_float(x.dtype) else arith_ext.SIToFPOp
        return self.op(op_class, [x], x.sizes, dtype)
