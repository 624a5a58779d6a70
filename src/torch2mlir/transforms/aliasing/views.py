"""Views of tensors: which ops give exactly a part of their operand, and how a write to the part changes the whole."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.builder import Builder
from xdsl.ir import Operation, SSAValue

from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.values import Values
from torch2mlir.transforms.folding.constants import constant

WriteBack = Callable[[Builder, Operation, SSAValue, SSAValue], SSAValue]
"""``(builder, view op, the whole, the new part) -> the new whole``."""


def _itself(builder: Builder, view: Operation, whole: SSAValue, part: SSAValue) -> SSAValue:
    return part


def _op(builder: Builder, name: str, whole: SSAValue, *operands: SSAValue) -> SSAValue:
    """A new op that gives a tensor like the whole one."""
    return builder.insert(core.build(name, operands, [whole.type])).results[0]


def _scattered(name: str) -> WriteBack:
    """The op that puts a part back, with the operands of the one that took it."""

    def write_back(builder: Builder, view: Operation, whole: SSAValue, part: SSAValue) -> SSAValue:
        return _op(builder, f"torch.aten.{name}", whole, whole, part, *view.operands[1:])

    return write_back


def _undone(name: str) -> WriteBack:
    """The op that undoes the view, with the same operands."""

    def write_back(builder: Builder, view: Operation, whole: SSAValue, part: SSAValue) -> SSAValue:
        return _op(builder, f"torch.aten.{name}", whole, part, *view.operands[1:])

    return write_back


def _reshaped(builder: Builder, view: Operation, whole: SSAValue, part: SSAValue) -> SSAValue:
    return _op(builder, "torch.aten.reshape_as", whole, part, whole)


def _order(view: Operation) -> list[int] | None:
    """The order of a permutation, if it is constant."""
    order = Values().of(view.operands[1])
    constant = isinstance(order, list) and all(isinstance(d, int) for d in order)
    return order if constant else None


def _unpermuted(builder: Builder, view: Operation, whole: SSAValue, part: SSAValue) -> SSAValue:
    order = _order(view) or []
    places = [d % len(order) for d in order]
    back = [
        builder.insert(constant(places.index(d), t.int_type)).results[0] for d in range(len(places))
    ]
    dims = core.PrimListConstructOp.create(operands=back, result_types=[t.ListType(t.int_type)])
    return _op(builder, "torch.aten.permute", whole, part, builder.insert(dims).results[0])


def _narrowed(builder: Builder, view: Operation, whole: SSAValue, part: SSAValue) -> SSAValue:
    dim, start, length = view.operands[1:]
    end = core.build("torch.aten.add.int", [start, length], [t.int_type])
    step = constant(1, t.int_type)
    end_value, step_value = builder.insert(end).results[0], builder.insert(step).results[0]
    operands = (whole, part, dim, start, end_value, step_value)
    return _op(builder, "torch.aten.slice_scatter", whole, *operands)


EXACT_VIEWS: dict[str, WriteBack | None] = {
    core.TensorStaticInfoCastOp.name: _itself,
    **{
        f"torch.aten.{name}": write_back
        for name, write_back in {
            "alias": _itself,
            "detach": _itself,
            "select.int": _scattered("select_scatter"),
            "slice.Tensor": _scattered("slice_scatter"),
            "diagonal": _scattered("diagonal_scatter"),
            "as_strided": _scattered("as_strided_scatter"),
            "narrow": _narrowed,
            "transpose.int": _undone("transpose.int"),
            "swapaxes": _undone("swapaxes"),
            "swapdims": _undone("swapdims"),
            "t": _undone("t"),
            "numpy_T": _undone("numpy_T"),
            "permute": _unpermuted,
            "unsqueeze": _undone("squeeze.dim"),
            "squeeze": _reshaped,
            "squeeze.dim": _reshaped,
            "squeeze.dims": _reshaped,
            "view": _reshaped,
            "view_as": _reshaped,
            "unflatten.int": _reshaped,
            "expand": None,
            "expand_as": None,
            "unfold": None,
            "view_as_real": None,
            "view_as_complex": None,
        }.items()
    },
}
"""Ops whose one result is always a view of their first operand, and what a write to it does.

None: several elements of the part are one element of the whole, or of another type.

Ops that give a view or a copy, as the strides are (``reshape``, ``contiguous``, ``to``), are not here.
"""


def write_back(view: Operation) -> WriteBack | None:
    """How a write to a view changes the whole, or None if it cannot be said."""
    if view.name == "torch.aten.permute" and _order(view) is None:
        return None
    return EXACT_VIEWS[view.name]
