"""What the verifiers of StableHLO ops share: element kinds, shapes up to dynamic dimensions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from math import prod
from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    ComplexType,
    IntegerType,
    Signedness,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects.stablehlo.attrs import StructAttr
from torch2mlir.dialects.tensor_rules import require, same_shape

BOOL, SIGNED, UNSIGNED, FLOAT, COMPLEX = "boolean", "signed", "unsigned", "float", "complex"

Kinds = frozenset[str]
INTEGERS: Kinds = frozenset({SIGNED, UNSIGNED})
LOGICAL: Kinds = frozenset({BOOL, SIGNED, UNSIGNED})
FLOATS: Kinds = frozenset({FLOAT})
FLOAT_OR_COMPLEX: Kinds = frozenset({FLOAT, COMPLEX})
SIGNED_NUMBERS: Kinds = frozenset({SIGNED, FLOAT, COMPLEX})
NUMBERS: Kinds = frozenset({SIGNED, UNSIGNED, FLOAT, COMPLEX})
ANY: Kinds = frozenset({BOOL, SIGNED, UNSIGNED, FLOAT, COMPLEX})


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


def tensor_type(value: SSAValue) -> TensorType:
    """The type of a value already known to be a tensor."""
    return cast(TensorType, value.type)


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """Shape of a tensor value; ``DYNAMIC_INDEX`` where it is not known."""
    return tensor_type(value).get_shape()


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


def require_same_shapes(op: Operation) -> None:
    """All tensor operands and results have one shape."""
    values = [*op.operands, *op.results]
    first_type = values[0].type
    for value in values[1:]:
        # The common case costs one comparison of types.
        if value.type is not first_type and not same_shape(shape_of(values[0]), shape_of(value)):
            shapes = ", ".join(shape_text(shape_of(each)) for each in values)
            raise VerifyException(f"operands and result must have one shape, got {shapes}")


def require_kind(value: SSAValue, kinds: Kinds) -> None:
    """The element type of the value is of one of the kinds."""
    kind = element_kind(tensor_type(value).element_type)
    if kind is not None and kind not in kinds:
        raise VerifyException(
            f"element type {tensor_type(value).element_type} is {kind}, "
            f"expected {' or '.join(sorted(kinds))}"
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
