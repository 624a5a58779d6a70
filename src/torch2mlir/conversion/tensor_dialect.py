"""What the tensor dialect says, for Linalg-on-Tensors and for what TOSA has no words for.

Sizes are ``index`` values, computed at the function's entry by ``arith``. A reshape collapses groups of dimensions and
expands them again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    ArrayAttr,
    ComplexType,
    DenseArrayBase,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from torch2mlir.conversion.lowering import Lowering, Scalar, Tensor
from torch2mlir.dialects import arith_ext, tensor_ext
from torch2mlir.dialects.linalg.structured import SEGMENTS
from torch2mlir.dialects.tensors import i64_array
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import KnownSize, Sizes

INDEX = IndexType()
_WRAPS: dict[str, Attribute] = {"overflowFlags": arith.IntegerOverflowAttr("none")}
_SIZE_ARITHMETIC: dict[str, tuple[type[Operation], dict[str, Attribute]]] = {
    "add": (arith.AddiOp, _WRAPS),
    "sub": (arith.SubiOp, _WRAPS),
    "mul": (arith.MuliOp, _WRAPS),
    "max": (arith.MaxSIOp, {}),
    "min": (arith.MinSIOp, {}),
    "floordiv": (arith.FloorDivSIOp, {}),
}


def number_attribute(
    element: int | float | tuple[float, float], type: Attribute
) -> IntegerAttr | FloatAttr | ArrayAttr[FloatAttr]:
    """A literal of a builtin element type (see :meth:`Lowering.element`); complex ones are arrays of two."""
    if isinstance(type, ComplexType) and isinstance(element, tuple):
        return ArrayAttr([FloatAttr(part, type.element_type) for part in element])
    if isinstance(type, AnyFloat) and isinstance(element, float):
        return FloatAttr(element, type)
    assert isinstance(type, IntegerType | IndexType) and isinstance(element, int)
    return IntegerAttr(element, type)


class TensorDialect(Lowering):
    """Builds ``tensor`` ops and what they take sizes from."""

    # sizes

    def size_constant(self, size: int) -> SSAValue:
        value = IntegerAttr(size, INDEX)
        return self.at_entry(("constant", value), lambda: arith_ext.ConstantOp.of(value))

    def symbol_from_argument(self, argument: SSAValue, dim: int) -> SSAValue:
        axis = self.size(dim)
        return self.at_entry(
            ("dim", argument, dim),
            lambda: tensor.DimOp.create(operands=[argument, axis], result_types=[INDEX]),
        )

    def size_op(self, word: str, x: SSAValue, y: SSAValue, natural: bool) -> SSAValue:
        if word == "mod":  # of the sign of the divisor: x - floor(x / y) * y
            floor = self.size_op("floordiv", x, y, natural)
            return self.size_op("sub", x, self.size_op("mul", floor, y, natural), natural)
        op_class, properties = _SIZE_ARITHMETIC[word]
        return self.emit(op_class, [x, y], [INDEX], properties).results[0]

    def index(self, size: KnownSize | Scalar) -> SSAValue:
        """A size, or where the dialect has such a number of the program's, as an ``index``."""
        if isinstance(size, Scalar):
            self.fail("a position cannot be a number that the program computes")
        return self.size(size)

    def mixed(self, sizes: Sequence[KnownSize | Scalar]) -> tuple[DenseArrayBase, list[SSAValue]]:
        """Sizes as an array with place holders, and values for these."""
        static = tuple(size if isinstance(size, int) else DYNAMIC_INDEX for size in sizes)
        return i64_array(static), [self.index(s) for s in sizes if not isinstance(s, int)]

    # tensors

    def empty(self, sizes: Sizes, dtype: Attribute) -> Tensor:
        """A destination without contents, one for each type and size."""
        type = self.tensor_type(sizes, dtype)

        def build() -> SSAValue:
            return self.emit(tensor.EmptyOp, self.mixed(sizes)[1], [type]).results[0]

        value = self.in_entry(build, ("empty", tuple(sizes), type))
        return Tensor(value, tuple(sizes), dtype)

    def regrouped(self, x: Tensor, sizes: Sizes) -> Tensor:
        """A reshape of a tensor with elements: groups of dimensions collapsed, and expanded to others."""
        groups = regroup(x.sizes, sizes) if x.sizes and sizes else []
        collapsed = self._collapse(x, [source for source, _ in groups])
        return self._expand(collapsed, [result for _, result in groups], sizes)

    def _collapse(self, x: Tensor, groups: Sequence[range]) -> Tensor:
        """One dimension for each group."""
        if x.rank == len(groups):
            return x
        sizes = [dims.product([x.sizes[i] for i in group]) for group in groups]
        type = _merged(x.value.type, groups)
        properties = {"reassociation": _reassociation(tuple(groups))}
        op = self.emit(tensor.CollapseShapeOp, [x.value], [type], properties)
        return Tensor(op.results[0], tuple(sizes), x.dtype)

    def _expand(self, x: Tensor, groups: Sequence[range], sizes: Sizes) -> Tensor:
        """A group of dimensions for each one."""
        type = self.tensor_type(sizes, x.dtype)
        if len(sizes) == x.rank:
            return Tensor(self.tensor_cast(x.value, type), tuple(sizes), x.dtype)
        source = self.tensor_cast(x.value, _merged(type, groups))
        static, dynamic = self.mixed(sizes)
        properties = {"reassociation": _reassociation(tuple(groups)), "static_output_shape": static}
        op = self.emit(tensor_ext.ExpandShapeOp, [source, *dynamic], [type], properties)
        return Tensor(op.results[0], tuple(sizes), x.dtype)

    def tensor_cast(self, value: SSAValue, type: Attribute) -> SSAValue:
        """The same tensor with more or fewer of its sizes in its type."""
        return value if value.type == type else self.emit(tensor.CastOp, [value], [type]).results[0]

    def extract_slice(
        self,
        x: Tensor,
        starts: Sequence[KnownSize | Scalar],
        sizes: Sizes,
        steps: Sequence[int],
        kept: Sizes,
    ) -> Tensor:
        """A window of a tensor; ``kept`` are its sizes without dimensions of size 1 to be dropped."""
        operands, properties = self._window([x], starts, sizes, steps)
        return self.op(tensor.ExtractSliceOp, operands, kept, x.dtype, properties)

    def insert_slice(
        self,
        x: Tensor,
        into: Tensor,
        starts: Sequence[KnownSize | Scalar],
        sizes: Sizes,
    ) -> Tensor:
        """A tensor with a window, of these sizes and steps of 1, replaced."""
        operands, properties = self._window([x, into], starts, sizes, [1] * into.rank)
        return self.op(tensor.InsertSliceOp, operands, into.sizes, into.dtype, properties)

    def _window(
        self,
        tensors: Sequence[Tensor],
        starts: Sequence[KnownSize | Scalar],
        sizes: Sizes,
        steps: Sequence[int],
    ) -> tuple[list[Tensor | SSAValue], dict[str, Attribute]]:
        """The operands and properties of an op on a window."""
        static_offsets, offsets = self.mixed(starts)
        static_sizes, dynamic = self.mixed(sizes)
        counts = [*[1] * len(tensors), len(offsets), len(dynamic), 0]
        operands: list[Tensor | SSAValue] = [*tensors, *offsets, *dynamic]
        return operands, {
            "static_offsets": static_offsets,
            "static_sizes": static_sizes,
            "static_strides": i64_array(steps),
            SEGMENTS: DenseArrayBase.from_list(i32, counts),
        }


