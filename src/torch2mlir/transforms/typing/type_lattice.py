"""Types by how much they say: what two values have in common, and what two descriptions of one value say together."""

from __future__ import annotations

from typing import Any

from xdsl.ir import Attribute

from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim, Size


def _of(
    like: t.AnyTensorType, sizes: tuple[Size, ...] | None, dtype: Attribute | None
) -> Attribute:
    return (
        t.vtensor(sizes, dtype)
        if isinstance(like, t.ValueTensorType)
        else type(like).of(sizes, dtype)
    )


def join(one: Attribute, other: Attribute) -> Attribute | None:
    """The most specific type of a value that is of one type or the other; None if the dialect has none."""
    if one == other:
        return one
    if isinstance(one, t.AnyTensorType) and isinstance(other, t.AnyTensorType):
        if one.name != other.name:
            return None
        sizes: tuple[Size, ...] | None = None
        if one.sizes is not None and other.sizes is not None and len(one.sizes) == len(other.sizes):
            pairs = zip(one.sizes, other.sizes, strict=True)
            sizes = tuple(a if a == b else None for a, b in pairs)
        return _of(one, sizes, one.dtype if one.dtype == other.dtype else None)
    for none, type in ((one, other), (other, one)):
        if isinstance(none, t.NoneType):
            return type if isinstance(type, t.OptionalType) else t.OptionalType(type)
    if isinstance(one, t.OptionalType) or isinstance(other, t.OptionalType):
        inner = [x.contained if isinstance(x, t.OptionalType) else x for x in (one, other)]
        common = join(*inner)
        return None if common is None else t.OptionalType(common)
    return None


def meet(given: t.AnyTensorType, said: t.AnyTensorType) -> Attribute:
    """What is known of a tensor by its own type and by what somebody says of it."""
    dtype = said.dtype if said.dtype is not None else given.dtype
    if said.sizes is None or given.sizes is None:
        return _of(said, said.sizes if given.sizes is None else given.sizes, dtype)
    if len(said.sizes) != len(given.sizes):
        return said
    pairs = zip(given.sizes, said.sizes, strict=True)
    return _of(said, tuple(_known_size(g, s) for g, s in pairs), dtype)


def _known_size(given: Size, said: Size) -> Size:
    """A number says more than an expression, an expression more than nothing."""
    for size in (said, given):
        if isinstance(size, int):
            return size
    return said if isinstance(said, Dim) else given


def agree(one: t.AnyTensorType, other: t.AnyTensorType) -> bool:
    """Whether one tensor can be of both types: dtype, rank and sizes that both know are the same."""
    if None not in (one.dtype, other.dtype) and one.dtype != other.dtype:
        return False
    if one.sizes is None or other.sizes is None:
        return True
    return len(one.sizes) == len(other.sizes) and all(
        a == b
        for a, b in zip(one.sizes, other.sizes, strict=True)
        if isinstance(a, int) and isinstance(b, int)
    )


def as_class(type: t.AnyTensorType, like: Attribute) -> Attribute:
    """The same sizes and dtype, with or without value semantics as another type."""
    if isinstance(like, t.NonValueTensorType):
        return t.NonValueTensorType.of(type.sizes, type.dtype)
    return t.vtensor(type.sizes, type.dtype)


def has_rank_and_dtype(type: Attribute) -> bool:
    """Whether a type says how many dimensions a tensor has and of what its elements are."""
    return isinstance(type, t.AnyTensorType) and type.sizes is not None and type.dtype is not None


def is_known_tensor(type: Any) -> bool:
    """Whether a type is that of a tensor value of known sizes and dtype."""
    return isinstance(type, t.ValueTensorType) and is_known(type)


def is_known(type: Attribute) -> bool:
    """Whether nothing can be added: a tensor of known sizes and dtype, a number of known kind."""
    if not isinstance(type, t.AnyTensorType):
        return not isinstance(type, t.AnyType | t.NumberType)
    return type.sizes is not None and None not in type.sizes and type.dtype is not None
