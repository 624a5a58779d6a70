"""Sizes that elements decide: ``torch.zeros(x.max().item())``, ``x[:n.item()]``, ``x.split(lengths.tolist())``.

A size enters a program where a tensor is as long as an element says; from there on it is a size like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
from xdsl.ir import Attribute, SSAValue

from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.errors import CaptureError
from torch2mlir.frontends import dtypes

if TYPE_CHECKING:
    from torch2mlir.frontends.fx.importer import GraphImporter

aten = torch.ops.aten
_INT64 = dtypes.element_type(torch.int64)


def is_size(node: Node) -> bool:
    """Whether an element read by ``item`` is the size of a tensor somewhere in the graph."""
    value = node.meta.get("val")
    if not isinstance(value, torch.SymInt):
        return False
    mine = free_unbacked_symbols(value)
    return any(
        isinstance(fake := other.meta.get("val"), torch.Tensor)
        and mine & free_unbacked_symbols(tuple(fake.shape))  # a view may begin at an element too
        for other in node.graph.nodes
    )


def _size_from_element(importer: GraphImporter, node: Node) -> SSAValue | None:
    """The number that ``item`` gives, as the size of a tensor that is as long, if it is one."""
    if not is_size(node):
        return None
    source = importer.operand(node.args[0])
    count = _as_int64(importer, source, ())
    _check_is_size(importer, _emit(importer, "Int.Tensor", [count], t.int_type))
    return _counted(importer, count, node.meta["val"])


def of_number(importer: GraphImporter, node: Node, number: SSAValue) -> SSAValue:
    """An integer that Python makes of elements, as the size of a tensor that is as long where the graph has one.

    Args:
        importer: of the graph.
        node: what the integer is computed by; its symbol is its own.
        number: the integer, ``!torch.int``.
    """
    if not is_size(node):
        return number
    _check_is_size(importer, number)
    return _counted(importer, _as_tensor(importer, number), node.meta["val"])


def _check_is_size(importer: GraphImporter, number: SSAValue) -> None:
    """No tensor has a negative size; the one that stands for the number would be empty."""
    zero = importer.constants.scalar(0)
    holds = _emit(importer, "ge.int", [number, zero], t.bool_type)
    importer.runtime_assert(holds, "a number read from a tensor is a size, and negative")


def _is_open_slice(node: Node) -> bool:
    """Whether a slice is as long as elements say, which its bounds come from."""
    source = node.args[0]
    assert isinstance(source, Node)
    result, whole = node.meta["val"], source.meta["val"]
    of_result, of_whole = (free_unbacked_symbols(tuple(each.shape)) for each in (result, whole))
    return bool(of_result - of_whole)


def _open_slice(importer: GraphImporter, node: Node) -> SSAValue | None:
    """The places between two bounds that are only known when the program runs, if they are.

    Raises:
        CaptureError: the slice has a step.
    """
    if not _is_open_slice(node):
        return None
    given: list[Any] = list(node.args)
    source, dim, start, end, step = given + [0, None, None, 1][len(given) - 1 :]
    assert isinstance(source, Node)
    fake = node.meta["val"]
    dim = dim % fake.dim()
    if step != 1:
        raise CaptureError(
            "a slice with a step between bounds that depend on elements",
            hint="take the slice without the step, and every n-th of its elements by index_select",
        )
    scalar = importer.constants.scalar
    x = importer.operand(source)
    size = _emit(importer, "size.int", [x, scalar(dim)], t.int_type)
    first = _bound(importer, 0 if start is None else start, size)
    last = _bound(importer, size if end is None else end, size)
    length = _number(importer, "sub.Tensor", [last, first, scalar(1)])
    length = _number(importer, "clamp", [length, scalar(0), scalar(None)])
    count = _counted(importer, length, fake.shape[dim])
    return _from(importer, x, dim, first, count, fake)


def _open_part(importer: GraphImporter, node: Node) -> SSAValue | None:
    """What ``narrow`` takes between places that are only known when the program runs, if they are."""
    source, dim, start, length = node.args
    if not any(map(_is_of_elements, (start, length))):
        return None
    fake = node.meta["val"]
    dim, scalar = dim % fake.dim(), importer.constants.scalar
    x = importer.operand(source)
    size = _emit(importer, "size.int", [x, scalar(dim)], t.int_type)
    first = _bound(importer, start, size)
    end = _number(importer, "add.Scalar", [first, importer.operand(length), scalar(1)])
    is_inside = _emit(
        importer, "le.Scalar", [end, size], t.vtensor((), dtypes.element_type(torch.bool))
    )
    holds = _emit(importer, "Bool.Tensor", [is_inside], t.bool_type)
    importer.runtime_assert(holds, "narrow takes a part that is not inside of the tensor")
    count = _count_of(importer, length, fake.shape[dim])
    return _from(importer, x, dim, first, count, fake)


def _open_parts(importer: GraphImporter, node: Node) -> list[SSAValue] | None:
    """The parts of lengths that elements decide, one after the other."""
    source, lengths, *rest = node.args
    if not any(map(_is_of_elements, lengths)):  # type: ignore[arg-type]
        return None
    fakes = node.meta["val"]
    given = rest[0] if rest else node.kwargs.get("dim", 0)
    dim, scalar = given % fakes[0].dim(), importer.constants.scalar
    x, start = importer.operand(source), scalar(0)
    parts = list[SSAValue]()
    for length, fake in zip(lengths, fakes, strict=True):  # type: ignore[arg-type]
        count = _count_of(importer, length, fake.shape[dim])
        first = _as_tensor(importer, start)
        parts.append(_from(importer, x, dim, first, count, fake))
        start = _emit(importer, "add.int", [start, importer.operand(length)], t.int_type)
    size = _emit(importer, "size.int", [x, scalar(dim)], t.int_type)
    holds = _emit(importer, "eq.int", [start, size], t.bool_type)
    importer.runtime_assert(holds, "the lengths of the parts of a tensor do not add up to its size")
    return parts


def _is_of_elements(number: Any) -> bool:
    value = number.meta.get("val") if isinstance(number, Node) else None
    return isinstance(value, torch.SymInt) and bool(free_unbacked_symbols(value))


def _count_of(importer: GraphImporter, length: Any, size: int | torch.SymInt) -> SSAValue:
    """A length as the size of a result."""
    number = importer.operand(length)
    value = length.meta["val"] if isinstance(length, Node) else length
    if isinstance(size, int) or (
        isinstance(value, torch.SymInt) and value.node.expr == size.node.expr
    ):
        return number
    return _counted(importer, _as_tensor(importer, number), size)


def _from(
    importer: GraphImporter, x: SSAValue, dim: int, first: SSAValue, count: SSAValue, fake: Any
) -> SSAValue:
    """So many elements along a dimension, from a place on."""
    scalar = importer.constants.scalar
    type = t.vtensor((importer.size_of(fake.shape[dim]),), _INT64)
    places = _emit(importer, "arange", [count, *[scalar(None)] * 4], type)
    places = _emit(importer, "add.Tensor", [places, first, scalar(1)], type)
    return _emit(importer, "index_select", [x, scalar(dim), places], importer.type_of(fake))


def _as_tensor(importer: GraphImporter, number: SSAValue) -> SSAValue:
    scalar = importer.constants.scalar
    code = scalar(dtypes.SCALAR_TYPE[torch.int64])
    return _number(importer, "scalar_tensor", [number, code, *[scalar(None)] * 3])


def _bound(importer: GraphImporter, bound: Any, size: SSAValue) -> SSAValue:
    """A bound of a slice as a place from 0 to the size: from the end if it is negative, and within the tensor."""
    number = bound if isinstance(bound, SSAValue) else importer.operand(bound)
    scalar = importer.constants.scalar
    place = _as_tensor(importer, number)
    from_end = _number(importer, "add.Scalar", [place, size, scalar(1)])
    is_negative = _emit(
        importer,
        "lt.Scalar",
        [place, scalar(0)],
        t.vtensor((), dtypes.element_type(torch.bool)),
    )
    place = _number(importer, "where.self", [is_negative, from_end, place])
    return _number(importer, "clamp", [place, scalar(0), size])


def _counted(importer: GraphImporter, count: SSAValue, symbol: Any) -> SSAValue:
    """A rank-0 count as ``!torch.int``, the size of a tensor of so many zeros."""
    shape = importer.operand([1], "int[]")
    counts = _emit(importer, "view", [count, shape], t.vtensor((1,), _INT64))
    sizes = (importer.size_of(symbol),)
    none = importer.constants.scalar(None)
    places = _emit(importer, "repeat_interleave.Tensor", [counts, none], t.vtensor(sizes, _INT64))
    return _emit(importer, "size.int", [places, importer.constants.scalar(0)], t.int_type)


def _as_int64(importer: GraphImporter, value: SSAValue, sizes: tuple[int, ...]) -> SSAValue:
    scalar = importer.constants.scalar
    code, no = scalar(dtypes.SCALAR_TYPE[torch.int64]), scalar(False)
    operands = [value, code, no, no, scalar(None)]
    value = _emit(importer, "to.dtype", operands, _like(value, _INT64))
    return _emit(
        importer, "view", [value, importer.operand(list(sizes), "int[]")], t.vtensor((), _INT64)
    )


def _like(value: SSAValue, dtype: Attribute) -> Attribute:
    assert isinstance(value.type, t.ValueTensorType)
    return t.vtensor(value.type.sizes, dtype)


def _number(importer: GraphImporter, name: str, operands: Sequence[SSAValue]) -> SSAValue:
    """An op on rank-0 integers."""
    return _emit(importer, name, operands, t.vtensor((), _INT64))


def _emit(
    importer: GraphImporter, name: str, operands: Sequence[SSAValue], type: Attribute
) -> SSAValue:
    op = core.build(f"torch.aten.{name}", operands, [type])
    importer.insert(op)
    return op.results[0]


IMPORTS: Mapping[Any, Callable[[GraphImporter, Node], SSAValue | Sequence[SSAValue] | None]] = {
    aten.item.default: _size_from_element,
    aten._local_scalar_dense.default: _size_from_element,
    aten.slice.Tensor: _open_slice,
    aten.narrow.default: _open_part,
    aten.split_with_sizes.default: _open_parts,
    aten.split.sizes: _open_parts,
}
"""Ops of which elements may decide a size -> what imports a call where they do; None where they do not."""
