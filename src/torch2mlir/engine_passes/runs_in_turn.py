"""Whether a program has to be run one step after the other, for an engine that loses track behind loops and branches.

IREE 3.13 starts what does not wait for each other, as far as it knows. What reads a tensor in a loop or branch and
what updates it in place behind that do not wait for each other, and with several threads the first may read what the
second has written: ``torch.cond(p, f, torch.clone, (x,)), x.index_copy(..)``. Of tensors of unknown sizes several lie
in one allocation, which is given back while others of them are in use.
"""

from __future__ import annotations

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from torch2mlir.dialects.tensors import shape_of
from torch2mlir.engine_passes.op_kinds import CONTROL_FLOW
from torch2mlir.engine_passes.own_written_arguments import updates_in_place


def runs_in_turn(function: FuncOp) -> bool:
    """Whether there are loops or branches that hand on tensors, and updates in place or unknown sizes."""
    ops = list(function.body.walk())
    handing_on = [op for op in ops if op.name in CONTROL_FLOW and _shapes(op)]
    if not handing_on:
        return False
    has_unknown_sizes = any(DYNAMIC_INDEX in shape for op in ops for shape in _shapes(op))
    return has_unknown_sizes or any(map(updates_in_place, ops))


def _shapes(op: Operation) -> list[tuple[int, ...]]:
    return [shape_of(x) for x in op.results if isinstance(x.type, TensorType)]
