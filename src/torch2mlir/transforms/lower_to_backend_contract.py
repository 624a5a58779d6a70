"""``torch-lower-to-backend-contract``: decompose and canonicalize until only core ops are left, then check that."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass

from torch2mlir.dialects.locations import describe
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.errors import BackendContractError
from torch2mlir.transforms.canonicalize import CanonicalizePass
from torch2mlir.transforms.core_ops import CORE_OPS, SCALAR_OPS

_ALLOWED: tuple[type[Operation], ...] = (
    core.ConstantOp,
    core.ValueTensorLiteralOp,
    core.PrimListConstructOp,
    core.SymbolicIntOp,
    core.BindSymbolicShapeOp,
    core.RuntimeAssertOp,
    core.PrimIfOp,
    core.PrimIfYieldOp,
    FuncOp,
    ReturnOp,
)


def check_backend_contract(module: ModuleOp, legal_ops: tuple[str, ...] = ()) -> None:
    """Value tensors of known rank and dtype, and only core ops.

    Raises:
        BackendContractError: names the first op that violates it, its types and the source line.
    """
    legal = CORE_OPS | SCALAR_OPS | {n if n.startswith("torch.") else f"torch.{n}" for n in legal_ops}
    for op in module.walk():
        if op is module:
            continue
        name = op.op_name if isinstance(op, core.OperatorOp) else op.name
        if not isinstance(op, _ALLOWED) and name not in legal:
            raise BackendContractError(
                f"'{name}' is not a core op and PyTorch has no decomposition for it",
                op=_signature(op, name),
                location=describe(op.location),
                dialect="torch (backend contract)",
                hint="register a lowering for your dialect with @torch2mlir.lowering(..), give a torch.library op "
                "a traceable Python body, or run that part in PyTorch with torch2mlir.optimize",
            )
        for result in op.results:
            if (problem := _problem(result.type)) is not None:
                raise BackendContractError(
                    f"{problem}: {result.type}",
                    op=_signature(op, name),
                    location=describe(op.location),
                    dialect="torch (backend contract)",
                    hint="annotate the function's arguments with full types and run torch-refine-types",
                )


def _problem(type: Attribute) -> str | None:
    if isinstance(type, t.NonValueTensorType):
        return "a tensor with reference semantics is left"
    if isinstance(type, t.ValueTensorType):
        if type.sizes is None:
            return "a tensor of unknown rank is left"
        if type.dtype is None:
            return "a tensor of unknown dtype is left"
    return None


def _signature(op: Operation, name: str) -> str:
    operands = ", ".join(str(o) for o in op.operand_types)
    results = ", ".join(str(r) for r in op.result_types)
    return f"{name} : ({operands}) -> ({results})"


@dataclass(frozen=True)
class LowerToBackendContractPass(ModulePass):
    """The pipeline from a captured function to the backend contract."""

    name = "torch-lower-to-backend-contract"

    backend_legal_ops: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from torch2mlir.transforms.decompose_complex_ops import DecomposeComplexOpsPass
        from torch2mlir.transforms.refine_types import RefineTypesPass

        RefineTypesPass().apply(ctx, op)
        CanonicalizePass().apply(ctx, op)
        DecomposeComplexOpsPass(self.backend_legal_ops).apply(ctx, op)
        CanonicalizePass().apply(ctx, op)
        check_backend_contract(op, self.backend_legal_ops)
