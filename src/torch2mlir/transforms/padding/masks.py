"""Masks for padding: the elements beyond the real sizes become the neutral element of what comes next."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from xdsl.dialects.builtin import FunctionType, i1
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim, KnownSize
from torch2mlir.frontends import dtypes
from torch2mlir.frontends.weights import constant_literal
from torch2mlir.transforms.folding.constants import constant, insert_before, int_before
from torch2mlir.transforms.padding.facts import Padding

EXTENT_TYPE = t.vtensor((), dtypes.element_type(torch.int64))
_INT64 = dtypes.element_type(torch.int64)


def extent(padding: Padding, op: Operation, size: Dim) -> SSAValue:
    """The real value of a size as a tensor of rank 0: an argument of the function."""
    if size not in padding.extents:
        function = _function_of(op)
        block = function.body.block
        argument = block.insert_arg(EXTENT_TYPE, len(block.args))
        argument.name_hint = "real_size"
        function.properties["function_type"] = FunctionType.from_lists(
            [each.type for each in block.args], list(function.function_type.outputs)
        )
        padding.extents[size] = argument
    return padding.extents[size]


def mask(padding: Padding, op: Operation, index: int, axes: Iterable[int], neutral: object) -> None:
    """Gives an op an operand that is ``neutral`` beyond the real sizes of the dimensions ``axes``."""
    value = op.operands[index]
    for axis in sorted(axes):
        value = _masked(padding, op, value, axis, neutral)
    op.operands[index] = value


def divide_by(padding: Padding, op: Operation, name: str, size: KnownSize) -> None:
    """Puts another op of the same operands, divided by the real value of a size, in the place of one."""
    assert isinstance(size, Dim)
    whole = core.build(name, list(op.operands), list(op.result_types))
    insert_before(op, whole)
    count = extent(padding, op, size)
    found = _built(op, "torch.aten.div.Tensor", [whole.results[0], count], op.result_types[0])
    op.results[0].replace_all_uses_with(found)
    op.detach()
    op.erase()


def with_extent(padding: Padding, op: Operation, name: str) -> Operation:
    """Puts an op with the real value of a size in the place of one that takes the size as a number; that op."""
    size = padding.whole(op.operands[1])
    assert isinstance(size, Dim)
    operands = [op.operands[0], extent(padding, op, size), *op.operands[2:]]
    other = core.build(name, operands, list(op.result_types))
    insert_before(op, other)
    op.results[0].replace_all_uses_with(other.results[0])
    op.detach()
    op.erase()
    return other


def neutral_of(value: SSAValue, least: bool) -> float | int | bool:
    """The element that no other is smaller (``least``) or larger than, in a tensor's dtype."""
    dtype = dtypes.FROM_ELEMENT_TYPE[value.type.dtype]  # type: ignore[attr-defined]
    if dtype is torch.bool:
        return not least
    if dtype.is_floating_point:
        return float("-inf") if least else float("inf")
    info = torch.iinfo(dtype)
    return info.min if least else info.max


def _masked(
    padding: Padding, op: Operation, value: SSAValue, axis: int, neutral: object
) -> SSAValue:
    type = value.type
    assert isinstance(type, t.ValueTensorType) and type.sizes is not None
    size = type.sizes[axis]
    assert isinstance(size, Dim)
    length = _built(op, "torch.aten.size.int", [value, int_before(op, axis)], t.int_type)
    none = _constant(op, None)
    places = _built(
        op,
        "torch.aten.arange.start_step",
        [int_before(op, 0), length, int_before(op, 1), none, none, none, none],
        t.vtensor((size,), _INT64),
    )
    inside = _built(
        op, "torch.aten.lt.Tensor", [places, extent(padding, op, size)], t.vtensor((size,), i1)
    )
    sizes: tuple[object, ...] = (size,)
    for _ in range(len(type.sizes) - axis - 1):
        sizes = (*sizes, 1)
        inside = _built(
            op,
            "torch.aten.unsqueeze",
            [inside, int_before(op, -1)],
            t.vtensor(sizes, i1),
        )
    other = constant_literal(torch.tensor(neutral, dtype=dtypes.FROM_ELEMENT_TYPE[type.dtype]))  # type: ignore[index]
    insert_before(op, other)
    return _built(op, "torch.aten.where.self", [inside, value, other.results[0]], type)


def _built(op: Operation, name: str, operands: list[SSAValue], type: Attribute) -> SSAValue:
    new = core.build(name, operands, [type])
    insert_before(op, new)
    return new.results[0]


def _constant(op: Operation, value: object) -> SSAValue:
    new = constant(value, t.none_type)
    insert_before(op, new)
    return new.results[0]


def _function_of(op: Operation) -> FuncOp:
    parent = op.parent_op()
    assert isinstance(parent, FuncOp), "only the ops of a function itself are masked"
    return parent
