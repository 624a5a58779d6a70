"""What the verifiers of StableHLO ops share: element kinds, shapes up to dynamic dimensions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    ComplexType,
    IntegerType,
    Signedness,
    TensorType,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AttrConstraint
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects.stablehlo.attrs import StructAttr
from torch2mlir.dialects.tensor_rules import require, same_shape
from torch2mlir.dialects.tensors import shape_of as shape_of
from torch2mlir.dialects.tensors import tensor_type as tensor_type

BOOL, SIGNED, UNSIGNED, FLOAT, COMPLEX = "boolean", "signed", "unsigned", "float", "complex"
ELEMENTS: dict[str, tuple[str, ...]] = {
    "any_elements": (BOOL, SIGNED, UNSIGNED, FLOAT, COMPLEX),
    "float_or_complex": (FLOAT, COMPLEX),
    "floats": (FLOAT,),
    "integers": (SIGNED, UNSIGNED),
    "logical": (BOOL, SIGNED, UNSIGNED),
    "numbers": (SIGNED, UNSIGNED, FLOAT, COMPLEX),
    "signed_numbers": (SIGNED, FLOAT, COMPLEX),
}
"""What signatures call the elements of a tensor -> the kinds they may be of."""


def element_kind(element_type: Attribute) -> str | None:
    """Kind of an element type; None for those this dialect does not judge (quantized)."""
    if isinstance(element_type, AnyFloat):
        return FLOAT
    if isinstance(element_type, IntegerType):
        if element_type.width.data == 1:
            return BOOL
        unsigned = element_type.signedness.data == Signedness.UNSIGNED
        return UNSIGNED if unsigned else SIGNED
    return COMPLEX if isinstance(element_type, ComplexType) else None


@dataclass(frozen=True)
class TensorOf(AttrConstraint):
    """A tensor whose elements are of some kinds."""

    kinds: tuple[str, ...]

    def verify(self, attr: Attribute, constraint_context: object) -> None:
        if not isinstance(attr, TensorType):
            raise VerifyException(f"expected a tensor, got {attr}")
        kind = element_kind(attr.element_type)
        expected = " or ".join(sorted(self.kinds))
        message = f"element type {attr.element_type} is {kind}, expected {expected}"
        require(kind is None or kind in self.kinds, message)

    def mapping_type_vars(self, type_var_mapping: object) -> TensorOf:
        return self


def shape_text(shape: Iterable[int]) -> str:
    """``2x?x3``."""
    return "x".join("?" if dim == DYNAMIC_INDEX else str(dim) for dim in shape) or "scalar"


def compatible_types(lhs: Attribute, rhs: Attribute) -> bool:
    """Equal up to dynamic dimensions."""
    if isinstance(lhs, TensorType) and isinstance(rhs, TensorType):
        return lhs.element_type == rhs.element_type and same_shape(lhs.get_shape(), rhs.get_shape())
    return lhs == rhs


def require_shape(value: SSAValue, expected: Sequence[int], what: str) -> None:
    """The value has the expected shape, up to dynamic dimensions."""
    shape = shape_of(value)
    if not same_shape(shape, expected):
        raise VerifyException(
            f"{what} has shape {shape_text(shape)}, expected {shape_text(expected)}"
        )


def require_element_type(value: SSAValue, expected: Attribute, what: str) -> None:
    """The element type of the value is the expected one."""
    element_type = tensor_type(value).element_type
    if element_type != expected:
        raise VerifyException(f"{what} has element type {element_type}, expected {expected}")


def require_dims(dims: Sequence[int], rank: int, what: str) -> None:
    """The dimensions are different and within the rank."""
    if len(set(dims)) != len(dims) or any(not 0 <= dim < rank for dim in dims):
        raise VerifyException(f"{what} {list(dims)} must be different and in [0, {rank})")


def require_length(values: Sized, length: int, what: str) -> None:
    """One entry per dimension."""
    if len(values) != length:
        raise VerifyException(f"{what} has {len(values)} entries, expected {length}")


def element_count(shape: Sequence[int]) -> int | None:
    """Number of elements; None for a dynamic shape."""
    return None if DYNAMIC_INDEX in shape else prod(shape)


def indexed_rank(numbers: StructAttr, names: Sequence[str], rank: int, indices_rank: int) -> int:
    """The rank of what is gathered, or of updates that are scattered; the dimension numbers are verified.

    Args:
        numbers: of gather or scatter.
        names: of the window's dimensions, those a window has not, those of batches, and what an index counts in.
        rank: of the tensor at whose positions there are windows.
        indices_rank: of the indices.
    """
    fields = numbers.fields()
    window, dropped, batching, counted = (fields[name] for name in names)
    require_dims([*dropped, *batching], rank, f"{names[1]} and {names[2]}")
    require_dims(counted, rank, names[3])
    require(
        len(window) + len(dropped) + len(batching) == rank,
        f"{names[0]}, {names[1]} and {names[2]} must add up to the rank {rank}",
    )
    at = fields["index_vector_dim"]
    require(0 <= at <= indices_rank, f"index_vector_dim {at} must be in [0, {indices_rank}]")
    result = len(window) + indices_rank - (at < indices_rank)
    require_dims(window, result, names[0])
    return result
