"""``compute-masks-first``: of masks that are computed from masks, some are computed before what reads them.

IREE 3.13 computes a mask, a tensor of ``i1``, anew in every loop that reads it, and so all masks behind it, once for
every way that leads to one: ``v = v ^ (v & ~v.t())`` doubles what is compiled at every step, and six of them take 25
seconds, twenty do not end. A barrier keeps apart what would be computed from more than a few dozen masks.
"""

from __future__ import annotations

from collections import defaultdict

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, i1
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from torch2mlir.engine_passes.kept_apart import keep_apart

_MOST = 24
"""Masks computed within one loop, each counted as often as it is."""


class ComputeMasksFirstPass(ModulePass):
    """See the module's docstring."""

    name = "compute-masks-first"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        counts, many = defaultdict[SSAValue, int](int), list[SSAValue]()
        for each in op.walk():
            masks = [result for result in each.results if _is_mask(result)]
            if not masks:
                continue
            count = 1 + sum(counts[operand] for operand in each.operands)
            if count > _MOST:
                many += masks
                count = 1
            counts.update(dict.fromkeys(masks, count))
        for mask in many:
            keep_apart(mask)


def _is_mask(value: SSAValue) -> bool:
    return isinstance(value.type, TensorType) and value.type.element_type == i1
