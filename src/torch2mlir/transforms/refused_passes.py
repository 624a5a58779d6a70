"""Torch-MLIR's passes whose work is not done here: a program that does not need it stays as it is, others are refused.

- ``convert-torch-onnx-to-torch``: programs come from PyTorch, not from ONNX.
- ``tm-tensor-*``, ``refback-*``: the way of Torch-MLIR's reference backend from Linalg to LLVM. The reference engine
  here runs Linalg-on-Tensors as it is, and other engines lower it themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from torch2mlir.dialects.locations import describe
from torch2mlir.dialects.torch.core import OperatorOp
from torch2mlir.errors import PassError

TO_LLVM = (
    "run the program with torch2mlir.compile(.., engine='reference'), or give the Linalg text to the compiler that is "
    "to lower it (iree-compile, torch-mlir-opt)"
)


class _Refused(ModulePass):
    """Base of passes that stop at the first operation they would have to change."""

    work: ClassVar[tuple[str, ...]]
    """What the names of these operations begin with."""
    reason: ClassVar[str] = "there is no lowering to LLVM here"
    hint: ClassVar[str] = TO_LLVM

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in op.walk():
            name = _name(each)
            if name.startswith(self.work):
                raise PassError(
                    f"{self.name} would have to change '{name}': {self.reason}",
                    op=name,
                    location=describe(each.location),
                    hint=self.hint,
                )


def _name(op: Operation) -> str:
    return op.op_name if isinstance(op, OperatorOp) else op.name


@dataclass(frozen=True)
class ConvertTorchOnnxToTorchPass(_Refused):
    """For ``torch.operator "onnx.Add"`` and its like.

    Args:
        allow_non_finites: taken for scripts that give it.
    """

    name = "convert-torch-onnx-to-torch"
    allow_non_finites: bool = True
    work: ClassVar[tuple[str, ...]] = ("onnx.",)
    reason: ClassVar[str] = "ONNX programs are not read here"
    hint: ClassVar[str] = (
        "import the PyTorch program that was exported to ONNX (torch2mlir.fx.export_and_import), or let "
        "torch-mlir-opt run this pass and go on with what it prints"
    )


class TmTensorToLoopsPass(_Refused):
    """Loops over memory for scans, scatters and sorts."""

    name = "tm-tensor-to-loops"
    work = ("tm_tensor.",)


class TmTensorBufferizePass(_Refused):
    """Memory for the tensors of scans, scatters and sorts."""

    name = "tm-tensor-bufferize"
    work = ("tm_tensor.",)


class RefbackGeneralizeTensorConcatPass(_Refused):
    """``tensor.concat`` as slices inserted one by one."""

    name = "refback-generalize-tensor-concat"
    work = ("tensor.concat",)


class RefbackGeneralizeTensorPadPass(_Refused):
    """``tensor.pad`` as an insertion into a filled tensor."""

    name = "refback-generalize-tensor-pad"
    work = ("tensor.pad",)


class RefbackMlprogramBufferizePass(_Refused):
    """Memory for globals."""

    name = "refback-mlprogram-bufferize"
    work = ("ml_program.",)


class RefbackMungeMemrefCopyPass(_Refused):
    """Copies of memory as Linalg."""

    name = "refback-munge-memref-copy"
    work = ("memref.copy",)


class RefbackMungeCallingConventionsPass(_Refused):
    """Functions as the C interface of the reference backend calls them."""

    name = "refback-munge-calling-conventions"
    work = ("func.func",)


class RefbackExpandOpsForLlvmPass(_Refused):
    """``math.tanh`` in simpler operations."""

    name = "refback-expand-ops-for-llvm"
    work = ("math.tanh",)