@lru_cache(maxsize=4096)
def _reassociation(groups: tuple[range, ...]) -> Attribute:
    return ArrayAttr([ArrayAttr([IntegerAttr(i, i64) for i in group]) for group in groups])


def _merged(type: Attribute, groups: Sequence[range]) -> TensorType[Attribute]:
    """The type with one dimension for each group; a product with an unknown size is unknown."""
    assert isinstance(type, TensorType)
    parts = [[type.get_shape()[i] for i in group] for group in groups]
    merged = [DYNAMIC_INDEX if DYNAMIC_INDEX in part else prod(part) for part in parts]
    return TensorType(type.element_type, merged)


# how dimensions regroup

Group = tuple[range, range]
"""Consecutive source dimensions and the result dimensions that hold the same elements."""


def regroup(source: Sizes, result: Sizes) -> list[Group]:
    """The finest split of both shapes into consecutive groups with equal products.

    Neither shape has a literal zero, both have at least one dimension. Products are compared as expressions: where
    equality does not show, dimensions stay in one group, which is always right.
    """
    before, after = _prefix_products(source), _prefix_products(result)
    groups, last = list[Group](), (0, 0)
    for i in range(1, len(source)):
        matches = (j for j in range(last[1] + 1, len(result)) if after[j] == before[i])
        j = next(matches, None)
        if j is not None:
            groups.append((range(last[0], i), range(last[1], j)))
            last = (i, j)
    groups.append((range(last[0], len(source)), range(last[1], len(result))))
    return groups


def _prefix_products(sizes: Sizes) -> list[KnownSize]:
    products: list[KnownSize] = [1]
    for size in sizes:
        products.append(dims.mul(products[-1], size))
    return products
