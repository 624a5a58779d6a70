"""``compute-reductions-first``: what a loop reads at two places of one reduction is computed before the loop.

IREE 3.13 computes a reduction within the loop that reads it, tile by tile, and has one tile for all reads: of
``torch.outer(v, v)`` with ``v = x.sum(0)`` only the diagonal is right, and so is of ``s + s.T`` for a softmax. Where a
loop, through ops that it is fused with, reaches a reduction by different subscripts, a barrier keeps them apart. Two
reductions are one if they are equal but for dimensions of size 1, which IREE drops: ``x.sum(1, True) + x.sum(1)``.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr
from xdsl.passes import ModulePass

from torch2mlir.dialects import linalg
from torch2mlir.dialects.tensors import shape_of
from torch2mlir.engine_passes.equal_values import EqualValues
from torch2mlir.engine_passes.kept_apart import keep_apart
from torch2mlir.engine_passes.op_kinds import BROADCASTS, RESHAPES, TRANSPOSES
from torch2mlir.engine_passes.read_places import (
    FIRST,
    Access,
    followed,
    is_root,
    steps,
    subscripts,
)

_MOVING = RESHAPES | TRANSPOSES | BROADCASTS
"""Ops that loops are fused through and that change which dimension is which."""


class ComputeReductionsFirstPass(ModulePass):
    """See the module's docstring."""

    name = "compute-reductions-first"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not any(map(_reads_elsewhere, op.walk())):
            return
        reads = _Reads()
        for each in op.walk():
            reads.add(each)
        for value in reads.read_twice():
            keep_apart(value)


def _reads_elsewhere(op: Operation) -> bool:
    """Whether an op reads some dimension of an operand by another one: without such an op all read at one place."""
    if not isinstance(op, linalg.GenericOp):
        return op.name in _MOVING
    for x, map in zip(op.operands, op.indexing_maps.data, strict=True):
        sizes = x.type.get_shape() if isinstance(x.type, TensorType) else ()
        for dim, expression in enumerate(map.data.results):
            is_first = isinstance(expression, AffineConstantExpr) and sizes[dim] == 1
            if not is_first and expression != AffineDimExpr(dim):
                return True
    return False


class _Reads:
    """Which reductions every tensor is computed from within one loop, and where it reads them."""

    def __init__(self) -> None:
        self._accesses: dict[SSAValue, dict[Hashable, Access]] = {}
        self._equal = EqualValues()
        self._roots: dict[Hashable, list[SSAValue]] = {}
        self._twice: set[Hashable] = set()

    def read_twice(self) -> Iterator[SSAValue]:
        """The results of reductions that one loop reads at different places."""
        for number, values in self._roots.items():
            if number in self._twice:
                yield from values

    def add(self, op: Operation) -> None:
        """Looks at an op whose operands were looked at before."""
        if len(op.results) == 0 or not isinstance(op.results[0].type, TensorType):
            return
        found: dict[Hashable, Access] = {}
        for value, places in steps(op) or ():
            for root, access in self._accesses.get(value, {}).items():
                place = tuple(followed(each, places) for each in access)
                if found.setdefault(root, place) != place:
                    self._twice.add(root)
        if is_root(op):
            for result in op.results:
                number = self._equal.number(result)
                self._roots.setdefault(number, []).append(result)
                places = subscripts(result, range(len(shape_of(result))))
                self._accesses[result] = {number: tuple(p for p in places if p is not FIRST)}
        elif found:
            self._accesses[op.results[0]] = found
