"""``torch-verify-*-backend-contract``: after a conversion, only the target's dialects are left.

Each target has its pass: linalg-on-tensors, stablehlo and tosa.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from torch2mlir.dialects.locations import describe
from torch2mlir.dialects.torch.types import TorchType
from torch2mlir.errors import PassError

_EVERYWHERE = frozenset({"builtin", "func", "arith", "tensor", "scf", "cf", "math", "complex"})


class _VerifyDialects(ModulePass):
    """Base of the passes of the three targets."""

    dialects: ClassVar[frozenset[str]]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.walk():
            types = (*inner.operand_types, *inner.result_types)
            dialect = inner.name.partition(".")[0]
            left = next((str(type) for type in types if isinstance(type, TorchType)), None)
            if dialect in _EVERYWHERE | self.dialects and left is None:
                continue
            what = f"a value of type {left} is left" if left else f"an op of '{dialect}' is left"
            raise PassError(
                what,
                op=inner.name,
                location=describe(inner.location),
                dialect=", ".join(sorted(self.dialects)),
                hint="run the conversion to this target first; it names what it cannot lower",
            )


class VerifyLinalgOnTensorsBackendContractPass(_VerifyDialects):
    """Linalg, tensor, arith, math, scf and func."""

    name = "torch-verify-linalg-on-tensors-backend-contract"
    dialects = frozenset({"linalg", "ml_program", "affine"})


class VerifyStablehloBackendContractPass(_VerifyDialects):
    """StableHLO, CHLO, shape, tensor, arith and func."""

    name = "torch-verify-stablehlo-backend-contract"
    dialects = frozenset({"stablehlo", "chlo", "shape"})


class VerifyTosaBackendContractPass(_VerifyDialects):
    """TOSA, tensor, arith and func."""

    name = "torch-verify-tosa-backend-contract"
    dialects = frozenset({"tosa"})
