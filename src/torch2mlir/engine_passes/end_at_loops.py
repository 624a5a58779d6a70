"""``end-at-loops``: what IREE dispatches together ends at a loop that hands on tensors of unknown sizes.

IREE 3.13 sorts what it dispatches into partitions, and overlooks that a loop reads what was computed before it: a value
that is read by a loop and by an op behind it, as in ``x[x.argsort()]`` of a softmax, is computed together with that op,
and the program is refused ("circular dependency"). An op with effects, behind the loop, is an end of a partition. IREE
makes a loop of ``tosa.scatter`` too.
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
            scf.WhileOp.name,
            stablehlo.WhileOp.name,
            tosa.ScatterOp.name,
            tosa.WhileLoopOp.name,
        }
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in list(op.walk()):
            if each.name in self.looks_for and _hands_on_unknown_sizes(each):
                behind = Beside(each, behind=True)
                behind.value(OptimizationBarrierOp, [behind.index(0)], INDEX)


def _hands_on_unknown_sizes(loop: Operation) -> bool:
    types = [result.type for result in loop.results]
    return any(isinstance(type, TensorType) and not type.has_static_shape() for type in types)
