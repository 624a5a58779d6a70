"""Torch-MLIR's passes whose work is done elsewhere here: people's pipelines may name them, and they change nothing.

- ``torch-func-backend-type-conversion``, ``torch-finalizing-backend-type-conversion`` and their forms for StableHLO:
  ``convert-torch-to-*`` converts functions and types together with the ops.
- ``convert-torch-to-arith``, ``-scf``, ``-tensor``, ``-tmtensor``, ``convert-torch-conversion-to-mlprogram``: the same
  conversions lower numbers, branches, loops, scans, sorts and random numbers too.
- ``torch-reify-shape-calculations``, ``torch-reify-dtype-calculations``: ``torch-refine-types`` asks PyTorch's own meta
  kernels; no calculation has to stand in the program for that.
- ``torch-restructure-non-constant-axes``: axes are constants after ``torch-canonicalize``; one that is computed is
  refused by the conversion, with its name and line.
- ``torch-unpack-quant-tensor``, ``torch-convert-custom-quant-op``: they are for ``quant.matmul_rhs_group_quant``, which
  PyTorch does not have; who has it says what it is with ``@torch2mlir.decomposition``.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass


class _Replaced(ModulePass):
    """Base of passes that leave everything as it is."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        return


class FuncBackendTypeConversionPass(_Replaced):
    """``convert-torch-to-*`` converts functions with their ops."""

    name = "torch-func-backend-type-conversion"


class FuncBackendTypeConversionForStablehloPass(_Replaced):
    """``convert-torch-to-stablehlo`` converts functions with their ops."""

    name = "torch-func-backend-type-conversion-for-stablehlo"


class FinalizingBackendTypeConversionPass(_Replaced):
    """``convert-torch-to-*`` leaves no torch type behind."""

    name = "torch-finalizing-backend-type-conversion"


class FinalizingBackendTypeConversionForStablehloPass(_Replaced):
    """``convert-torch-to-stablehlo`` leaves no torch type behind."""

    name = "torch-finalizing-backend-type-conversion-for-stablehlo"


class ConvertTorchToArithPass(_Replaced):
    """``convert-torch-to-*`` lowers numbers with everything else."""

    name = "convert-torch-to-arith"


class ConvertTorchToScfPass(_Replaced):
    """``convert-torch-to-*`` lowers branches and loops with everything else."""

    name = "convert-torch-to-scf"


class ConvertTorchToTensorPass(_Replaced):
    """``convert-torch-to-linalg`` lowers data movement with everything else."""

    name = "convert-torch-to-tensor"


class ConvertTorchToTmtensorPass(_Replaced):
    """``convert-torch-to-linalg`` lowers scans, sorts and scatters to loops of Linalg and SCF."""

    name = "convert-torch-to-tmtensor"


class ConvertTorchConversionToMlprogramPass(_Replaced):
    """``torch-seed-random-ops`` gives random ops their seed as an argument; there is no global one."""

    name = "convert-torch-conversion-to-mlprogram"


@dataclass(frozen=True)
class _Reify(_Replaced):
    """Base of the passes that put calculations of types into a program.

    Args:
        extra_library: taken for scripts that give it; PyTorch is the library.
    """

    extra_library: str = ""


class ReifyShapeCalculationsPass(_Reify):
    """Sizes come from PyTorch's own meta kernels."""

    name = "torch-reify-shape-calculations"


class ReifyDtypeCalculationsPass(_Reify):
    """Dtypes come from PyTorch's own meta kernels."""

    name = "torch-reify-dtype-calculations"


class RestructureNonConstantAxesPass(_Replaced):
    """Axes are constants, or refused by name."""

    name = "torch-restructure-non-constant-axes"


class UnpackQuantTensorPass(_Replaced):
    """The op it is for is not PyTorch's."""

    name = "torch-unpack-quant-tensor"


class ConvertCustomQuantOpPass(_Replaced):
    """The op it is for is not PyTorch's."""

    name = "torch-convert-custom-quant-op"
