"""Complex tensors at a function's boundary as tensors of their parts, for a dialect without complex numbers.

What is complex among arguments, literals and results becomes a tensor of floats with one dimension more, of size 2,
behind the others: the real part and the imaginary part, as ``torch.view_as_real`` sees the same memory.
"""

from __future__ import annotations

from math import prod
from typing import Any

from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, FunctionType, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from torch2mlir.contract.element_types import is_complex, part_of
from torch2mlir.dialects.torch import core, find_op
from torch2mlir.dialects.torch.types import ValueTensorType, vtensor
from torch2mlir.dialects.weights import WeightAttr

OF_FLOATS, TO_FLOATS = "torch.aten.view_as_complex", "torch.aten.view_as_real"


def floats_at_boundary(function: FuncOp) -> None:
    """Gives a function arguments, literals and results of floats; in place.

    ``aten.view_as_complex`` of the arguments and literals and ``aten.view_as_real`` of the results are added.
    """
    entry = function.body.block
    for argument in list(entry.args):
        if (type := _parts_type(argument.type)) is not None:
            _retype_argument(argument, type, entry)
    for op in list(function.walk()):
        if isinstance(op, core.ValueTensorLiteralOp):
            _retype_literal(op)
        elif isinstance(op, ReturnOp):
            for index, value in enumerate(op.operands):
                if (type := _parts_type(value.type)) is not None:
                    parts = _op(TO_FLOATS, value, type, op)
                    _insert_before(op, parts)
                    op.operands[index] = parts.results[0]
            function.properties["function_type"] = FunctionType.from_lists(
                [argument.type for argument in entry.args], list(op.operand_types)
            )


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


def _retype_argument(old: BlockArgument, type: ValueTensorType, entry: Block) -> None:
    """An argument of floats in the place of a complex one; what used that gets what is made of it first of all."""
    new = entry.insert_arg(type, old.index)
    new.name_hint = old.name_hint
    made = _op(OF_FLOATS, new, old.type, None)
    first = entry.first_op
    assert first is not None  # a function returns
    _insert_before(first, made)
    old.replace_all_uses_with(made.results[0])
    entry.erase_arg(old)


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
    if literal.is_splat() and pairs > 1 and len(data) == literal.type.element_type.compile_time_size:
        data *= pairs  # one number for all of them: its parts are two
    return DenseIntOrFPElementsAttr(type, BytesAttr(data))
