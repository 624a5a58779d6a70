"""What rules of TOSA's rows ask beside their signatures."""

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects.rows import RowOp
from torch2mlir.dialects.tensor_rules import require, same_dim, windowed_dim


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


def require_windows(
    op: RowOp, kernel: Sequence[int], pad: Sequence[int], stride: Sequence[int]
) -> None:
    """The result of an image has an element for each place of a window; -1 where a size is not known."""
    for axis, size in enumerate((shape_of(op.input) or ())[1:-1]):
        low, high = pad[2 * axis : 2 * axis + 2]
        require_extent(op, axis + 1, windowed_dim(size, kernel[axis], stride[axis], low, high))


def require_extent(op: RowOp, axis: int, wanted: int) -> None:
    """A dimension of the result has this size."""
    result = shape_of(op.output)
    require(
        result is None or same_dim(wanted, result[axis]),
        f"{op.name}: dimension {axis} of the result must be {wanted}, got {op.output.type}",
    )


def axis_of(op: Operation, axis: IntegerAttr, value: SSAValue) -> int:
    """The axis attribute's value, checked against the rank of `value`."""
    index = axis.value.data
    shape = shape_of(value)
    if index < 0 or (shape is not None and index >= len(shape)):
        raise VerifyException(f"{op.name}: axis {index} is out of range for {value.type}")
    return index
