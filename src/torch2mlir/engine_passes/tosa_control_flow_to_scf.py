"""``tosa-control-flow-to-scf``: branches and loops of TOSA with others in them become those of ``scf``.

IREE 3.13 converts a ``tosa.cond_if`` or ``tosa.while_loop`` only if there is no other one in it, and takes none that
hands on a tensor without elements. Other loops stay as they are: more of them compile than of the ``scf.while`` that
they would be, where sizes are unknown.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.context import Context
from xdsl.dialects import scf, tensor
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Block, Operation, Region, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects import tosa
from torch2mlir.dialects.rows import RowOp
from torch2mlir.dialects.tensors import shape_of
from torch2mlir.engine_passes.beside import Beside

_CONTROL_FLOW = (tosa.CondIfOp, tosa.WhileLoopOp)


class TosaControlFlowToScfPass(PassForOps):
    """See the module's docstring."""

    name = "tosa-control-flow-to-scf"
    looks_for = frozenset(kind.name for kind in _CONTROL_FLOW)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if isinstance(each, _CONTROL_FLOW)]:
            if _has_others(each) or any(0 in shape_of(x) for x in each.results):
                _replace(each)


def _has_others(op: RowOp) -> bool:
    return any(inner is not op and isinstance(inner, _CONTROL_FLOW) for inner in op.walk())


def _replace(op: RowOp) -> None:
    before = Beside(op)
    if isinstance(op, tosa.WhileLoopOp):
        condition, body = op.cond_graph, op.body_graph
        regions = [_looping(op, condition), _ending(op, body, scf.YieldOp)]
        new = before.create(scf.WhileOp, op.input_list, op.result_types, regions=regions)
    else:
        decision = _element(before, op.condition)
        regions = [_without_arguments(op, part) for part in (op.then_graph, op.else_graph)]
        new = before.create(scf.IfOp, [decision], op.result_types, regions=regions)
    before.replace(*new.results)


def _element(before: Beside, condition: SSAValue) -> SSAValue:
    """The one element of a condition."""
    type = condition.type
    assert isinstance(type, TensorType)
    indices = [before.index(0) for _ in type.get_shape()]
    return before.value(tensor.ExtractOp, [condition, *indices], type.element_type)


def _looping(op: RowOp, region: Region) -> Region:
    """Whether a loop goes on, with what it carries, which the condition hands to the body."""
    block = region.block
    end = _end(block)
    condition = _element(Beside(end), end.operands[0])
    return _ending(op, region, scf.ConditionOp, [condition, *block.args])


def _without_arguments(op: RowOp, region: Region) -> Region:
    """A branch that takes no arguments: what is handed in is used as it is."""
    block = region.block
    for argument, value in zip(list(block.args), op.input_list, strict=False):
        argument.replace_all_uses_with(value)
        block.erase_arg(argument)
    return _ending(op, region, scf.YieldOp)


def _ending(
    op: RowOp, region: Region, kind: type[Operation], values: Iterable[SSAValue] | None = None
) -> Region:
    """A region of an op that ends otherwise, with the same values or with others."""
    end = _end(region.block)
    yielded = list(end.operands) if values is None else list(values)
    Beside(end).create(kind, yielded, [])
    end.detach()
    end.erase()
    return op.detach_region(region)


def _end(block: Block) -> Operation:
    end = block.last_op
    assert end is not None
    return end
