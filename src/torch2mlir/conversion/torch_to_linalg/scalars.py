"""Scalar code: what the bodies of linalg.generic are written in.

``s("add", x, y)`` picks the op for the element type; numbers among the operands become constants of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from xdsl.dialects import arith, complex, tensor
from xdsl.dialects.builtin import (
    ArrayAttr,
    ComplexType,
    IndexType,
    IntegerAttr,
    IntegerType,
    f32,
    i1,
    i64,
)
from xdsl.ir import Attribute, SSAValue

from torch2mlir.contract import element_types
from torch2mlir.conversion.lowering import Number, Scalar
from torch2mlir.conversion.tensor_dialect import INDEX as INDEX
from torch2mlir.conversion.tensor_dialect import number_attribute
from torch2mlir.dialects import arith_ext, linalg
from torch2mlir.dialects.linalg.words import WORDS, OpClass

if TYPE_CHECKING:
    from torch2mlir.conversion.lowering import Tensor
    from torch2mlir.conversion.torch_to_linalg.lowering import LinalgLowering

_FLOAT_PREDICATES = {"eq": 1, "gt": 2, "ge": 3, "lt": 4, "le": 5, "ord": 7, "ugt": 9, "ult": 11}
_FLOAT_PREDICATES |= {"ne": 13, "uno": 14}
_INTEGER_PREDICATES = {"eq": 0, "ne": 1, "lt": 2, "le": 3, "gt": 4, "ge": 5}
_UNSIGNED_OFFSET = 4
"""From a signed ordering's predicate to the unsigned one."""


def is_unsigned(dtype: Attribute) -> bool:
    """Whether a builtin or torch integer type is compared and extended without sign."""
    return not isinstance(dtype, IndexType) and element_types.is_unsigned(dtype)


@cache
def default_properties(op_class: OpClass) -> dict[str, Attribute]:
    """The flags an op has when nobody asks for others."""
    definitions = op_class.get_irdl_definition().properties  # type: ignore[attr-defined]
    defaults = {name: d.default_value for name, d in definitions.items()}
    return {name: value for name, value in defaults.items() if value is not None}


