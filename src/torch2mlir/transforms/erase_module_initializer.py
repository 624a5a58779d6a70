"""``torch-erase-module-initializer``: an initializer of no slots disappears."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from torch2mlir.dialects.torch.object_graph import (
    GlobalSlotModuleInitializerOp,
    InitializeGlobalSlotsOp,
)


@dataclass(frozen=True)
class EraseModuleInitializerPass(ModulePass):
    """See the module's docstring."""

    name = "torch-erase-module-initializer"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for member in list(op.ops):
            if isinstance(member, GlobalSlotModuleInitializerOp):
                end = member.body.block.last_op
                if isinstance(end, InitializeGlobalSlotsOp) and not end.slot_names.data:
                    member.detach()
                    member.erase()
