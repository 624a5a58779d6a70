"""``torch-drop-abstract-interp-calculations``: calculations of types have done their work and go."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from torch2mlir.transforms.typing.calculations import drop_calculations


@dataclass(frozen=True)
class DropAbstractInterpCalculationsPass(ModulePass):
    """See the module's docstring."""

    name = "torch-drop-abstract-interp-calculations"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        drop_calculations(op)
