"""``tosa-nested-branches-to-scf``: a ``tosa.cond_if`` with another branch or loop in it becomes an ``scf.if``.

IREE 3.13 converts a ``tosa.cond_if`` only if nothing in it has to be converted likewise. What an ``scf.if`` holds it
converts in any case.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import scf, tensor
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation, Region

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects import tosa
from torch2mlir.dialects.rows import RowOp
from torch2mlir.engine_passes.beside import Beside


class TosaNestedBranchesToScfPass(PassForOps):
    """See the module's docstring."""

    name = "tosa-nested-branches-to-scf"
    looks_for = frozenset({tosa.CondIfOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for branch in [each for each in op.walk() if isinstance(each, tosa.CondIfOp)]:
            if any(
                isinstance(inner, tosa.CondIfOp | tosa.WhileLoopOp) for inner in _inside(branch)
            ):
                _replace(branch)


def _inside(branch: RowOp) -> list[Operation]:
    return [op for op in branch.walk() if op is not branch]


def _replace(branch: RowOp) -> None:
    before, type = Beside(branch), branch.condition.type
    if not isinstance(type, TensorType):
        return
    indices = [before.index(0) for _ in type.get_shape()]
    condition = before.value(tensor.ExtractOp, [branch.condition, *indices], type.element_type)
    regions = [_region(branch, part) for part in (branch.then_graph, branch.else_graph)]
    new = before.create(scf.IfOp, [condition], branch.result_types, regions=regions)
    before.replace(*new.results)


def _region(branch: RowOp, region: Region) -> Region:
    """A branch without arguments: what is handed in is used as it is."""
    block = region.block
    for argument, value in zip(list(block.args), branch.input_list, strict=False):
        argument.replace_all_uses_with(value)
        block.erase_arg(argument)
    end = block.last_op
    if isinstance(end, tosa.YieldOp):
        block.insert_op_before(scf.YieldOp(*end.operands), end)
        end.detach()
        end.erase()
    return branch.detach_region(region)
