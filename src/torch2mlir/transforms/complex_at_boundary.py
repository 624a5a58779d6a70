"""Complex tensors at boundaries as tensors of their parts, for a dialect without complex numbers.

What is complex among a function's arguments, literals and results, and among what its loops carry and its branches
yield, becomes a tensor of floats with one dimension more, of size 2, behind the others: the real part and the imaginary
part, as ``torch.view_as_real`` sees the same memory.
"""

from __future__ import annotations

from math import prod
from typing import Any

from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, FunctionType, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from torch2mlir.contract.element_types import is_complex, part_of
from torch2mlir.dialects.torch import core, find_op
from torch2mlir.dialects.torch.types import ValueTensorType, vtensor
from torch2mlir.dialects.weights import WeightAttr

OF_FLOATS, TO_FLOATS = "torch.aten.view_as_complex", "torch.aten.view_as_real"


def floats_at_boundary(function: FuncOp) -> None:
    """Gives a function arguments, literals and results of floats, and its loops and branches too; in place.

    ``aten.view_as_complex`` of what comes in and ``aten.view_as_real`` of what goes out are added.
    """
    entry = function.body.block
    _retype_arguments(entry)
    for op in list(function.walk()):
        if isinstance(op, core.ValueTensorLiteralOp):
            _retype_literal(op)
        elif isinstance(op, ReturnOp):
            _hand_on_floats(op)
            function.properties["function_type"] = FunctionType.from_lists(
                [argument.type for argument in entry.args], list(op.operand_types)
            )
        elif isinstance(op, core.PrimLoopConditionOp | core.PrimIfYieldOp):
            _hand_on_floats(op)
        elif isinstance(op, core.PrimLoopOp):
            _hand_on_floats(op)
            _retype_arguments(op.body.block)
            _retype_results(op)
        elif isinstance(op, core.PrimIfOp):
            _retype_results(op)


def _parts_type(type: Attribute) -> ValueTensorType | None:
    """The type of the parts of a complex tensor; None for what is none."""
    if not isinstance(type, ValueTensorType) or type.dtype is None or not is_complex(type.dtype):
        return None
    return vtensor(None if type.sizes is None else (*type.sizes, 2), part_of(type.dtype))


def _op(name: str, value: SSAValue, type: Attribute, place: Operation | None) -> Operation:
    op_type = find_op(name)
    assert op_type is not None
    location = None if place is None else place.location
    return op_type.create(operands=[value], result_types=[type], location=location)


def _insert_before(place: Operation, *ops: Operation) -> None:
    assert place.parent is not None
    place.parent.insert_ops_before(ops, place)


def _retype_arguments(block: Block) -> None:
    """Arguments of floats in the place of complex ones, which are made of them first of all."""
    for old in list(block.args):
        type = _parts_type(old.type)
        if type is None:
            continue
        new = block.insert_arg(type, old.index)
        new.name_hint = old.name_hint
        made = _op(OF_FLOATS, new, old.type, None)
        first = block.first_op
        assert first is not None  # the one that ends the block
        _insert_before(first, made)
        old.replace_all_uses_with(made.results[0])
        block.erase_arg(old)


def _hand_on_floats(op: Operation) -> None:
    """Floats in the place of an op's complex operands."""
    for index, value in enumerate(op.operands):
        if (type := _parts_type(value.type)) is not None:
            parts = _op(TO_FLOATS, value, type, op)
            _insert_before(op, parts)
            op.operands[index] = parts.results[0]


def _retype_results(op: Operation) -> None:
    """A loop or branch that gives floats where it gave complex tensors."""
    types = [_parts_type(type) for type in op.result_types]
    if not any(types):
        return
    new = op.__class__.create(
        operands=list(op.operands),
        result_types=[type or old for type, old in zip(types, op.result_types, strict=True)],
        properties=dict(op.properties),
        attributes=dict(op.attributes),
        regions=[op.detach_region(region) for region in list(op.regions)],
        location=op.location,
    )
    made = list[Operation]()
    for old, result in zip(op.results, new.results, strict=True):
        if result.type == old.type:
            old.replace_all_uses_with(result)
            continue
        made.append(_op(OF_FLOATS, result, old.type, op))
        old.replace_all_uses_with(made[-1].results[0])
    _insert_before(op, new, *made)
    op.detach()
    op.erase()


def _retype_literal(op: core.ValueTensorLiteralOp) -> None:
    old = op.results[0]
    type = _parts_type(old.type)
    if type is None or type.sizes is None:
        return
    elements = _parts(op.value, TensorType(part_of(old.type.dtype), list(type.sizes)))  # type: ignore
    literal = core.ValueTensorLiteralOp.create(
        result_types=[type], properties={"value": elements}, location=op.location
    )
    made = _op(OF_FLOATS, literal.results[0], old.type, op)
    _insert_before(op, literal, made)
    old.replace_all_uses_with(made.results[0])
    op.detach()
    op.erase()


def _parts(literal: Attribute, type: TensorType[Any]) -> Attribute:
    """A literal of complex numbers as one of floats: the same bytes."""
    if isinstance(literal, WeightAttr):
        return WeightAttr(literal.source, type)
    assert isinstance(literal, DenseIntOrFPElementsAttr)
    data, pairs = literal.data.data, prod(type.get_shape()) // 2
    if (
        literal.is_splat()
        and pairs > 1
        and len(data) == literal.type.element_type.compile_time_size
    ):
        data *= pairs  # one number for all of them: its parts are two
    return DenseIntOrFPElementsAttr(type, BytesAttr(data))
