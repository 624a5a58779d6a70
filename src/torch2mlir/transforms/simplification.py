"""``torch-simplification-pipeline``: one round of making a TorchScript program simpler.

What one pass finds out helps the others: a slot that is a constant decides a branch, the branch that is gone wrote a
slot. ``torch-lower-to-backend-contract`` runs rounds until nothing changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from torch2mlir.transforms.canonicalize import CanonicalizePass
from torch2mlir.transforms.erase_module_initializer import EraseModuleInitializerPass
from torch2mlir.transforms.inline import InlinePass
from torch2mlir.transforms.inline_global_slots import InlineGlobalSlotsPass
from torch2mlir.transforms.maximize_value_semantics import MaximizeValueSemanticsPass
from torch2mlir.transforms.pass_sequence import PassSequence
from torch2mlir.transforms.recompose_complex_ops import RecomposeComplexOpsPass
from torch2mlir.transforms.reduce_op_variants import ReduceOpVariantsPass
from torch2mlir.transforms.refine_public_return import RefinePublicReturnPass
from torch2mlir.transforms.symbol_dce import SymbolDcePass


@dataclass(frozen=True)
class SimplificationPipelinePass(PassSequence):
    """See the module's docstring.

    Args:
        shape_dtype_refine: find out ranks, sizes and dtypes; this needs PyTorch.
        decompose_complex_ops: decompose ops that are not core.
        backend_legal_ops: ops that are left whole.
        max_iterations: taken for scripts that give it; a round is a round.
        allow_non_finites: taken for scripts that give it; what ops mean does not depend on it.
        extra_library: taken for scripts that give it; shapes and dtypes of ops come from PyTorch.
    """

    name = "torch-simplification-pipeline"

    shape_dtype_refine: bool = True
    decompose_complex_ops: bool = False
    backend_legal_ops: tuple[str, ...] = ()
    max_iterations: int = 10
    allow_non_finites: bool = True
    extra_library: str = ""

    def steps(self, module: ModuleOp) -> Iterator[ModulePass]:
        canonicalize = CanonicalizePass()
        yield from (
            InlinePass(),
            canonicalize,
            RecomposeComplexOpsPass(),
            canonicalize,
            InlineGlobalSlotsPass(),
            EraseModuleInitializerPass(),
            SymbolDcePass(),
            canonicalize,
            ReduceOpVariantsPass(),
            canonicalize,
            MaximizeValueSemanticsPass(),
            RefinePublicReturnPass(),
            canonicalize,
        )
        if self.shape_dtype_refine:
            from torch2mlir.transforms.refine_types import RefineTypesPass

            yield from (RefineTypesPass(), canonicalize, RefinePublicReturnPass())
        if self.decompose_complex_ops:
            from torch2mlir.transforms.decompose_complex_ops import DecomposeComplexOpsPass

            yield from (DecomposeComplexOpsPass(self.backend_legal_ops), canonicalize)


def _shape_of_program(module: ModuleOp) -> int:
    """A number that changes when a round has changed something."""
    return hash(tuple((op.name, tuple(op.result_types)) for op in module.walk()))


def rounds(
    module: ModuleOp, shape_dtype_refine: bool = True, max_iterations: int = 10
) -> Iterator[ModulePass]:
    """Rounds of simplification, until nothing changes; each has run before the next is asked for."""
    before = None
    for _ in range(max_iterations):
        yield SimplificationPipelinePass(shape_dtype_refine=shape_dtype_refine)
        after = _shape_of_program(module)
        if after == before:
            return
        before = after