class Scalars:
    """Emits scalar ops where the lowering is emitting; elements carry their torch dtype (or ``index``)."""

    def __init__(self, lower: LinalgLowering) -> None:
        self.lower = lower

    def __call__(self, word: str, *operands: Scalar | Number) -> Scalar:
        """An op on operands of one type, by its word."""
        dtype = next(o.dtype for o in operands if isinstance(o, Scalar))
        elements = [o if isinstance(o, Scalar) else self.constant(o, dtype) for o in operands]
        return self._emit(self._op(word, dtype), elements, dtype)

    def _op(self, word: str, dtype: Attribute) -> OpClass:
        kinds = WORDS[word]
        if element_types.is_complex(dtype):
            op_class = kinds.on_complex
        elif element_types.is_float(dtype):
            op_class = kinds.on_floats
        else:
            op_class = kinds.on_unsigned if is_unsigned(dtype) else kinds.on_signed
        return op_class or self.lower.fail(f"'{word}' is not defined on elements of type {dtype}")

    def _emit(
        self,
        op_class: OpClass,
        operands: Sequence[Scalar],
        dtype: Attribute,
        properties: dict[str, Attribute] | None = None,
    ) -> Scalar:
        """An op with one result of a torch type."""
        type = self.lower.element_type(dtype)
        defaults = default_properties(op_class)
        properties = {**defaults, **properties} if properties else defaults
        values = [o.value for o in operands]
        return Scalar(self.lower.emit(op_class, values, [type], properties).results[0], dtype)

    # constants

    def constant(self, value: Number, dtype: Attribute) -> Scalar:
        """A number, converted as PyTorch converts it; emitted at the entry, once."""
        type = self.lower.element_type(dtype)
        element = int(value) if dtype == INDEX else self.lower.element(value, dtype)  # type: ignore[arg-type]
        attribute = number_attribute(element, type)
        is_complex = isinstance(attribute, ArrayAttr)
        op_class: OpClass = complex.ConstantOp if is_complex else arith_ext.ConstantOp
        constant = self.lower.at_entry(
            ("constant", attribute),
            lambda: op_class.create(result_types=[type], properties={"value": attribute}),
        )
        return Scalar(constant, dtype)

    # choosing

    def compare(self, predicate: str, x: Scalar, y: Scalar | Number) -> Scalar:
        """``eq ne lt le gt ge``; on floats also ``ord uno ugt ult``. With a NaN only ``ne`` and the last three hold."""
        if not isinstance(y, Scalar):
            y = self.constant(y, x.dtype)
        if element_types.is_complex(x.dtype):
            kinds = {"eq": complex.EqualOp, "ne": complex.NotEqualOp}
            return self._emit(kinds[predicate], [x, y], i1)
        if element_types.is_float(x.dtype):
            number = IntegerAttr(_FLOAT_PREDICATES[predicate], i64)
            return self._emit(arith.CmpfOp, [x, y], i1, {"predicate": number})
        code = _INTEGER_PREDICATES[predicate]
        if is_unsigned(x.dtype) and code > 1:
            code += _UNSIGNED_OFFSET
        return self._emit(arith.CmpiOp, [x, y], i1, {"predicate": IntegerAttr(code, i64)})

    def select(self, condition: Scalar, x: Scalar | Number, y: Scalar | Number) -> Scalar:
        """``x`` where the condition holds, else ``y``; at least one is no number."""
        dtype = next(o.dtype for o in (x, y) if isinstance(o, Scalar))
        branches = [o if isinstance(o, Scalar) else self.constant(o, dtype) for o in (x, y)]
        return self._emit(arith.SelectOp, [condition, *branches], dtype)

    def not_(self, x: Scalar) -> Scalar:
        """The opposite of a boolean."""
        return self("xor", x, True)

    def is_nan(self, x: Scalar) -> Scalar:
        """Whether a float is NaN."""
        return self.compare("uno", x, x)

    # tensors and loops

    def index(self, loop: int) -> Scalar:
        """The iteration number of a loop of the surrounding linalg.generic."""
        properties: dict[str, Attribute] = {"dim": IntegerAttr(loop, i64)}
        return self._emit(linalg.IndexOp, [], INDEX, properties)

    def extract(self, source: Tensor, indices: Sequence[Scalar]) -> Scalar:
        """One element of a tensor; of a slice with steps, one of what that is taken from.

        IREE leaves an i64 beside an index in the code that looks up elements of a slice with steps.
        """
        type = self.lower.element_type(source.dtype)
        value, indices = self._before_steps(source.value, indices)
        operands: list[SSAValue] = [value, *(i.value for i in indices)]
        element = self.lower.emit(tensor.ExtractOp, operands, [type]).results[0]
        return Scalar(element, source.dtype)

    def _before_steps(
        self, value: SSAValue, indices: Sequence[Scalar]
    ) -> tuple[SSAValue, Sequence[Scalar]]:
        """A slice at constant places, of steps other than 1, as its source and the places in that."""
        op = value.owner
        if not isinstance(op, tensor.ExtractSliceOp):
            return value, indices
        starts, steps = op.static_offsets.get_values(), op.static_strides.get_values()
        drops_dimensions = len(starts) != len(indices)
        if (
            drops_dimensions
            or all(step == 1 for step in steps)
            or any(number < 0 for number in (*starts, *steps))
        ):
            return value, indices
        places = [
            self("add", self("mul", place, int(step)), int(start))
            for place, start, step in zip(indices, starts, steps, strict=True)
        ]
        return op.source, places

    # conversion

    def cast(self, x: Scalar, dtype: Attribute) -> Scalar:
        """As ``Tensor.to``: float to int truncates, anything to bool is ``!= 0``, complex to real drops the rest."""
        source = x.dtype
        if source == dtype:
            return x
        if element_types.is_bool(dtype):
            return self.compare("ne", x, 0)
        if isinstance(source, IndexType):
            return self.cast(self._emit(arith.IndexCastOp, [x], element_types.si64), dtype)
        if isinstance(dtype, IndexType):
            return self._emit(arith.IndexCastOp, [self.cast(x, element_types.si64)], INDEX)
        if isinstance(source, ComplexType):
            return self._from_complex(x, source, dtype)
        if isinstance(dtype, ComplexType):
            part = dtype.element_type
            return self.create_complex(self.cast(x, part), self.constant(0, part), dtype)
        if element_types.is_float(source) and element_types.is_float(dtype):
            return self._float_to_float(x, dtype)
        if element_types.is_float(source) and element_types.is_integer(dtype):
            return self._float_to_int(x, dtype)
        if element_types.is_float(dtype):
            converts = arith.UIToFPOp if is_unsigned(source) else arith.SIToFPOp
            return self._emit(converts, [x], dtype)
        return self._int_to_int(x, dtype)

    def bits(self, x: Scalar, dtype: Attribute) -> Scalar:
        """The bits of a number as a number of another type of the same width."""
        if self.lower.element_type(x.dtype) == self.lower.element_type(dtype):
            return Scalar(x.value, dtype)
        return self._emit(arith.BitcastOp, [x], dtype)

    def create_complex(self, real: Scalar, imaginary: Scalar, dtype: Attribute) -> Scalar:
        """A complex number of its parts."""
        return self._emit(complex.CreateOp, [real, imaginary], dtype)

    def real(self, x: Scalar) -> Scalar:
        """The real part of a complex number."""
        return self._emit(complex.ReOp, [x], element_types.part_of(x.dtype))

    def imaginary(self, x: Scalar) -> Scalar:
        """The imaginary part of a complex number."""
        return self._emit(complex.ImOp, [x], element_types.part_of(x.dtype))

    def parts(self, x: Scalar) -> tuple[Scalar, Scalar]:
        """The real and the imaginary part of a complex number."""
        return self.real(x), self.imaginary(x)

    def magnitude(self, x: Scalar) -> Scalar:
        """The absolute value of a complex number."""
        return self._emit(complex.AbsOp, [x], element_types.part_of(x.dtype))

    def _from_complex(self, x: Scalar, source: ComplexType, dtype: Attribute) -> Scalar:
        if not isinstance(dtype, ComplexType):
            return self.cast(self.real(x), dtype)
        real, imaginary = self.parts(x)
        part = dtype.element_type
        return self.create_complex(self.cast(real, part), self.cast(imaginary, part), dtype)

    def _float_to_float(self, x: Scalar, dtype: Attribute) -> Scalar:
        source_width, width = element_types.bit_width(x.dtype), element_types.bit_width(dtype)
        if source_width == width:  # f16 and bf16
            return self.cast(self.cast(x, f32), dtype)
        return self._emit(arith.ExtFOp if width > source_width else arith.TruncFOp, [x], dtype)

    def _float_to_int(self, x: Scalar, dtype: IntegerType) -> Scalar:
        whole = self._emit(arith.FPToSIOp, [x], element_types.whole(dtype))
        return self.cast(whole, dtype)

    def _int_to_int(self, x: Scalar, dtype: Attribute) -> Scalar:
        source_width, width = element_types.bit_width(x.dtype), element_types.bit_width(dtype)
        if source_width == width:
            return Scalar(x.value, dtype)
        if width < source_width:
            return self._emit(arith_ext.TruncIOp, [x], dtype)
        return self._emit(arith.ExtUIOp if is_unsigned(x.dtype) else arith.ExtSIOp, [x], dtype)


def addition(s: Scalars, x: Scalar, y: Scalar) -> Scalar:
    """``x + y``; of booleans, whether one of them holds."""
    return s("or" if element_types.is_bool(x.dtype) else "add", x, y)


def combining(word: str) -> Callable[[Scalars, Scalar, Scalar], Scalar]:
    """What a word makes of two elements, booleans included."""
    return addition if word == "add" else two(word)


def two(word: str) -> Callable[[Scalars, Scalar, Scalar], Scalar]:
    """A function of two operands that is one op."""
    return lambda s, x, y: s(word, x, y)
