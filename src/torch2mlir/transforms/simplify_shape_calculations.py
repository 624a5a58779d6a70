"""``torch-simplify-shape-calculations``: sizes from ``torch.shape.calculate``, as far as they fold to constants."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from torch2mlir.dialects.torch.object_graph import ShapeCalculateOp
from torch2mlir.transforms.typing.calculations import simplify_calculations, sizes_of


@dataclass(frozen=True)
class SimplifyShapeCalculationsPass(ModulePass):
    """See the module's docstring."""

    name = "torch-simplify-shape-calculations"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        simplify_calculations(op, ShapeCalculateOp, sizes_of)
