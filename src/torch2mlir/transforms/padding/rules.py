"""For each core op: under which conditions its real elements are right, given operands whose real elements are.

A rule refuses, or returns; where a reduction would take padding in, it masks the operand with the neutral element. An
op without a rule is refused as soon as it has to do with padding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any

import torch
from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, SSAValue

from torch2mlir.contract.core_ops import BINARY, COMPLEX, SELECTION, UNARY
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import KnownSize
from torch2mlir.transforms.padding.facts import Padding, Sizes, refuse
from torch2mlir.transforms.padding.masks import divide_by, mask, neutral_of, with_extent
from torch2mlir.transforms.padding.views import check_view

Rule = Callable[[Padding, Operation], None]
RULES: dict[str, Rule] = {}


def _rule(*names: str) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        for name in names:
            RULES[name if name.startswith("torch.") else f"torch.aten.{name}"] = rule
        return rule

    return register


def _numbers(padding: Padding, op: Operation, but: Sequence[int] = ()) -> None:
    """Refuses an op that computes with a number which is another one with padding; ``but`` are operands that may be."""
    for index, operand in enumerate(op.operands):
        if index not in but and not padding.is_right(operand):
            refuse(op, "a size that is rounded up is used as a number")


def _tensors(op: Operation) -> list[SSAValue]:
    return [operand for operand in op.operands if isinstance(operand.type, t.AnyTensorType)]


def _axis(padding: Padding, op: Operation, index: int, rank: int) -> int:
    """A dimension that an operand of an op says, from the front."""
    axis = padding.values.of(op.operands[index])
    if not isinstance(axis, int):
        refuse(op, "its dimension is not known")
    return axis % max(rank, 1)


def _aligned(padding: Padding, op: Operation, operands: Sequence[Sizes], result: Sizes) -> None:
    """Refuses operands of which a padded dimension is neither 1 nor that of the result."""
    for sizes in operands:
        for size, wanted in zip_longest(reversed(sizes), reversed(result), fillvalue=1):
            involved = padding.is_padded(size) or padding.is_padded(wanted)
            if involved and size not in (1, wanted):
                refuse(
                    op,
                    f"sizes {size} and {wanted} are equal in a call, and need not be when rounded up",
                )


_WITH_TENSOR = {
    name: name.replace("Tensor_Scalar", "Tensor_Tensor").replace(".Scalar", ".Tensor")
    for name in BINARY
    if name.endswith(".Scalar") or name.endswith("pow.Tensor_Scalar")
}
"""Ops of a tensor and a number, and those of two tensors."""
del _WITH_TENSOR["torch.aten.pow.Scalar"]  # whose number comes first


@_rule(*UNARY, *BINARY, *SELECTION, *COMPLEX, "torch.prims.convert_element_type")
def _elementwise(padding: Padding, op: Operation) -> None:
    if (other := _WITH_TENSOR.get(op.name)) and _takes_size(padding, op):
        op = with_extent(padding, op, other)
    _numbers(padding, op)
    result = padding.sizes(op.results[0])
    _aligned(padding, op, [padding.sizes(value) for value in _tensors(op)], result)


def _takes_size(padding: Padding, op: Operation) -> bool:
    """Whether the number of an op is a size that is rounded up; one that is a float makes floats of integers."""
    dtype = padding.dtype(op.operands[0])
    is_int = isinstance(op.operands[1].type, t.IntType)
    is_float = dtype is not None and dtype.is_floating_point
    return padding.is_padded(padding.whole(op.operands[1])) and (is_int or is_float)


@_rule("view.dtype")
def _bits(padding: Padding, op: Operation) -> None:
    if padding.sizes(op.operands[0]) != padding.sizes(op.results[0]):
        refuse(op, "it counts elements by their bytes")


# reductions


def _reduced(padding: Padding, op: Operation, index: int = 1) -> set[int]:
    """The padded ones among the dimensions that a reduction goes over."""
    rank = len(padding.sizes(op.operands[0]))
    over = padding.values.of(op.operands[index])
    if isinstance(over, int):
        over = [over]
    if over is None or over == []:
        over = list(range(rank))
    if not isinstance(over, list) or not all(isinstance(axis, int) for axis in over):
        refuse(op, "its dimensions are not known")
    _numbers(padding, op)
    return {axis % max(rank, 1) for axis in over} & padding.axes(op.operands[0])


def _reduction(padding: Padding, op: Operation, neutral: Callable[[SSAValue], Any]) -> None:
    if axes := _reduced(padding, op):
        mask(padding, op, 0, axes, neutral(op.operands[0]))


_least = partial(neutral_of, least=True)
_most = partial(neutral_of, least=False)
for _name, _neutral in (
    ("sum.dim_IntList", lambda value: 0),
    ("prod.dim_int", lambda value: 1),
    ("any.dims", lambda value: 0),
    ("all.dims", lambda value: 1),
    # a place in padding comes after every real one, and equal elements have the place of the first
    ("amax", _least),
    ("max.dim", _least),
    ("amin", _most),
    ("min.dim", _most),
):
    _rule(_name)(partial(_reduction, neutral=_neutral))


def _place(padding: Padding, op: Operation, neutral: Callable[[SSAValue], Any]) -> None:
    """A place in a dimension, or in all of them one behind the other: those but the outermost are the real sizes."""
    inner = [size for size in padding.sizes(op.operands[0]) if size != 1][1:]
    if padding.values.of(op.operands[1]) is None and any(map(padding.is_padded, inner)):
        refuse(op, "a place in the whole tensor counts the padding of its lines")
    _reduction(padding, op, neutral)


_rule("argmax")(partial(_place, neutral=_least))
_rule("argmin")(partial(_place, neutral=_most))


@_rule("mean.dim")
def _mean(padding: Padding, op: Operation) -> None:
    """The sum over the real elements, divided by how many there are."""
    if axes := _reduced(padding, op):
        if padding.dtype(op.operands[0]) not in (torch.float32, torch.float64):
            refuse(op, "sum and quotient would round twice")
        over = padding.values.of(op.operands[1])
        sizes = padding.sizes(op.operands[0])
        counted = sizes if not over else [sizes[axis] for axis in over]
        mask(padding, op, 0, axes, 0)
        divide_by(padding, op, "torch.aten.sum.dim_IntList", dims.product(list(counted)))


@_rule("cumsum")
def _running(padding: Padding, op: Operation) -> None:
    """Of an element and those before it; padding comes after."""
    _numbers(padding, op)


@_rule("sort.stable")
def _sort(padding: Padding, op: Operation) -> None:
    _numbers(padding, op)
    value = op.operands[0]
    if _axis(padding, op, 2, len(padding.sizes(value))) in padding.axes(value):
        refuse(op, "padding would be sorted in among the elements")


# products


def _contract(
    padding: Padding, op: Operation, first: tuple[int, int], second: tuple[int, int]
) -> None:
    """Two operands, each with its contracted dimension: padding there becomes zeros."""
    sizes = [padding.sizes(op.operands[index])[axis] for index, axis in (first, second)]
    if any(map(padding.is_padded, sizes)):
        if sizes[0] != sizes[1]:
            refuse(
                op,
                f"sizes {sizes[0]} and {sizes[1]} are equal in a call, and need not be when rounded up",
            )
        for index, axis in (first, second):
            rank = len(padding.sizes(op.operands[index]))
            mask(padding, op, index, [axis % rank], 0)


@_rule("mm", "bmm")
def _product(padding: Padding, op: Operation) -> None:
    batches = [padding.sizes(value)[:-2] for value in op.operands]
    _aligned(padding, op, batches, padding.sizes(op.results[0])[:-2])
    _contract(padding, op, (0, -1), (1, -2))


@_rule("addmm")
def _product_and_sum(padding: Padding, op: Operation) -> None:
    _numbers(padding, op)
    _aligned(padding, op, [padding.sizes(op.operands[0])], padding.sizes(op.results[0]))
    _contract(padding, op, (1, -1), (2, -2))


@_rule("linear")
def _linear(padding: Padding, op: Operation) -> None:
    if any(padding.axes(value) for value in _tensors(op)[2:]):
        refuse(op, "its bias is padded")
    _contract(padding, op, (0, -1), (1, -1))


@_rule("convolution")
def _convolution(padding: Padding, op: Operation) -> None:
    """Zeros beyond an image are what a convolution pads it with."""
    _numbers(padding, op)
    if any(padding.axes(value) for value in _tensors(op)[1:]) or 1 in padding.axes(op.operands[0]):
        refuse(op, "its weight or its channels are padded")
    if axes := padding.axes(op.operands[0]) - {0}:
        mask(padding, op, 0, axes, 0)


@_rule("avg_pool2d", "max_pool2d_with_indices")
def _pool(padding: Padding, op: Operation) -> None:
    _numbers(padding, op)
    rank = len(padding.sizes(op.operands[0]))
    if padding.axes(op.operands[0]) & {rank - 1, rank - 2}:
        refuse(op, "its windows reach into padding")


# data movement


@_rule("view")
def _view(padding: Padding, op: Operation) -> None:
    check_view(padding, op, padding.sizes(op.operands[0]), padding.sizes(op.results[0]))


@_rule("permute", "unsqueeze", "squeeze.dims")
def _arranged(padding: Padding, op: Operation) -> None:
    _numbers(padding, op)


@_rule("expand")
def _expand(padding: Padding, op: Operation) -> None:
    _aligned(padding, op, [padding.sizes(op.operands[0])], padding.sizes(op.results[0]))


@_rule("repeat")
def _repeat(padding: Padding, op: Operation) -> None:
    """An element comes again after as many as its dimension has: that has to be the real size."""
    counts = padding.numbers(op, 1)
    sizes = padding.sizes(op.operands[0])
    for size, count in zip(reversed(sizes), reversed(counts)):
        if padding.is_padded(size) and count != 1:
            refuse(op, "copies of a padded dimension would stand behind its padding")


@_rule("cat")
def _cat(padding: Padding, op: Operation) -> None:
    members = padding.values.of(op.operands[0])
    result = padding.sizes(op.results[0])
    axis = _axis(padding, op, 1, len(result))
    for index, member in enumerate(members):
        sizes = padding.sizes(member)
        if sizes == (0,):  # PyTorch takes nothing of rank 1 beside any rank
            continue
        if padding.is_padded(sizes[axis]) and index < len(members) - 1:
            refuse(op, "what comes after a padded tensor would stand behind its padding")
        rest = tuple(size for i, size in enumerate(sizes) if i != axis)
        _aligned(padding, op, [rest], tuple(s for i, s in enumerate(result) if i != axis))


@_rule("flip")
def _flip(padding: Padding, op: Operation) -> None:
    rank = len(padding.sizes(op.operands[0]))
    axes = {axis % max(rank, 1) for axis in padding.numbers(op, 1)}
    if axes & padding.axes(op.operands[0]):
        refuse(op, "padding would come first")


@_rule("constant_pad_nd")
def _pad(padding: Padding, op: Operation) -> None:
    """What is added at the end of a padded dimension stands in its padding already, once that is masked with it."""
    _numbers(padding, op)
    amounts, value = padding.numbers(op, 1), padding.values.of(op.operands[2])
    rank = len(padding.sizes(op.operands[0]))
    for axis in padding.axes(op.operands[0]):
        behind = 2 * (rank - 1 - axis) + 1
        if behind < len(amounts) and amounts[behind] != 0:
            if (
                not isinstance(amounts[behind], int)
                or amounts[behind] < 0
                or not isinstance(value, int | float)
            ):
                refuse(op, "what it does at the end of a dimension it would do behind its padding")
            mask(padding, op, 0, [axis], value)


def _is_from_front(place: Any) -> bool:
    """Whether a place counts from the front, and so is the same with padding."""
    return place is None or (isinstance(place, int) and place >= 0)


def _begins_at_same(padding: Padding, op: Operation) -> bool:
    """Whether what a slice or select takes begins at the same element with padding."""
    sizes = padding.sizes(op.operands[0])
    if not padding.is_padded(sizes[_axis(padding, op, 1, len(sizes))]):
        return padding.is_right(op.operands[2])
    return _is_from_front(padding.values.of(op.operands[2]))


@_rule("slice.Tensor")
def _slice(padding: Padding, op: Operation) -> None:
    _numbers(padding, op, but=(2, 3))
    if not _begins_at_same(padding, op):
        refuse(op, "it begins at a place that counts from the end, or moves with a size")


@_rule("select.int")
def _select(padding: Padding, op: Operation) -> None:
    _numbers(padding, op, but=(2,))
    if not _begins_at_same(padding, op):
        refuse(op, "it takes a place that counts from the end, or moves with a size")


# indexing: places are those of real elements where they are real themselves


@_rule("embedding")
def _embedding(padding: Padding, op: Operation) -> None:
    if padding.axes(op.operands[0]):
        refuse(op, "its table is padded")


@_rule("gather")
def _gather(padding: Padding, op: Operation) -> None:
    _index_select(padding, op)
    axis = _axis(padding, op, 1, len(padding.sizes(op.operands[0])))
    both = [padding.sizes(op.operands[place]) for place in (0, 2)]
    rest = [tuple(s for i, s in enumerate(sizes) if i != axis) for sizes in both]
    if rest[0] != rest[1] and any(map(padding.is_padded, (*rest[0], *rest[1]))):
        refuse(op, "its places have other sizes than what it takes them of")


@_rule("index_select")
def _index_select(padding: Padding, op: Operation) -> None:
    sizes = padding.sizes(op.operands[0])
    size = sizes[_axis(padding, op, 1, len(sizes))]
    if padding.is_padded(size) and not _counts_up_to(padding, op.operands[2], size):
        refuse(
            op, "places in a padded dimension may be behind its real size, or count from its end"
        )


@_rule("index.Tensor")
def _index(padding: Padding, op: Operation) -> None:
    indices = padding.values.of(op.operands[1])
    sizes = padding.sizes(op.operands[0])
    given = [(axis, index) for axis, index in enumerate(indices) if isinstance(index, SSAValue)]
    shapes = [padding.sizes(index) for _, index in given]
    for axis, index in given:
        size = sizes[axis]
        if padding.is_padded(size) and not _counts_up_to(padding, index, size):
            refuse(
                op,
                "places in a padded dimension may be behind its real size, or count from its end",
            )
    if any(index.type.dtype == i1 for _, index in given):
        refuse(op, "how many elements a mask takes is not known")
    longest = max(shapes, key=len)
    spread: list[KnownSize] = [1] * len(longest)
    for shape in shapes:
        for place, size in enumerate(reversed(shape)):
            if size != 1:
                spread[-1 - place] = size
    _aligned(padding, op, shapes, tuple(spread))


def _counts_up_to(padding: Padding, value: SSAValue, size: KnownSize) -> bool:
    """Whether the integers of a tensor are known to be places in a dimension: counted up to its size, and moved about.

    Others may be outside of the real size and within the padding, or count from the end of that.
    """
    op = value.owner
    if not isinstance(op, Operation):
        return False
    if op.name == "torch.aten.arange.start_step":
        start, end, step = (padding.values.of(operand) for operand in op.operands[:3])
        return _is_from_front(start) and step == 1 and end == size
    nothing = op.name == "torch.aten.add.Scalar" and padding.values.of(op.operands[1]) == 0
    return (nothing or op.name in _MOVES) and _counts_up_to(padding, op.operands[0], size)


_MOVES = {
    f"torch.aten.{name}"
    for name in ("view", "expand", "unsqueeze", "squeeze.dims", "permute", "slice.Tensor")
}


# constructors


@_rule("full")
def _full(padding: Padding, op: Operation) -> None:
    _numbers(padding, op, but=(0,))


@_rule("arange.start_step")
def _arange(padding: Padding, op: Operation) -> None:
    _numbers(padding, op, but=(1,))


@_rule("scalar_tensor")
def _scalar(padding: Padding, op: Operation) -> None:
    _numbers(padding, op)
