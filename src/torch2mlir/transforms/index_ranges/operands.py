"""Which operands of which ops are tensors of indices, and what range eager PyTorch takes them in.

One table, of the ops as captured and as PyTorch decomposes them. Left out are ops whose indices come from PyTorch's own
code (``_unsafe_index``, backward passes, which get what the forward pass has looked at) and ``take_along_dim``, which
takes the remainder of any index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerType, Signedness, i1
from xdsl.ir import Operation, SSAValue

from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim, KnownSize, product
from torch2mlir.dialects.torch.values import Values


@dataclass(frozen=True)
class SizeOf:
    """The size of a tensor along a dimension, which is counted from the front."""

    tensor: SSAValue
    dim: int


Factor = SizeOf | SSAValue
"""A size, or an integer of the program."""


@dataclass(frozen=True)
class Indices:
    """A tensor whose elements are in ``[lowest, size)``, or ``[-size, size)``, or the error is eager PyTorch's.

    Attributes:
        tensor: the indices.
        place: the operand that they are, or that is a list of them.
        factors: their product is the size.
        words: what the size is of, for a message.
        from_end: whether negative ones count from the end.
        lowest: the lowest, if they do not.
        beyond: how many places more there are: 1 where an index may be the size itself.
        ignored: an index that is always taken.
        member: where in the list.
    """

    tensor: SSAValue
    place: int
    factors: Sequence[Factor]
    words: str
    from_end: bool = False
    lowest: int = 0
    beyond: int = 0
    ignored: int | None = None
    member: int = 0


Row = Callable[[Operation, Values], Iterator[Indices]]


def operator_name(op: Operation) -> str:
    """An op's name, also of one outside of the registry."""
    return op.op_name if isinstance(op, core.OperatorOp) else op.name


def indices_of(op: Operation, values: Values) -> list[Indices]:
    """The tensors of indices among the operands of an op, none for most."""
    row = _ROWS.get(operator_name(op))
    return [] if row is None else list(row(op, values))


def known_size(indices: Indices, values: Values) -> KnownSize | None:
    """The size that indices must keep to, if it is a number or an expression of sizes."""
    sizes = list[KnownSize]()
    for factor in indices.factors:
        size = _size_of(factor) if isinstance(factor, SizeOf) else values.of(factor)
        if not isinstance(size, int | Dim):
            return None
        sizes.append(size)
    return product(sizes)


def sizes_of(value: SSAValue) -> Sequence[KnownSize | None] | None:
    """The sizes of a tensor as far as they are known, None without a rank."""
    type = value.type
    return type.sizes if isinstance(type, t.AnyTensorType) else None


def is_integer(value: SSAValue) -> bool:
    """Whether the elements of a tensor are integers, and not booleans."""
    dtype = value.type.dtype if isinstance(value.type, t.AnyTensorType) else None
    return isinstance(dtype, IntegerType) and dtype != i1


def _size_of(size: SizeOf) -> KnownSize | None:
    sizes = sizes_of(size.tensor)
    return None if sizes is None else sizes[size.dim]


def _extents(tensor: SSAValue, dims: Sequence[int]) -> list[Factor] | None:
    """The sizes along dimensions counted from either end; a tensor of rank 0 has one place, along any."""
    sizes = sizes_of(tensor)
    if sizes is None:
        return None
    return [SizeOf(tensor, dim % len(sizes)) for dim in dims] if sizes else []


def _along(index: int, dim: int, from_end: bool = False) -> Row:
    """Indices along the dimension of the first operand that another one says."""

    def row(op: Operation, values: Values) -> Iterator[Indices]:
        axis = values.of(op.operands[dim])
        if isinstance(axis, int):
            factors = _extents(op.operands[0], [axis])
            if factors is not None:
                words = f"the size of dimension {axis}"
                yield Indices(op.operands[index], index, factors, words, from_end)

    return row


def _rows(op: Operation, values: Values) -> Iterator[Indices]:
    """Of a table of rows."""
    factors = _extents(op.operands[0], [0])
    if factors is not None:
        yield Indices(op.operands[1], 1, factors, "the number of rows")


def _bags(op: Operation, values: Values) -> Iterator[Indices]:
    """Of a table of rows, and where bags of them begin."""
    yield from _rows(op, values)
    indices, offsets = op.operands[1], op.operands[2]
    factors = _extents(indices, [0])
    if factors and len(sizes_of(indices) or ()) == 1 and sizes_of(offsets) is not None:
        yield Indices(offsets, 2, factors, "the number of indices in all bags", beyond=1)


