"""``torch-lower-to-backend-contract``: decompose and canonicalize until only core ops are left, then check that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from torch2mlir.transforms.canonicalize import CanonicalizePass
from torch2mlir.transforms.check_backend_contract import CheckBackendContractPass
from torch2mlir.transforms.pass_sequence import PassSequence
from torch2mlir.transforms.verify_backend_contract import (
    VerifyBackendContractNoDecompositionsPass,
    is_value_program,
)


@dataclass(frozen=True)
class LowerToBackendContractPass(PassSequence):
    """The pipeline from a captured function to the backend contract.

    What TorchScript programs have and captured graphs do not (calls, slots, tensors that are written) goes in rounds
    of ``torch-simplification-pipeline``, until nothing changes.

    Args:
        backend_legal_ops: ops that are left whole.
        decompose: decompose the ops that are not core; without it, which ops there are is not checked.
        max_iterations: the most rounds.
        shape_dtype_refine: find out ranks, sizes and dtypes.
        check_indices: assert that tensors of indices are in range.
        extra_library: taken for scripts that give it; shapes and dtypes of ops come from PyTorch.
    """

    name = "torch-lower-to-backend-contract"

    backend_legal_ops: tuple[str, ...] = ()
    decompose: bool = True
    max_iterations: int = 10
    shape_dtype_refine: bool = True
    extra_library: str = ""
    check_indices: bool = False

    def steps(self, module: ModuleOp) -> Iterator[ModulePass]:
        scripted = not is_value_program(module)
        if scripted:
            yield from self._simplified(module)
        yield from self._lowered(scripted)
        if scripted:
            yield from self._simplified(module)  # what decompositions compute from sizes
            yield VerifyBackendContractNoDecompositionsPass()
        if self.decompose:
            yield CheckBackendContractPass(self.backend_legal_ops)
        elif not scripted:
            yield VerifyBackendContractNoDecompositionsPass()

    def _simplified(self, module: ModuleOp) -> Iterator[ModulePass]:
        from torch2mlir.transforms.simplification import rounds

        yield from rounds(module, self.shape_dtype_refine, self.max_iterations)

    def _lowered(self, scripted: bool) -> Iterator[ModulePass]:
        from torch2mlir.transforms.bools_of_scalars import IntegersToBoolsPass
        from torch2mlir.transforms.check_indices import CheckIndicesPass
        from torch2mlir.transforms.check_numbers import CheckNumbersPass
        from torch2mlir.transforms.decompose_complex_ops import DecomposeComplexOpsPass
        from torch2mlir.transforms.fill_uninitialized import FillUninitializedPass
        from torch2mlir.transforms.known_values import KnownValuesPass
        from torch2mlir.transforms.masked_updates import MaskedUpdatesPass
        from torch2mlir.transforms.refine_types import RefineTypesPass
        from torch2mlir.transforms.run_time_positions import RunTimePositionsPass
        from torch2mlir.transforms.seed_random_ops import SeedRandomOpsPass
        from torch2mlir.transforms.unpacked_parts import UnpackedPartsPass

        yield IntegersToBoolsPass()
        if self.shape_dtype_refine:
            yield RefineTypesPass()
        yield UnpackedPartsPass()
        yield FillUninitializedPass()
        if self.check_indices:
            yield CheckIndicesPass()
        yield CheckNumbersPass()
        yield RunTimePositionsPass()
        if self.decompose:
            yield MaskedUpdatesPass()
        yield CanonicalizePass()
        if self.decompose:
            if scripted:  # says what is left before a decomposition stumbles over it
                yield VerifyBackendContractNoDecompositionsPass()
            yield KnownValuesPass()
            yield DecomposeComplexOpsPass(self.backend_legal_ops)
            yield SeedRandomOpsPass(self.backend_legal_ops)
            yield CanonicalizePass()
