"""What the rules of TOSA's rows are made of."""

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IntegerAttr,
    TensorType,
    UnrankedTensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects.rows import RowOp, Rule
from torch2mlir.dialects.tosa.attributes import ShapeType


def require(condition: bool, message: str) -> None:
    """Fail verification with `message` unless `condition` holds."""
    if not condition:
        raise VerifyException(message)


def shape_of(value: SSAValue) -> tuple[int, ...] | None:
    """The dimensions of a ranked tensor (-1 where dynamic), None of an unranked one."""
    return value.type.get_shape() if isinstance(value.type, TensorType) else None


def element_type(value: SSAValue) -> Attribute | None:
    """The element type of a tensor value."""
    if isinstance(value.type, TensorType | UnrankedTensorType):
        return value.type.element_type
    return None


def require_rank(op: Operation, name: str, value: SSAValue, *ranks: int) -> None:
    """`value` is unranked or has one of the given ranks."""
    shape = shape_of(value)
    if shape is not None and len(shape) not in ranks:
        wanted = " or ".join(map(str, ranks))
        raise VerifyException(f"{op.name}: {name} must have rank {wanted}, got {value.type}")


def require_shape_rank(op: Operation, name: str, value: SSAValue, rank: int, reason: str) -> None:
    """A `!tosa.shape` operand lists `rank` sizes."""
    assert isinstance(value.type, ShapeType)
    if value.type.rank.data != rank:
        raise VerifyException(
            f"{op.name}: {name} must be !tosa.shape<{rank}> ({reason}), got {value.type}"
        )


def require_same_element_type(op: Operation, **values: SSAValue) -> None:
    """The named tensors have one element type."""
    types = {name: element_type(value) for name, value in values.items()}
    if len(set(types.values())) > 1:
        listed = ", ".join(f"{name} has {type_}" for name, type_ in types.items())
        raise VerifyException(f"{op.name}: element types must be equal: {listed}")


def require_single_element(op: Operation, **values: SSAValue) -> None:
    """The named tensors hold one element, as zero points and shifts do."""
    for name, value in values.items():
        if shape_of(value) not in (None, (1,), (DYNAMIC_INDEX,)):
            raise VerifyException(f"{op.name}: {name} must be a tensor<1x..>, got {value.type}")


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


def same_dim(first: int, second: int) -> bool:
    """Whether two dimensions may be equal."""
    return first == second or DYNAMIC_INDEX in (first, second)


def require_same_shape(op: Operation, **values: SSAValue) -> None:
    """The named tensors may all have one shape."""
    (first, reference), *others = values.items()
    for name, value in others:
        left, right = shape_of(reference), shape_of(value)
        if left is None or right is None:
            continue
        if len(left) != len(right) or not all(map(same_dim, left, right)):
            raise VerifyException(
                f"{op.name}: shapes of {first} and {name} must be equal, "
                f"got {reference.type} and {value.type}"
            )


def broadcast_dim(dims: Sequence[int]) -> int | None:
    """The dimension that sizes broadcast to: -1 if not known, None if they do not broadcast."""
    known = {dim for dim in dims if dim not in (1, DYNAMIC_INDEX)}
    if len(known) > 1:
        return None
    if known:
        return known.pop()
    return DYNAMIC_INDEX if DYNAMIC_INDEX in dims else 1


def require_broadcast(op: Operation, inputs: Sequence[SSAValue], output: SSAValue) -> None:
    """Inputs of equal rank broadcast to the output; TOSA does not add leading dimensions."""
    shapes = [shape for value in inputs if (shape := shape_of(value)) is not None]
    result = shape_of(output)
    if result is None or not shapes:
        return
    listed = ", ".join(str(value.type) for value in inputs)
    if any(len(shape) != len(result) for shape in shapes):
        raise VerifyException(
            f"{op.name}: operands and result must have equal rank, got {listed} and {output.type}"
        )
    for axis, dims in enumerate(zip(*shapes, strict=True)):
        dim = broadcast_dim(dims)
        if dim is None or (len(shapes) == len(inputs) and not same_dim(dim, result[axis])):
            raise VerifyException(
                f"{op.name}: dimension {axis} of {listed} does not broadcast to {output.type}"
            )


def axis_of(op: Operation, axis: IntegerAttr, value: SSAValue) -> int:
    """The axis attribute's value, checked against the rank of `value`."""
    index = axis.value.data
    shape = shape_of(value)
    if index < 0 or (shape is not None and index >= len(shape)):
        raise VerifyException(f"{op.name}: axis {index} is out of range for {value.type}")
    return index


# --- rules -----------------------------------------------------------------------------------------
# Names are those of operands and results; `result` is the op's only one.


def _named(op: RowOp, name: str) -> SSAValue:
    return op.results[0] if name == "result" else getattr(op, name)


def every(*rules: Rule) -> Rule:
    """All of the rules hold."""

    def rule(op: RowOp) -> None:
        for each in rules:
            each(op)

    return rule


def ranks(**wanted: int) -> Rule:
    """Tensors are unranked or have the given ranks."""

    def rule(op: RowOp) -> None:
        for name, rank in wanted.items():
            require_rank(op, name, _named(op, name), rank)

    return rule


def shape_ranks(**wanted: tuple[int, str]) -> Rule:
    """`!tosa.shape` operands list so many sizes, with what they are."""

    def rule(op: RowOp) -> None:
        for name, (rank, reason) in wanted.items():
            require_shape_rank(op, name, _named(op, name), rank, reason)

    return rule


def single_elements(*names: str) -> Rule:
    """Zero points and shifts hold one element."""
    return lambda op: require_single_element(op, **{name: _named(op, name) for name in names})


def same_element_types(*names: str) -> Rule:
    """The named tensors have one element type."""
    return lambda op: require_same_element_type(op, **{name: _named(op, name) for name in names})


def same_shapes(*names: str) -> Rule:
    """The named tensors may all have one shape."""
    return lambda op: require_same_shape(op, **{name: _named(op, name) for name in names})


def broadcast(*names: str) -> Rule:
    """The named tensors broadcast to the result."""
    return lambda op: require_broadcast(op, [_named(op, name) for name in names], op.results[0])


def element_type_is(name: str, wanted: Attribute, spelled: str) -> Rule:
    """A tensor has this element type; `spelled` is how a message ends."""

    def rule(op: RowOp) -> None:
        value = _named(op, name)
        got = f"{op.name}: {name} must {spelled}, got {value.type}"
        require(element_type(value) == wanted, got)

    return rule
