"""What a row's signature says of its tensors: the sizes and element types that values of an op have in common.

    values: T[n k c], indices: [n w] -> output: T[n w c]

A capital letter, or ``i1`` and its kin, is the element type. In the brackets stands for each dimension

``n``
    the size of that name, the same wherever the name stands
``4``
    that size
``_``
    any size

or for all of them

``*s``
    the shape of that name
``~s``
    any shape of as many dimensions as the one of that name
``#s``
    one dimension, with an entry for each of those of the shape of that name
``^s``
    in operands a shape that broadcasts, at equal rank, to that of the result

A list of sizes, ``!tosa.shape<N>``, has its ``N`` there: ``shape[4]``, ``shape[r]``, ``shape[2~s]``. Nothing is asked
of tensors without a rank, and an unknown size is equal to any.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    TensorType,
    UnrankedTensorType,
    i1,
    i8,
    i32,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects.opaque import CarriedAttr

if TYPE_CHECKING:
    from torch2mlir.dialects.rows import RowOp

ELEMENTS: dict[str, Attribute] = {"i1": i1, "i8": i8, "i32": i32}
"""Element types that a signature may name."""


def require(condition: bool, message: str) -> None:
    """Raises a VerifyException unless the condition holds."""
    if not condition:
        raise VerifyException(message)


def same_dim(lhs: int, rhs: int) -> bool:
    """Equal, or one of them not known."""
    return lhs == rhs or DYNAMIC_INDEX in (lhs, rhs)


def same_shape(lhs: Sequence[int], rhs: Sequence[int]) -> bool:
    """Equal ranks, and dimensions that can be equal at run time."""
    return len(lhs) == len(rhs) and all(map(same_dim, lhs, rhs))


def windowed_dim(size: int, window: int, stride: int, low: int, high: int) -> int:
    """Number of windows along one dimension; all sizes are dilated already."""
    if size == DYNAMIC_INDEX or window == DYNAMIC_INDEX:
        return DYNAMIC_INDEX
    padded = size + low + high
    return 0 if padded == 0 or window > padded else (padded - window) // stride + 1


def dilated(size: int, dilation: int) -> int:
    """Size with `dilation - 1` holes between neighbours."""
    if size in (0, DYNAMIC_INDEX):
        return size
    return (size - 1) * dilation + 1


def broadcast_dim(dims: Sequence[int]) -> int | None:
    """The dimension that sizes broadcast to: -1 if not known, None if they do not broadcast."""
    known = {dim for dim in dims if dim not in (1, DYNAMIC_INDEX)}
    if len(known) > 1:
        return None
    if known:
        return known.pop()
    return DYNAMIC_INDEX if DYNAMIC_INDEX in dims else 1


class Shaped(NamedTuple):
    """What a signature says of a value, or of each of several.

    Attributes:
        name: of the value.
        element: a capital letter or an element type; None for any.
        dims: the words in the brackets; None without brackets.
        entries: how many sizes a type lists, where it is no tensor.
    """

    name: str
    element: str | None
    dims: tuple[str, ...] | None
    entries: Callable[[Attribute], int] | None

    @property
    def of_rank(self) -> re.Match[str] | None:
        """``2~s`` and its kin in parts, where that is what is said."""
        return _OF_RANK.fullmatch(" ".join(self.dims or ()))


_OF_RANK = re.compile(r"(\d*)([~#])(\w+)")


def require_shaped(op: RowOp, shaped: Sequence[Shaped]) -> None:
    """The values of an op are as its signature says."""
    fit = _Fit(op)
    of_ranks = list[tuple[Shaped, SSAValue]]()
    for each in shaped:
        found = getattr(op, each.name)
        for value in (found,) if isinstance(found, SSAValue) else found:
            fit.element(each, value.type)
            if each.of_rank is not None:
                of_ranks.append((each, value))
            elif each.dims is not None:
                fit.shape(each, each.dims, value)
    for each, value in of_ranks:
        fit.rank(each, value)


class _Fit:
    """What has been found of the names in a signature."""

    def __init__(self, op: RowOp) -> None:
        self.op = op
        self.elements: dict[str, tuple[str, Attribute]] = {}
        self.sizes: dict[str, int] = {}
        self.shapes: dict[str, SSAValue] = {}
        self.broadcast: list[SSAValue] = []

    def element(self, each: Shaped, type: Attribute) -> None:
        """The element type is the one said, or that of the letter's first value."""
        if each.element is None or not isinstance(type, TensorType | UnrankedTensorType):
            return
        if (wanted := ELEMENTS.get(each.element)) is not None:
            message = f"{self.op.name}: {each.name} must have element type {wanted}, got {type}"
            require(type.element_type == wanted, message)
            return
        if isinstance(type.element_type, CarriedAttr):
            return  # quantized numbers of several scales may go together
        first, wanted = self.elements.setdefault(each.element, (each.name, type.element_type))
        message = f"{first} has {wanted}, {each.name} has {type.element_type}"
        require(
            type.element_type == wanted, f"{self.op.name}: element types must be equal: {message}"
        )

    def shape(self, each: Shaped, dims: tuple[str, ...], value: SSAValue) -> None:
        """The shape is the one said."""
        shape = _shape(each, value.type)
        if shape is None:
            return
        if dims and dims[0][0] == "*":
            self._whole(each, dims[0][1:], value, shape)
        elif dims and dims[0][0] == "^":
            self._broadcast(value)
        else:
            self._dimensions(each, dims, value, shape)

    def rank(self, each: Shaped, value: SSAValue) -> None:
        """So many dimensions, or entries, as another shape has."""
        said, shape = each.of_rank, _shape(each, value.type)
        like = None if said is None else self.shapes.get(said[3])
        if said is None or shape is None or like is None:
            return
        rank = int(said[1] or 1) * len(_shape(None, like.type) or ())
        if said[2] == "#":
            self._require(same_shape(shape, (rank,)), each, value, f"[{rank}]")
        elif each.entries is not None:
            self._require(shape[0] == rank, each, value, f"of {rank} sizes")
        else:
            self._require(len(shape) == rank, each, value, f"of {rank} dimensions")

    def _whole(self, each: Shaped, name: str, value: SSAValue, shape: Sequence[int]) -> None:
        first = self.shapes.setdefault(name, value)
        wanted = _shape(None, first.type) or ()
        self._require(same_shape(shape, wanted), each, value, f"of the shape of {first.type}")

    def _dimensions(
        self, each: Shaped, dims: tuple[str, ...], value: SSAValue, shape: Sequence[int]
    ) -> None:
        self._require(len(shape) == len(dims), each, value, f"[{' '.join(dims)}]")
        for dim, size in zip(dims, shape, strict=True):
            if dim == "_":
                continue
            wanted = int(dim) if dim.isdigit() else self.sizes.get(dim, DYNAMIC_INDEX)
            names = "" if dim.isdigit() else f" with {dim} = {wanted}"
            self._require(same_dim(size, wanted), each, value, f"[{' '.join(dims)}]{names}")
            if wanted == DYNAMIC_INDEX:
                self.sizes[dim] = size

    def _broadcast(self, value: SSAValue) -> None:
        if value not in self.op.results:
            self.broadcast.append(value)
            return
        inputs = [value.type for value in self.broadcast]
        shapes = [type.get_shape() for type in inputs if isinstance(type, TensorType)]
        result = _shape(None, value.type) or ()
        listed, of = ", ".join(map(str, inputs)), self.op.name
        require(
            all(len(shape) == len(result) for shape in shapes),
            f"{of}: operands and result must have equal rank, got {listed} and {value.type}",
        )
        for axis, dims in enumerate(zip(*shapes, strict=True)):
            dim = broadcast_dim(dims)
            fits = dim is not None and (len(shapes) < len(inputs) or same_dim(dim, result[axis]))
            require(fits, f"{of}: dimension {axis} of {listed} does not broadcast to {value.type}")

    def _require(self, condition: bool, each: Shaped, value: SSAValue, wanted: str) -> None:
        require(condition, f"{self.op.name}: {each.name} must be {wanted}, got {value.type}")


def _shape(each: Shaped | None, type: Attribute) -> tuple[int, ...] | None:
    """The sizes of a tensor, the number of those that another type lists; None where they are not known."""
    if each is not None and each.entries is not None:
        return (each.entries(type),)
    return type.get_shape() if isinstance(type, TensorType) else None
