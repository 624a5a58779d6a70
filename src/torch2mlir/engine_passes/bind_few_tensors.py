"""``bind-few-tensors``: what is computed from more tensors than one dispatch can read is computed in several.

IREE 3.13 computes a chain of elementwise ops as one dispatch, whatever it reads; its runtime takes 32 tensors in one,
and a program with more is refused when it is loaded ("binding count 43 > 32"): the sum of the losses of 40 layers was.
Left are many numbers that have nothing to do with each other, each computed from another number, which IREE computes
in one dispatch all the same (``torch.stack([x.norm() for x in gradients])`` of 40).
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.context import Context
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from torch2mlir.engine_passes.kept_apart import keep_apart
from torch2mlir.engine_passes.read_places import is_root, read_in_loops

_MOST = 24
"""Tensors that one dispatch reads; results and sizes are bound as well."""

Bound = frozenset[SSAValue]


class BindFewTensorsPass(ModulePass):
    """See the module's docstring."""

    name = "bind-few-tensors"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        bound = dict[SSAValue, Bound]()
        for each in list(op.walk()):
            operands = [x for x in read_in_loops(each) if not _is_number(x)]
            tensors = _read(operands, bound)
            while len(tensors) > _MOST:
                first = max(operands, key=lambda x: len(bound.get(x, ())))
                if len(bound.pop(first, ())) < 2:
                    break  # its own operands are too many
                keep_apart(first)
                operands = [x for x in read_in_loops(each) if not _is_number(x)]
                tensors = _read(operands, bound)
            if operands and not is_root(each) and each.results[0].has_one_use():
                bound[each.results[0]] = tensors


def _read(operands: list[SSAValue], bound: Mapping[SSAValue, Bound]) -> Bound:
    return Bound().union(*(bound.get(x, {x}) for x in operands))


def _is_number(x: SSAValue) -> bool:
    """Whether all elements are one number, which is no tensor in memory."""
    if not isinstance(x.owner, Operation):
        return False
    literal = x.owner.properties.get("value", x.owner.properties.get("values"))
    return isinstance(literal, DenseIntOrFPElementsAttr) and literal.is_splat()
