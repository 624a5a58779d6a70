"""Types of TorchScript as types of the torch dialect."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute

from torch2mlir.dialects.torch import types as t
from torch2mlir.errors import CaptureError
from torch2mlir.frontends import dtypes

_SIMPLE: dict[str, Attribute] = {
    "IntType": t.int_type,
    "SymIntType": t.int_type,
    "ScalarTypeType": t.int_type,
    "LayoutType": t.int_type,
    "MemoryFormatType": t.int_type,
    "QSchemeType": t.int_type,
    "FloatType": t.float_type,
    "BoolType": t.bool_type,
    "NumberType": t.number_type,
    "ComplexType": t.number_type,
    "StringType": t.str_type,
    "NoneType": t.none_type,
    "DeviceObjType": t.device_type,
    "GeneratorType": t.generator_type,
    "AnyType": t.AnyType(),
}
"""Kind of a TorchScript type -> what it always is."""

_PACKED_PARAMETERS = "__torch__.torch.classes.quantized.LinearPackedParamsBase"


class TypeImporter:
    """Makes the dialect's types of TorchScript's.

    Args:
        ignore_traced_shapes: forget the ranks, sizes and dtypes that tracing has observed.
        keeps_sizes: whether the sizes are kept otherwise.
    """

    def __init__(self, ignore_traced_shapes: bool = False, keeps_sizes: bool = True) -> None:
        self._ignore_traced_shapes = ignore_traced_shapes
        self._keeps_sizes = keeps_sizes

    def of(self, type: Any) -> Attribute:
        """The dialect's type of a TorchScript type.

        Tensors have reference semantics; what tracing has observed of them is in the type.

        Raises:
            CaptureError: the dialect has no such type.
        """
        kind = type.kind()
        match kind:
            case "TensorType":
                return self._tensor(type)
            case "ListType":
                return t.ListType(self.of(type.getElementType()))
            case "OptionalType":
                return t.OptionalType(self.of(type.getElementType()))
            case "TupleType":
                return t.TupleType(ArrayAttr([self.of(member) for member in type.elements()]))
            case "UnionType":
                return t.UnionType(ArrayAttr([self.of(member) for member in type.containedTypes()]))
            case "DictType":
                return t.DictType(self.of(type.getKeyType()), self.of(type.getValueType()))
            case "ClassType" if type.qualified_name() == _PACKED_PARAMETERS:
                return t.LinearParamsType()
            case "ClassType":
                return t.NnModuleType(StringAttr(type.qualified_name()))
        if kind in _SIMPLE:
            return _SIMPLE[kind]
        raise CaptureError(
            f"the TorchScript type '{type.annotation_str}' has no counterpart in the torch dialect",
            hint=_HINTS.get(kind, "keep values of this type out of the compiled methods"),
        )

    def of_computed(self, type: Any) -> Attribute:
        """The type of a value that a graph computes: without the sizes that tracing has observed.

        They may follow from elements, and are others at another call; those of inputs are what is compiled for.
        """
        return TypeImporter(self._ignore_traced_shapes, keeps_sizes=False).of(type)

    def _tensor(self, type: Any) -> t.NonValueTensorType:
        if self._ignore_traced_shapes:
            return t.NonValueTensorType.of(None, None)
        sizes, dtype = type.varyingSizes(), type.dtype()
        if sizes is not None and not self._keeps_sizes:
            sizes = [None] * len(sizes)
        return t.NonValueTensorType.of(
            None if sizes is None else tuple(sizes),
            None if dtype is None else dtypes.element_type(dtype),
        )


_HINTS = {
    "InterfaceType": "call the module by its own class; an interface can be any of several",
    "EnumType": "use an int in place of the enumeration",
    "FutureType": "call the function instead of forking it",
}
