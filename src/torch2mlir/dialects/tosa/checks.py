"""What rules of TOSA's rows ask beside their signatures."""

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IntegerAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects.rows import RowOp
from torch2mlir.dialects.tensor_rules import require, same_dim


def shape_of(value: SSAValue) -> tuple[int, ...] | None:
    """The dimensions of a ranked tensor (-1 where dynamic), None of an unranked one."""
    return value.type.get_shape() if isinstance(value.type, TensorType) else None


def require_length(op: Operation, name: str, array: Attribute, length: int) -> None:
    """An integer-list attribute has `length` entries."""
    assert isinstance(array, DenseArrayBase)
    if len(array) != length:
        raise VerifyException(f"{op.name}: {name} must list {length} integers, got {array}")


def require_positive(op: Operation, name: str, array: Attribute, length: int) -> None:
    """An integer-list attribute has `length` entries, all of them positive."""
    require_length(op, name, array, length)
    assert isinstance(array, DenseArrayBase)
    if any(value <= 0 for value in array.iter_values()):
        raise VerifyException(f"{op.name}: {name} must be positive, got {array}")


def require_extent(op: RowOp, axis: int, wanted: int) -> None:
    """A dimension of the result has the size that its window gives."""
    result = shape_of(op.output)
    require(
        result is None or same_dim(wanted, result[axis]),
        f"{op.name}: dimension {axis} of the result must be {wanted}, got {op.output.type}",
    )


def padded(op: RowOp, axis: int, size: int, pad: tuple[int, ...]) -> int:
    """The size of a dimension of an image, counted from 1, with its padding; -1 if it is not known."""
    low, high = pad[2 * axis - 2 : 2 * axis]
    return size if size == DYNAMIC_INDEX else size + low + high


def axis_of(op: Operation, axis: IntegerAttr, value: SSAValue) -> int:
    """The axis attribute's value, checked against the rank of `value`."""
    index = axis.value.data
    shape = shape_of(value)
    if index < 0 or (shape is not None and index >= len(shape)):
        raise VerifyException(f"{op.name}: axis {index} is out of range for {value.type}")
    return index