def _elements(op: Operation, values: Values) -> Iterator[Indices]:
    """Of the first operand's elements, row after row."""
    sizes = sizes_of(op.operands[0])
    if sizes is not None:
        factors = [SizeOf(op.operands[0], dim) for dim in range(len(sizes))]
        yield Indices(op.operands[1], 1, factors, "the number of elements", from_end=True)


def _listed(op: Operation, values: Values) -> Iterator[Indices]:
    """One tensor for each of the first dimensions, or None; a mask stands for as many dimensions as it has."""
    listed, dim = values.of(op.operands[1]), 0
    for member, index in enumerate(listed if isinstance(listed, list) else ()):
        if not isinstance(index, SSAValue):
            dim += 1
            continue
        factors, sizes = _extents(op.operands[0], [dim]), sizes_of(index)
        if factors is None or sizes is None:
            return
        is_mask = index.type.dtype in _MASKS
        if not is_mask:
            words = f"the size of dimension {dim}"
            yield Indices(index, 1, factors, words, from_end=True, member=member)
        dim += len(sizes) if is_mask else 1


_MASKS = (i1, IntegerType(8, Signedness.UNSIGNED))
"""Element types of masks; PyTorch still takes bytes for one."""


def _classes(ignored: int | None = None, lowest: int = 0, last: bool = False) -> Row:
    """Of the classes of the first operand, along its dimension behind the batch, or the last one.

    Args:
        ignored: the operand that is an index to pass over.
        lowest: the lowest index.
        last: whether it is the last dimension.
    """

    def row(op: Operation, values: Values) -> Iterator[Indices]:
        rank = len(sizes_of(op.operands[0]) or ())
        factors = _extents(op.operands[0], [-1 if last or rank == 1 else 1])
        target = op.operands[1]
        passed = None if ignored is None else values.of(op.operands[ignored])
        if factors and is_integer(target) and isinstance(passed, int | None):
            yield Indices(
                target, 1, factors, "the number of classes", lowest=lowest, ignored=passed
            )

    return row


def _hot(op: Operation, values: Values) -> Iterator[Indices]:
    """Below a number, unless that comes from the elements themselves."""
    count = values.of(op.operands[1])
    if not isinstance(count, int) or count >= 0:
        yield Indices(op.operands[0], 0, [op.operands[1]], "num_classes")


def _volume(op: Operation, values: Values) -> Iterator[Indices]:
    """Of the places of a result whose sizes are given."""
    made = op.operands[2].owner
    if isinstance(made, core.PrimListConstructOp):
        yield Indices(op.operands[1], 1, list(made.operands), "the number of places in the result")


def _named(row: Row, names: str) -> dict[str, Row]:
    return {f"torch.aten.{name}": row for name in names.split()}


_ROWS: dict[str, Row] = {
    **_named(_along(2, dim=1), "gather index_select index_add index_copy index_reduce scatter_add"),
    **_named(_along(2, dim=1), "scatter.src scatter.value scatter.reduce scatter.value_reduce"),
    **_named(_along(2, dim=1), "scatter_reduce.two"),
    **_named(_along(2, dim=1, from_end=True), "index_fill.int_Scalar index_fill.int_Tensor"),
    **_named(_rows, "embedding"),
    **_named(_bags, "embedding_bag embedding_bag.padding_idx"),
    **_named(_bags, "_embedding_bag _embedding_bag_forward_only"),
    **_named(_elements, "take put"),
    **_named(_listed, "index.Tensor index.Tensor_hacked_twin index_put index_put.hacked_twin"),
    **_named(_listed, "_index_put_impl"),
    **_named(_classes(ignored=4), "cross_entropy_loss nll_loss nll_loss_nd nll_loss2d"),
    **_named(_classes(ignored=4), "nll_loss_forward nll_loss2d_forward"),
    **_named(_classes(last=True), "multi_margin_loss"),
    **_named(
        _classes(lowest=-1, last=True), "multilabel_margin_loss multilabel_margin_loss_forward"
    ),
    **_named(_hot, "one_hot"),
    **_named(_volume, "max_unpool2d max_unpool3d"),
}
"""Op -> its tensors of indices."""

TAKING_INDICES = frozenset(_ROWS)
"""The ops of the table."""
