"""``end-at-loops``: what IREE dispatches together ends at a loop or branch that hands on tensors.

IREE 3.13 sorts what it dispatches into partitions, and overlooks that a loop or branch reads what was computed before:

- a value that is read by one and by an op behind it, as in ``x[x.argsort()]`` of a softmax, is computed together with
  that op, and the program is refused ("circular dependency");
- where the op behind it is a scatter, which IREE does in place in what it takes for the last use, the loop or branch
  reads what has been written already, in silence: ``torch.cond(p, f, g, (x,)), x.index_put(..)``.

An op with effects, behind the loop or branch, is an end of a partition. IREE makes a loop of a ``tosa.scatter`` of
unknown sizes too.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects import stablehlo, tosa
from torch2mlir.dialects.iree_barriers import OptimizationBarrierOp
from torch2mlir.engine_passes.beside import INDEX, Beside


class EndAtLoopsPass(PassForOps):
    """See the module's docstring."""

    name = "end-at-loops"
    looks_for = frozenset(
        {
            scf.ForOp.name,
            scf.IfOp.name,
            scf.WhileOp.name,
            stablehlo.CaseOp.name,
            stablehlo.IfOp.name,
            stablehlo.WhileOp.name,
            tosa.CondIfOp.name,
            tosa.ScatterOp.name,
            tosa.WhileLoopOp.name,
        }
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in list(op.walk()):
            if each.name in self.looks_for and _hands_on_tensors(each):
                behind = Beside(each, behind=True)
                behind.value(OptimizationBarrierOp, [behind.index(0)], INDEX)


def _hands_on_tensors(op: Operation) -> bool:
    types = [result.type for result in op.results if isinstance(result.type, TensorType)]
    if isinstance(op, tosa.ScatterOp):
        return any(not type.has_static_shape() for type in types)
    return bool(types)
