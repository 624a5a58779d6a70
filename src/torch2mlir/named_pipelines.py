"""The pipelines that people name: from each frontend to the backend contract, and from it to each dialect.

Options that Torch-MLIR's pipelines have are taken; the ones whose documentation here says so change nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from torch2mlir.contract.core_ops import CORE_OPS, SCALAR_OPS
from torch2mlir.contract.target import get_target
from torch2mlir.conversion.driver import conversion_pass
from torch2mlir.conversion.registry import own_ops
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.ops import RegistryOp
from torch2mlir.errors import PassError
from torch2mlir.transforms import PASSES
from torch2mlir.transforms.adjust_calling_conventions import AdjustCallingConventionsPass
from torch2mlir.transforms.globalize_object_graph import GlobalizeObjectGraphPass
from torch2mlir.transforms.lower_to_backend_contract import LowerToBackendContractPass
from torch2mlir.transforms.pass_sequence import PassSequence
from torch2mlir.transforms.prepare_for_globalize_object_graph import (
    PrepareForGlobalizeObjectGraphPass,
)
from torch2mlir.transforms.refused_passes import ConvertTorchOnnxToTorchPass
from torch2mlir.transforms.symbol_dce import SymbolDcePass


@dataclass(frozen=True)
class ToTorchBackendPipeline(PassSequence):
    """Base of the pipelines to the backend contract.

    Args:
        backend_legal_ops: ops that are left whole.
        decompose_complex_ops: decompose the ops that are not core.
        max_iterations: the most rounds of simplification.
        shape_dtype_refine: find out ranks, sizes and dtypes.
        allow_non_finites: taken for scripts that give it; what ops mean does not depend on it.
        extra_library: taken for scripts that give it; shapes and dtypes of ops come from PyTorch.
    """

    backend_legal_ops: tuple[str, ...] = ()
    decompose_complex_ops: bool = True
    max_iterations: int = 10
    shape_dtype_refine: bool = True
    allow_non_finites: bool = True
    extra_library: str = ""

    first: ClassVar[tuple[type[ModulePass], ...]] = ()
    """The passes before the lowering to the contract."""

    def steps(self, module: ModuleOp) -> Iterator[ModulePass]:
        for each in self.first:
            yield each()
        yield LowerToBackendContractPass(
            self.backend_legal_ops,
            self.decompose_complex_ops,
            self.max_iterations,
            self.shape_dtype_refine,
        )


@dataclass(frozen=True)
class TorchscriptModuleToTorchBackendPipeline(ToTorchBackendPipeline):
    """A TorchScript object graph to the backend contract."""

    name = "torchscript-module-to-torch-backend-pipeline"
    first: ClassVar[tuple[type[ModulePass], ...]] = (
        SymbolDcePass,
        PrepareForGlobalizeObjectGraphPass,
        GlobalizeObjectGraphPass,
        SymbolDcePass,
        AdjustCallingConventionsPass,
    )


@dataclass(frozen=True)
class TorchFunctionToTorchBackendPipeline(ToTorchBackendPipeline):
    """TorchScript functions to the backend contract."""

    name = "torch-function-to-torch-backend-pipeline"
    first: ClassVar[tuple[type[ModulePass], ...]] = (AdjustCallingConventionsPass,)


@dataclass(frozen=True)
class TorchdynamoExportToTorchBackendPipeline(ToTorchBackendPipeline):
    """An imported FX graph to the backend contract."""

    name = "torchdynamo-export-to-torch-backend-pipeline"


@dataclass(frozen=True)
class TorchOnnxToTorchBackendPipeline(ToTorchBackendPipeline):
    """A program that came from ONNX, its ops converted already, to the backend contract."""

    name = "torch-onnx-to-torch-backend-pipeline"
    first: ClassVar[tuple[type[ModulePass], ...]] = (ConvertTorchOnnxToTorchPass,)


@dataclass(frozen=True)
class ShapeRefinementPipeline(PassSequence):
    """Ranks, sizes and dtypes of everything; the options of the other pipelines are taken and change nothing."""

    name = "torch-shape-refinement-pipeline"

    backend_legal_ops: tuple[str, ...] = ()
    decompose_complex_ops: bool = True
    max_iterations: int = 10
    shape_dtype_refine: bool = True
    allow_non_finites: bool = True
    extra_library: str = ""

    def steps(self, module: ModuleOp) -> Iterator[ModulePass]:
        from torch2mlir.transforms.canonicalize import CanonicalizePass
        from torch2mlir.transforms.refine_types import RefineTypesPass

        yield RefineTypesPass()
        yield CanonicalizePass()


class FromTorchBackendPipeline(PassSequence):
    """Base of the pipelines from the backend contract to a dialect.

    Sizes that are only ``?`` get their expressions, and ops that are not core, as other tools' contracts may have them,
    are decomposed; this needs PyTorch. A module of core ops with known sizes does not.
    """

    target: str

    def steps(self, module: ModuleOp) -> Iterator[ModulePass]:
        target = get_target(self.target)
        for name in target.preparation:
            yield PASSES[name]()()
        legal = own_ops(target.name)
        if _has_unnamed_sizes(module) or _has_other_ops(module, legal):
            from torch2mlir.transforms.canonicalize import CanonicalizePass
            from torch2mlir.transforms.decompose_complex_ops import DecomposeComplexOpsPass
            from torch2mlir.transforms.refine_types import RefineTypesPass

            yield RefineTypesPass()
            yield DecomposeComplexOpsPass(tuple(legal))
            yield CanonicalizePass()
        yield conversion_pass(target.name)
        for name in target.finishing:
            yield PASSES[name]()()


def _has_unnamed_sizes(module: ModuleOp) -> bool:
    return any(
        isinstance(value.type, t.ValueTensorType) and None in (value.type.sizes or ())
        for op in module.walk()
        for value in (*op.results, *(a for r in op.regions for b in r.blocks for a in b.args))
    )


def _has_other_ops(module: ModuleOp, legal: frozenset[str]) -> bool:
    known = CORE_OPS | SCALAR_OPS | legal
    return any(isinstance(op, RegistryOp) and op.name not in known for op in module.walk())


@dataclass(frozen=True)
class TorchBackendToLinalgOnTensorsBackendPipeline(FromTorchBackendPipeline):
    """The backend contract to Linalg-on-Tensors.

    Args:
        allow_non_finites: taken for scripts that give it; what ops mean does not depend on it.
    """

    name = "torch-backend-to-linalg-on-tensors-backend-pipeline"
    target = "linalg-on-tensors"
    allow_non_finites: bool = True


@dataclass(frozen=True)
class TorchBackendToStablehloBackendPipeline(FromTorchBackendPipeline):
    """The backend contract to StableHLO.

    Args:
        allow_non_finites: taken for scripts that give it; what ops mean does not depend on it.
        enable_static_shape: sizes that are known are static here with or without it.
        enable_i32_index: not here: it would compute sizes and positions wrongly without saying so.
    """

    name = "torch-backend-to-stablehlo-backend-pipeline"
    target = "stablehlo"
    allow_non_finites: bool = True
    enable_static_shape: bool = False
    enable_i32_index: bool = False

    def steps(self, module: ModuleOp) -> Iterator[ModulePass]:
        if self.enable_i32_index:
            raise PassError(
                "sizes and positions are 64 bits wide: enable-i32-index is not supported",
                op=self.name,
                hint="leave the option out; a consumer can narrow them where it knows the bounds",
            )
        yield from super().steps(module)


@dataclass(frozen=True)
class TorchBackendToTosaBackendPipeline(FromTorchBackendPipeline):
    """The backend contract to TOSA.

    Args:
        require_full_tosa_conversion: always so here: an op without a lowering is an error.
        disabled_patterns: names of Torch-MLIR's own patterns; refused, there are none of them here.
        enabled_patterns: as ``disabled_patterns``.
    """

    name = "torch-backend-to-tosa-backend-pipeline"
    target = "tosa"
    require_full_tosa_conversion: bool = True
    disabled_patterns: tuple[str, ...] = ()
    enabled_patterns: tuple[str, ...] = ()

    def steps(self, module: ModuleOp) -> Iterator[ModulePass]:
        if self.disabled_patterns or self.enabled_patterns:
            raise PassError(
                "there are no patterns of Torch-MLIR's names to choose from",
                op=self.name,
                hint="say what an op becomes with @torch2mlir.lowering(.., 'tosa')",
            )
        yield from super().steps(module)


@dataclass(frozen=True)
class TorchBackendToTargetBackendPipeline(FromTorchBackendPipeline):
    """The backend contract to any registered target, one of the user's own for example.

    Args:
        target: its name.
    """

    name = "torch-backend-to-target-backend-pipeline"
    target: str = "linalg-on-tensors"
