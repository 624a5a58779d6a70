"""Reads by strides: which elements of which tensor ``as_strided`` takes, from the layouts that capture knows.

Values of the torch dialect have no memory. What ``as_strided`` means is said on the tensor that the memory was made by,
in the order of its memory; strides, offsets and views are those of PyTorch's fake tensors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.fx import Node
from xdsl.ir import SSAValue

from torch2mlir.dialects.torch import core
from torch2mlir.errors import CaptureError
from torch2mlir.frontends.fx.control_flow import size_operand
from torch2mlir.frontends.fx.factors import DETERMINANTS, factored
from torch2mlir.frontends.fx.shared_memory import memory_of

if TYPE_CHECKING:
    from torch2mlir.frontends.fx.importer import GraphImporter

aten = torch.ops.aten

_STRIDED = (aten.as_strided.default, aten.as_strided_copy.default)
READS = (*_STRIDED, *DETERMINANTS)
WRITES = (aten.as_strided_scatter.default,)


class InMemoryOrder(NamedTuple):
    """A tensor whose row-major order is that of its memory.

    Attributes:
        value: it.
        order: the dimensions of the tensor as it was, outermost first.
        offset: where its first element lies in the storage.
    """

    value: SSAValue
    order: Sequence[int]
    offset: Any


def strided_operands(importer: GraphImporter, node: Node) -> list[SSAValue]:
    """The operands of ``torch.aten.as_strided`` or ``as_strided_scatter`` with a tensor in the order of memory; of a
    determinant, the matrix that is factored.

    Raises:
        CaptureError: elements are asked for that the program does not have.
    """
    if node.target in DETERMINANTS:
        return [factored(importer, node)]
    source = node.args[0]
    assert isinstance(source, Node)
    is_read = node.target in _STRIDED
    base = memory_of(source) if is_read else source
    size, stride, offset = (_argument(node, place, name) for place, name in _PLACES[is_read])
    if is_read:
        _check_is_known(base, source, size, stride, offset)
    ordered = in_memory_order(importer, base)
    if is_read:
        importer.reads_memory = True
        if base.op == "placeholder" and offset is not None:
            importer.read_from_offset.add(base.name)
    if offset is None:
        offset = source.meta["val"].storage_offset()
    start = _difference(importer, offset, ordered.offset)
    others = [] if is_read else [importer.operand(_argument(node, 1, "src"))]
    lists = [importer.operand(size, "SymInt[]"), importer.operand(stride, "SymInt[]")]
    return [ordered.value, *others, *lists, start]


_PLACES = {
    True: ((1, "size"), (2, "stride"), (3, "storage_offset")),
    False: ((2, "size"), (3, "stride"), (4, "storage_offset")),
}


def _argument(node: Node, place: int, name: str) -> Any:
    return node.args[place] if place < len(node.args) else node.kwargs.get(name)


def in_memory_order(importer: GraphImporter, node: Node) -> InMemoryOrder:
    """A tensor in the order of its memory; gaps in it hold zeros.

    Raises:
        CaptureError: its elements overlap, or it has gaps of sizes that are not known.
    """
    fake = node.meta["val"]
    value = importer.operand(node)
    if fake.is_contiguous():
        return InMemoryOrder(value, range(fake.dim()), fake.storage_offset())
    order = sorted(range(fake.dim()), key=lambda d: (-_hint(fake.stride(d)), -_hint(fake.size(d))))
    value = _emit(
        importer, "permute", [value, importer.operand(order, "int[]")], fake.permute(order)
    )
    fake = fake.permute(order)
    if fake.is_contiguous():
        return InMemoryOrder(value, order, fake.storage_offset())
    if not all(isinstance(n, int) for n in (*fake.shape, *fake.stride())):
        raise CaptureError(
            f"as_strided of a tensor with gaps in its memory: sizes {list(fake.shape)}, strides {list(fake.stride())}",
            hint="call .contiguous() before it, or make the sizes static",
        )
    return InMemoryOrder(_without_gaps(importer, value, fake), order, fake.storage_offset())


def _without_gaps(importer: GraphImporter, value: SSAValue, fake: torch.Tensor) -> SSAValue:
    """Row-major elements with zeros between them as strides say, dimension by dimension from the innermost."""
    sizes, strides = list(fake.shape), list(fake.stride())
    while sizes and strides[-1] == 0:  # an expanded dimension is one element
        value = _select_first(importer, value, len(sizes) - 1, fake.dtype, sizes[:-1])
        sizes, strides = sizes[:-1], strides[:-1]
    known = 1
    shape = [*sizes, 1]
    value = _shaped(importer, value, shape, fake.dtype)
    for stride in reversed(strides):
        if stride < known:
            raise CaptureError(
                "as_strided of a tensor whose elements overlap in memory",
                hint="call .contiguous() before it",
            )
        if stride > known:
            shape = [*shape[:-1], stride]
            pad = importer.operand([0, stride - known], "int[]")
            fill = importer.constants.scalar(0)
            made = torch.empty(shape, dtype=fake.dtype, device="meta")
            value = _emit(importer, "constant_pad_nd", [value, pad, fill], made)
        known = stride * shape[-2]
        shape = [*shape[:-2], known]
        value = _shaped(importer, value, shape, fake.dtype)
    return value


def _shaped(
    importer: GraphImporter, value: SSAValue, shape: list[int], dtype: torch.dtype
) -> SSAValue:
    made = torch.empty(shape, dtype=dtype, device="meta")
    return _emit(importer, "view", [value, importer.operand(shape, "int[]")], made)


def _select_first(
    importer: GraphImporter, value: SSAValue, dim: int, dtype: torch.dtype, shape: list[int]
) -> SSAValue:
    made = torch.empty(shape, dtype=dtype, device="meta")
    operands = [value, importer.constants.scalar(dim), importer.constants.scalar(0)]
    return _emit(importer, "select.int", operands, made)


def in_own_order(importer: GraphImporter, node: Node, value: SSAValue) -> SSAValue:
    """What ``as_strided_scatter`` made of a tensor in the order of memory, with the tensor's dimensions again.

    Raises:
        CaptureError: the tensor has gaps in its memory.
    """
    source = node.args[0]
    assert isinstance(source, Node)
    fake = source.meta["val"]
    if fake.is_contiguous():
        return value
    order = sorted(range(fake.dim()), key=lambda d: (-_hint(fake.stride(d)), -_hint(fake.size(d))))
    if not fake.permute(order).is_contiguous():
        raise CaptureError(
            "as_strided_scatter of a tensor with gaps in its memory",
            hint="call .contiguous() before it",
        )
    back = [order.index(dim) for dim in range(fake.dim())]
    return _emit(importer, "permute", [value, importer.operand(back, "int[]")], fake)


def _hint(size: Any) -> int:
    """A size, or its example, to sort by."""
    return size if isinstance(size, int) else int(size.node.hint)


def _emit(
    importer: GraphImporter, name: str, operands: Sequence[SSAValue], fake: torch.Tensor
) -> SSAValue:
    op = core.build(f"torch.aten.{name}", operands, [importer.type_of(fake)])
    importer.insert(op)
    return op.results[0]


def _difference(importer: GraphImporter, offset: Any, first: Any) -> SSAValue:
    """``offset - first``: a place in the storage as one among a tensor's elements."""
    if isinstance(offset, int) and isinstance(first, int):
        if offset < first:
            raise CaptureError(
                f"as_strided from place {offset} of a storage whose known elements start at {first}",
                hint="pass the whole tensor to the model, and take the part of it there",
            )
        return importer.constants.scalar(offset - first)
    if isinstance(offset, Node):
        if isinstance(first, int) and first == 0:
            return importer.operand(offset)
        offset = offset.meta["val"]
    difference = offset - first
    if isinstance(difference, int):
        return importer.constants.scalar(difference)
    return size_operand(importer, importer.size_of(difference))


def _check_is_known(base: Node, source: Node, size: Any, stride: Any, offset: Any) -> None:
    """Raises an error if static sizes and strides lead to places that the tensor does not have."""
    fake = base.meta["val"]
    if offset is None:
        offset = source.meta["val"].storage_offset()
    numbers = (*fake.shape, *fake.stride(), *size, *stride, offset, fake.storage_offset())
    if not all(isinstance(n, int) for n in numbers) or 0 in size:
        return
    first = fake.storage_offset()
    last = offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    known = torch.zeros(max(last + 1, _end(fake)), dtype=torch.bool)
    if fake.numel():
        known.as_strided(fake.shape, fake.stride(), first).fill_(True)
    if not bool(known.as_strided(size, stride, offset).all()):
        raise CaptureError(
            f"as_strided reads elements that the tensor does not have: sizes {list(size)}, strides "
            f"{list(stride)} from place {offset} of a storage with {fake.numel()} elements from {first} on",
            hint="pass the whole tensor to the model, and take the part of it there",
        )


def _end(fake: torch.Tensor) -> int:
    steps = sum((n - 1) * s for n, s in zip(fake.shape, fake.stride(), strict=True))
    return int(fake.storage_offset() + steps + 1) if math.prod(fake.shape) else 0
