"""ONNX's words for the shared vocabulary.

Sizes are computed as ``tensor<1xi64>``, what ``Shape`` gives of one dimension and shapes are concatenated from. Ops on
elements broadcast by ONNX's own rule, which is PyTorch's, so that nothing is expanded that an op can broadcast itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    StringAttr,
    TensorType,
    UnitAttr,
    f32,
    i1,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import si64
from torch2mlir.conversion.lowering import (
    Lowering,
    Number,
    Operand,
    ResultType,
    Scalar,
    Tensor,
    joint_sizes,
)
from torch2mlir.conversion.registry import lowers as register
from torch2mlir.conversion.torch_to_onnx.words import COMPARISONS, IN_HALVES, OnnxWords, ui8
from torch2mlir.dialects import onnx
from torch2mlir.dialects.onnx.model import SIZES_FROM_DATA
from torch2mlir.dialects.placing import end_of
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import Dim, KnownSize, Sizes, is_static
from torch2mlir.dialects.weights import dense_elements

lowers = partial(register, "onnx")

_SIZE = TensorType(i64, [1])
_SIZE_ARITHMETIC = {"add": "Add", "mul": "Mul", "max": "Max", "min": "Min", "mod": "Mod"}

Code = str | Callable[..., Tensor]
"""The name of an operator, or a formula ``code(lower, *tensors)`` on tensors that broadcast together."""
Input = Tensor | SSAValue | None


class OnnxLowering(Lowering):
    """Builds ONNX."""

    target = "onnx"
    keep_unsigned = True
    branch_ops = (onnx.op_class("If"), onnx.YieldOp)
    constant_op = onnx.op_class("Constant")

    def __init__(self) -> None:
        super().__init__()
        self.words = OnnxWords(self)

    def name_boundary(
        self, function: FuncOp, source: Block, type_of: Callable[[Attribute], ResultType]
    ) -> None:
        """Writes down the names of arguments, and of the dimensions that vary, and whether elements decide others."""
        inputs = [type_of(type) for type in source.arg_types]
        outputs = [type_of(type) for type in end_of(source).operand_types]
        function.arg_attrs = dims_attributes(inputs, [a.name_hint for a in function.args])
        function.res_attrs = dims_attributes(outputs, [None] * len(outputs))
        if self.from_data:
            function.attributes[SIZES_FROM_DATA] = UnitAttr()

    def element_type(self, dtype: Attribute) -> Attribute:
        """As for other dialects; complex numbers are refused."""
        if element_types.is_complex(dtype):
            self.refuse_complex()
        return super().element_type(dtype)

    # emitting

    def node(
        self,
        name: str,
        *inputs: Input,
        sizes: Sizes,
        dtype: Attribute,
        **attributes: Any,
    ) -> Tensor:
        """An operator with one result; an input that is None is left out."""
        return self.nodes(name, inputs, [ResultType(tuple(sizes), dtype)], **attributes)[0]

    def nodes(
        self,
        name: str,
        inputs: Sequence[Input],
        results: Sequence[ResultType],
        **attributes: Any,
    ) -> list[Tensor]:
        """An operator with several results."""
        given = list(inputs)
        while given and given[-1] is None:
            given.pop()
        op = self.emit(
            onnx.op_class(name),
            [self._input(value) for value in given],
            [self.tensor_type(r.sizes, r.dtype) for r in results],
            onnx.attributes(name, attributes),
        )
        return [Tensor(v, r.sizes, r.dtype) for v, r in zip(op.results, results, strict=True)]

    def _input(self, value: Input) -> SSAValue:
        if value is None:
            make = partial(onnx.NoValueOp.create, result_types=[onnx.NONE])
            return self.at_entry("no value", make)
        return value.value if isinstance(value, Tensor) else value

    def apply(
        self, code: Code, *operands: Operand, dtype: Attribute | None = None, **attributes: Any
    ) -> Tensor:
        """An operator, or a formula, on operands that broadcast together.

        Numbers, and the result unless ``dtype`` is given, have the element type of the first tensor.
        """
        first = next(o for o in operands if isinstance(o, Tensor))
        tensors = [o if isinstance(o, Tensor) else self.splat(o, (), first.dtype) for o in operands]
        if not isinstance(code, str):
            return code(self, *tensors)
        sizes = joint_sizes(tensors)
        return self.node(code, *tensors, sizes=sizes, dtype=dtype or first.dtype, **attributes)

    def computed_in(self, word: str, dtype: Attribute) -> Attribute:
        return dtype if word in IN_HALVES else super().computed_in(word, dtype)

    def clamp(self, x: Tensor, low: float, high: float) -> Tensor:
        bounds = [self.splat(bound, (), x.dtype) for bound in (low, high)]
        return self.node("Clip", x, *bounds, sizes=x.sizes, dtype=x.dtype)

    def bits(self, x: Tensor, dtype: Attribute) -> Tensor:
        if x.dtype == dtype:
            return x
        if not element_types.is_float(x.dtype) and not element_types.is_float(dtype):
            return self.cast(x, dtype)
        return self.node("BitCast", x, sizes=x.sizes, dtype=dtype, to=self.element_type(dtype))

    def elementwise(
        self, code: Code, *operands: Operand, computed: Attribute | None = None
    ) -> Tensor:
        """An operator, or a formula, on operands converted to ``computed``, by default the result's type."""
        out = self.out
        computed = out.dtype if computed is None else computed
        tensors = [self.operand(operand, computed) for operand in operands]
        result = self.apply(code, *tensors)
        return self.broadcast_to(self.cast(result, out.dtype), out.sizes)

    def compare(self, predicate: str, x: Tensor, y: Tensor | Number) -> Tensor:
        if predicate == "ne":
            return self.apply("Not", self.compare("eq", x, y))
        if element_types.is_bool(x.dtype) and predicate != "eq":  # ONNX orders no booleans
            x, y = self.cast(x, ui8), self.operand(y, ui8)
        return self.apply(COMPARISONS[predicate], x, y, dtype=i1)

    def select(
        self, condition: Tensor, on_true: Tensor | Number, on_false: Tensor | Number
    ) -> Tensor:
        first = next(x for x in (on_true, on_false) if isinstance(x, Tensor))
        branches = [self.operand(x, first.dtype) for x in (on_true, on_false)]
        sizes = joint_sizes([condition, *branches])
        return self.node("Where", condition, *branches, sizes=sizes, dtype=first.dtype)

    # sizes

    def vector(self, values: Sequence[int]) -> SSAValue:
        """Integers known when compiling, as a ``tensor<Nxi64>``."""
        type = TensorType(i64, [len(values)])
        return self.at_entry(("vector", tuple(values)), lambda: _constant(type, list(values)))

    def numbers(self, values: Sequence[float]) -> SSAValue:
        """Floats known when compiling, as a ``tensor<Nxf32>``."""
        type = TensorType(f32, [len(values)])
        return self.at_entry(("numbers", tuple(values)), lambda: _constant(type, list(values)))

    def symbol_from_argument(self, argument: SSAValue, dim: int) -> SSAValue:
        return self.at_entry(
            ("dim", argument, dim),
            lambda: onnx.op_class("Shape").create(
                operands=[argument],
                result_types=[_SIZE],
                properties=onnx.attributes("Shape", {"start": dim, "end": dim + 1}),
            ),
        )

    def size_constant(self, size: int) -> SSAValue:
        return self.vector([size])

    def size_op(self, word: str, x: SSAValue, y: SSAValue, natural: bool) -> SSAValue:
        def emit(name: str, *operands: SSAValue) -> SSAValue:
            return self.emit(onnx.op_class(name), operands, [_SIZE]).results[0]

        if word != "floordiv":
            return emit(_SIZE_ARITHMETIC[word], x, y)
        # a division that leaves no rest rounds neither up nor down
        return emit("Div", x if natural else emit("Sub", x, emit("Mod", x, y)), y)

    def shape(self, sizes: Sizes) -> SSAValue:
        """Sizes as a ``tensor<Nxi64>``."""
        if is_static(sizes):
            return self.vector(sizes)
        return self.in_entry(lambda: self._shape(sizes), ("shape", tuple(sizes)))

    def _shape(self, sizes: Sizes) -> SSAValue:
        parts, constant = list[SSAValue](), list[int]()
        for size in (*sizes, None):
            if isinstance(size, int):
                constant.append(size)
                continue
            if constant:
                parts.append(self.vector(constant))
                constant.clear()
            if size is not None:
                parts.append(self.size(size))
        if len(parts) == 1:
            return parts[0]
        properties = onnx.attributes("Concat", {"axis": 0})
        type = TensorType(i64, [len(sizes)])
        return self.emit(onnx.op_class("Concat"), parts, [type], properties).results[0]

    def size_from_tensor(self, count: Tensor) -> SSAValue:
        return self.reshape(count, (1,)).value

    def size_as_scalar(self, size: KnownSize) -> SSAValue:
        if isinstance(size, int):
            return self.splat(size, (), si64).value
        return self.reshape(Tensor(self.size(size), (1,), si64), ()).value

    # constants

    def splat(self, value: Number | Dim | Scalar, sizes: Sizes, dtype: Attribute) -> Tensor:
        if isinstance(value, Scalar):
            return self.broadcast_to(self.cast(Tensor(value.value, (), value.dtype), dtype), sizes)
        if isinstance(value, Dim):
            scalar = Tensor(self.size_as_scalar(value), (), si64)
            return self.broadcast_to(self.cast(scalar, dtype), sizes)
        if sizes:
            return self._full(value, sizes, dtype)
        type = TensorType(self.element_type(dtype), [])
        element = self.element(value, dtype)
        constant = self.at_entry(("splat", type, repr(element)), lambda: _constant(type, [element]))
        return Tensor(constant, (), dtype)

    def _full(self, value: Number, sizes: Sizes, dtype: Attribute) -> Tensor:
        one = TensorType(self.element_type(dtype), [1])
        literal = dense_elements(one, [self.element(value, dtype)])
        return self.node(
            "ConstantOfShape", self.shape(sizes), sizes=sizes, dtype=dtype, value=literal
        )

    # elements

    def cast(self, x: Tensor, dtype: Attribute) -> Tensor:
        if x.dtype == dtype:
            return x
        if element_types.is_complex(x.dtype):
            self.refuse_complex()
        if element_types.is_bool(dtype) and element_types.is_float(x.dtype):
            return self.apply("Not", self.compare("eq", x, 0))  # a NaN is no zero
        if element_types.is_float(x.dtype) and element_types.is_integer(dtype):
            whole = element_types.whole(dtype)
            x = self.node("Cast", x, sizes=x.sizes, dtype=whole, to=self.element_type(whole))
        if x.dtype == dtype:
            return x
        return self.node("Cast", x, sizes=x.sizes, dtype=dtype, to=self.element_type(dtype))

    # shapes

    def broadcast_to(self, x: Tensor, sizes: Sizes) -> Tensor:
        if x.sizes == tuple(sizes):
            return x
        if (1,) * (len(sizes) - x.rank) + x.sizes == tuple(sizes):
            return self.reshape(x, sizes)
        return self.node("Expand", x, self.shape(sizes), sizes=sizes, dtype=x.dtype)

    def spread(self, x: Tensor, sizes: Sizes) -> Tensor:
        """As it is: ONNX's operators repeat by PyTorch's rule, and engines fuse vectors that are added, not planes."""
        return x

    def reshape(self, x: Tensor, sizes: Sizes) -> Tensor:
        if x.sizes == tuple(sizes):
            return x
        kept = [place for place, size in enumerate(sizes) if size != 1]
        if kept and len(kept) < len(sizes) and x.sizes == tuple(sizes[place] for place in kept):
            added = [place for place in range(len(sizes)) if place not in kept]
            axes = self.vector(added)
            return self.node("Unsqueeze", x, axes, sizes=sizes, dtype=x.dtype)
        shape = self._relative_shape(x, sizes)
        if shape is not None:
            return self.node("Reshape", x, self.vector(shape), sizes=sizes, dtype=x.dtype)
        absolute = self.shape(sizes)
        return self.node("Reshape", x, absolute, sizes=sizes, dtype=x.dtype, allowzero=1)

    def _relative_shape(self, x: Tensor, sizes: Sizes) -> list[int] | None:
        """A shape for ``Reshape`` that is known when compiling, where 0, a size that stays, and one -1 can say it."""
        stays = [
            place < x.rank and isinstance(size, Dim) and size == x.sizes[place]
            for place, size in enumerate(sizes)
        ]
        unknown = [
            place for place, size in enumerate(sizes) if isinstance(size, Dim) and not stays[place]
        ]
        # -1 stands for no size where there are no elements: then the others have to be known not to be 0
        inferred = len(unknown) == 1 and not any(stays)
        if 0 in sizes or (unknown and not inferred):
            return None
        return [
            0 if stays[place] else -1 if isinstance(size, Dim) else size
            for place, size in enumerate(sizes)
        ]

    def transpose(self, x: Tensor, permutation: Sequence[int]) -> Tensor:
        if list(permutation) == list(range(x.rank)):
            return x
        sizes = [x.sizes[p] for p in permutation]
        return self.node("Transpose", x, sizes=sizes, dtype=x.dtype, perm=permutation)

    def sliced(self, x: Tensor, starts: Sizes, sizes: Sizes, steps: Sequence[int]) -> Tensor:
        axes = [
            axis
            for axis in range(x.rank)
            if starts[axis] != 0 or sizes[axis] != x.sizes[axis] or steps[axis] != 1
        ]
        ends = [
            dims.add(starts[a], dims.mul(dims.sub(sizes[a], 1), steps[a]), 1)
            if sizes[a] != 0
            else starts[a]
            for a in axes
        ]
        bounds = [self.shape([starts[a] for a in axes]), self.shape(ends), self.vector(axes)]
        if any(steps[a] != 1 for a in axes):
            bounds.append(self.vector([steps[a] for a in axes]))
        return self.node("Slice", x, *bounds, sizes=sizes, dtype=x.dtype)

    def joined(self, xs: Sequence[Tensor], dim: int, sizes: Sizes) -> Tensor:
        return self.node("Concat", *xs, sizes=sizes, dtype=xs[0].dtype, axis=dim)

    def padded(self, x: Tensor, low: Sizes, high: Sizes, value: Number) -> Tensor:
        sizes = [dims.add(*parts) for parts in zip(low, x.sizes, high, strict=True)]
        amounts = self.shape([*low, *high])
        fill = self.splat(value, (), x.dtype)
        return self.node("Pad", x, amounts, fill, sizes=sizes, dtype=x.dtype)

    def reverse(self, x: Tensor, over: Sequence[int]) -> Tensor:
        """A slice of step -1, from the end to before the start."""
        if not over:
            return x
        ones = [-1] * len(over)
        bounds = (ones, [-(2**62)] * len(over), over, ones)
        return self.node("Slice", x, *map(self.vector, bounds), sizes=x.sizes, dtype=x.dtype)

    def repeat(self, x: Tensor, counts: Sizes) -> Tensor:
        x = self.reshape(x, [1] * (len(counts) - x.rank) + list(x.sizes))
        if all(count == 1 for count in counts):
            return x
        sizes = [dims.mul(count, size) for count, size in zip(counts, x.sizes, strict=True)]
        return self.node("Tile", x, self.shape(counts), sizes=sizes, dtype=x.dtype)

    def iota(self, sizes: Sizes, dim: int, dtype: Attribute) -> Tensor:
        def build() -> SSAValue:
            return self._iota(sizes, dim, dtype).value

        value = self.in_entry(build, ("iota", tuple(sizes), dim, dtype))
        return Tensor(value, tuple(sizes), dtype)

    def _iota(self, sizes: Sizes, dim: int, dtype: Attribute) -> Tensor:
        length = Tensor(self.size_as_scalar(sizes[dim]), (), si64)
        ends = (self.splat(0, (), si64), length, self.splat(1, (), si64))
        line = self.node("Range", *ends, sizes=(sizes[dim],), dtype=si64)
        column: list[KnownSize] = [1] * len(sizes)
        column[dim] = sizes[dim]
        return self.broadcast_to(self.reshape(self.cast(line, dtype), column), sizes)


def _constant(type: TensorType[Any], values: Sequence[Any]) -> Operation:
    value = dense_elements(type, values)
    return onnx.op_class("Constant").create(result_types=[type], properties={"value": value})


def dims_attributes(types: Sequence[ResultType], names: Sequence[str | None]) -> Any:
    """``onnx.name`` and ``onnx.dim_params`` (``"0:batch,1:length"``) of arguments or results."""
    rows = []
    for type, name in zip(types, names, strict=True):
        row = dict[str, Attribute]()
        if name is not None:
            row["onnx.name"] = StringAttr(name)
        varying = [f"{i}:{size}" for i, size in enumerate(type.sizes) if isinstance(size, Dim)]
        if varying:
            row["onnx.dim_params"] = StringAttr(",".join(varying))
        rows.append(DictionaryAttr(row))
    return ArrayAttr(rows)
