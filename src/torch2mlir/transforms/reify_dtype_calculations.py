"""``torch-reify-dtype-calculations``: taken for scripts that give it; ``torch-refine-types`` replaces it.

Dtypes come from PyTorch's own meta kernels: no calculation has to stand in the program for that.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass


@dataclass(frozen=True)
class ReifyDtypeCalculationsPass(ModulePass):
    """See the module's docstring.

    Args:
        extra_library: taken for scripts that give it; PyTorch is the library.
    """

    name = "torch-reify-dtype-calculations"

    extra_library: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        return
