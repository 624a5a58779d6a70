"""``tosa-extrema-to-linalg``: maxima and minima of floats in TOSA as the loops that MLIR takes them for, begun right.

MLIR's TosaToLinalg, and IREE 3.13 with it, begins a maximum with the lowest finite number instead of minus infinity,
and pads the image of a pool with it: the largest of elements that are all minus infinity is -3.4e38. The loops here
are the same, and so is their speed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    AnyFloat,
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    ModuleOp,
    TensorType,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineMap

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects import arith_ext, linalg, tosa
from torch2mlir.dialects.linalg.structured import SEGMENTS, segment_sizes
from torch2mlir.dialects.tensors import element_of, integer, integers, shape_of
from torch2mlir.dialects.tosa.attributes import NanMode, NanModeAttr
from torch2mlir.engine_passes.beside import INDEX, Beside

_PROPAGATE = NanModeAttr(NanMode.PROPAGATE)
_NO_OVERFLOW: dict[str, Attribute] = {"overflowFlags": arith.IntegerOverflowAttr("none")}
_REDUCTIONS: dict[type[Operation], tuple[float, type[Operation]]] = {
    tosa.ReduceMaxOp: (-math.inf, arith.MaximumfOp),
    tosa.ReduceMinOp: (math.inf, arith.MinimumfOp),
}
"""Reduction -> what it begins with, and what combines two elements."""


class TosaExtremaToLinalgPass(PassForOps):
    """See the module's docstring."""

    name = "tosa-extrema-to-linalg"
    looks_for = frozenset(op.name for op in (*_REDUCTIONS, tosa.MaxPool2DOp))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in list(op.walk()):
            if type(each) in _REDUCTIONS and _is_of_floats(each):
                InPlaceOfTosa(each).reduction(*_REDUCTIONS[type(each)])
            elif isinstance(each, tosa.MaxPool2DOp) and _is_of_floats(each):
                InPlaceOfTosa(each).pool(each)


def _is_of_floats(op: Operation) -> bool:
    type = op.operands[0].type
    # another mode for NaN is another reduction
    return (
        isinstance(type, TensorType)
        and isinstance(type.element_type, AnyFloat)
        and op.properties.get("nan_mode", _PROPAGATE) == _PROPAGATE
    )


class InPlaceOfTosa(Beside):
    """The ops that come in an op's place."""

    def size_of(self, x: SSAValue, dim: int) -> SSAValue:
        return self.value(tensor.DimOp, [x, self.index(dim)], INDEX)

    def filled(self, type: TensorType, sizes: Sequence[SSAValue], number: SSAValue) -> SSAValue:
        empty = self.value(tensor.EmptyOp, sizes, type)
        return self.value(linalg.FillOp, [number, empty], type, {SEGMENTS: segment_sizes(1, 1)})

    def finish(self, result: SSAValue) -> None:
        type = self.op.results[0].type
        if result.type != type:
            result = self.value(tensor.CastOp, [result], type)
        self.replace(result)

    def reduction(self, begin: float, combine: type[Operation]) -> linalg.GenericOp:
        """A loop nest whose result has size 1 along the axis, from what it begins with and what combines two floats."""
        op = self.op
        x, axis = op.operands[0], integer(op.properties["axis"])
        element, sizes = element_of(x), list(shape_of(x))
        assert isinstance(element, AnyFloat)
        sizes[axis] = 1
        dynamic = [self.size_of(x, d) for d, size in enumerate(sizes) if size == DYNAMIC_INDEX]
        start = self.constant(FloatAttr(begin, element))
        init = self.filled(TensorType(element, sizes), dynamic, start)
        block = Block(arg_types=[element, element])
        combined = combine.create(
            operands=block.args,
            result_types=[element],
            properties={"fastmath": arith_ext.NO_FLAGS},
            location=op.location,
        )
        block.add_ops([combined, linalg.YieldOp(combined.results[0])])
        loops = range(len(sizes))
        kinds = ArrayAttr([linalg.REDUCTION if d == axis else linalg.PARALLEL for d in loops])
        whole = AffineMap.identity(len(sizes))
        places = [AffineConstantExpr(0) if d == axis else AffineDimExpr(d) for d in loops]
        maps = [AffineMapAttr(whole), AffineMapAttr(AffineMap(len(sizes), 0, tuple(places)))]
        nest = linalg.GenericOp.of([x], [init], block, ArrayAttr(maps), kinds)
        self.finish(self.insert(nest).results[0])
        return nest

    def pool(self, op: Operation) -> None:
        """The named pool of an image padded by minus infinity."""
        kernel, stride, pad = (
            list(integers(op.properties[name])) for name in ("kernel", "stride", "pad")
        )
        type = op.results[0].type
        assert isinstance(type, TensorType)
        lowest = self.constant(FloatAttr(-math.inf, type.element_type))
        image = self._padded(op.operands[0], pad, lowest)
        shape = type.get_shape()
        sizes = [
            self.size_of(image, dim) if dim in (0, 3) else self._places(image, dim, kernel, stride)
            for dim in range(4)
            if shape[dim] == DYNAMIC_INDEX
        ]
        init = self.filled(type, sizes, lowest)
        window = self.value(tensor.EmptyOp, [], TensorType(type.element_type, kernel))
        properties: dict[str, Attribute] = {
            SEGMENTS: segment_sizes(2, 1),
            "strides": _vector(stride),
            "dilations": _vector([1, 1]),
        }
        self.finish(self.value(linalg.PoolingNhwcMaxOp, [image, window, init], type, properties))

    def _padded(self, image: SSAValue, pad: Sequence[int], fill: SSAValue) -> SSAValue:
        """Rows above and below, columns left and right."""
        if not any(pad):
            return image
        top, bottom, left, right = pad
        low, high = [0, top, left, 0], [0, bottom, right, 0]
        shape = [
            size if size == DYNAMIC_INDEX else size + before + after
            for size, before, after in zip(shape_of(image), low, high, strict=True)
        ]
        block = Block(arg_types=[INDEX] * 4)
        block.add_op(tensor.YieldOp(fill))
        properties: dict[str, Attribute] = {
            "static_low": DenseArrayBase.from_list(i64, low),
            "static_high": DenseArrayBase.from_list(i64, high),
            SEGMENTS: DenseArrayBase.from_list(i32, [1, 0, 0]),
        }
        type = TensorType(element_of(image), shape)
        return self.value(tensor.PadOp, [image], type, properties, [Region(block)])

    def _places(
        self, image: SSAValue, dim: int, kernel: Sequence[int], stride: Sequence[int]
    ) -> SSAValue:
        """How often a window fits: ``(size - kernel) // stride + 1``."""
        window, step = (self.index(values[dim - 1]) for values in (kernel, stride))
        room = self.value(arith.SubiOp, [self.size_of(image, dim), window], INDEX, _NO_OVERFLOW)
        steps = self.value(arith.DivUIOp, [room, step], INDEX)
        return self.value(arith.AddiOp, [steps, self.index(1)], INDEX, _NO_OVERFLOW)


def _vector(numbers: Sequence[int]) -> DenseIntOrFPElementsAttr:
    return DenseIntOrFPElementsAttr.from_list(TensorType(i64, [len(numbers)]), numbers)
