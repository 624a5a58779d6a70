"""``torch-lower-to-backend-contract``: decompose and canonicalize until only core ops are left, then check that."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass

from torch2mlir.dialects.locations import describe
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim
from torch2mlir.errors import BackendContractError
from torch2mlir.transforms.canonicalize import CanonicalizePass
from torch2mlir.transforms.core_ops import CORE_OPS, SCALAR_OPS
from torch2mlir.transforms.symbols import symbol_ranges

DATA_DEPENDENT = {
    f"torch.aten.{name}"
    for name in (
        "nonzero",
        "nonzero_numpy",
        "masked_select",
        "unique_consecutive",
        "unique_dim",
        "_unique2",
        "repeat_interleave.Tensor",
        "tensor_split.tensor_indices_or_sections",
        "bincount",
        "is_nonzero",
        "equal",
    )
}
"""Ops whose result's shape, or whose Python value, depends on the elements of a tensor."""

_ALLOWED: tuple[type[Operation], ...] = (
    core.ConstantOp,
    core.ValueTensorLiteralOp,
    core.PrimListConstructOp,
    core.SymbolicIntOp,
    core.BindSymbolicShapeOp,
    core.RuntimeAssertOp,
    core.PrimIfOp,
    core.PrimIfYieldOp,
    core.PrimLoopOp,
    core.PrimLoopConditionOp,
    FuncOp,
    ReturnOp,
)


def check_backend_contract(module: ModuleOp, legal_ops: tuple[str, ...] = ()) -> None:
    """Value tensors of known rank and dtype, and only core ops.

    Raises:
        BackendContractError: names the first op that violates it, its types and the source line.
    """
    legal = (
        CORE_OPS | SCALAR_OPS | {n if n.startswith("torch.") else f"torch.{n}" for n in legal_ops}
    )
    declared = symbol_ranges(module)
    for op in module.walk():
        if op is module:
            continue
        name = op.op_name if isinstance(op, core.OperatorOp) else op.name
        if not isinstance(op, _ALLOWED) and name not in legal:
            if name in DATA_DEPENDENT:
                _violation(
                    op, f"the result of '{name}' depends on the elements of a tensor", _STATIC
                )
            _violation(
                op, f"'{name}' is not a core op and PyTorch has no decomposition for it", _OWN_OP
            )
        for result in op.results:
            if (problem := _problem(result.type)) is not None:
                _violation(op, f"{problem}: {result.type}", _ANNOTATE)
            if (size := _undeclared(result.type, declared)) is not None:
                _violation(op, f"the size '{size}' depends on the elements of a tensor", _STATIC)


_STATIC = (
    "data-dependent shapes and values cannot be compiled: use torch.where, a mask, or a result of fixed size "
    "(nonzero_static), or run that part in PyTorch with torch2mlir.optimize"
)
_OWN_OP = (
    "say what it is in other ops with @torch2mlir.decomposition(..) or in your dialect with @torch2mlir.lowering(..), "
    "or run that part in PyTorch with torch2mlir.optimize"
)
_ANNOTATE = "annotate the function's arguments with full types and run torch-refine-types"


def _violation(op: Operation, message: str, hint: str) -> NoReturn:
    name = op.op_name if isinstance(op, core.OperatorOp) else op.name
    raise BackendContractError(
        message,
        op=_signature(op, name),
        location=describe(op.location),
        dialect="torch (backend contract)",
        hint=hint,
    )


def _undeclared(type: Attribute, declared: Container[str]) -> str | None:
    """A symbol in a type's sizes that no argument's size gives."""
    if isinstance(type, t.ValueTensorType):
        for size in type.sizes or ():
            if isinstance(size, Dim):
                for name in size.symbols():
                    if name not in declared:
                        return name
    return None


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
        from torch2mlir.transforms.run_time_positions import RunTimePositionsPass
        from torch2mlir.transforms.seed_random_ops import SeedRandomOpsPass

        RefineTypesPass().apply(ctx, op)
        RunTimePositionsPass().apply(ctx, op)
        CanonicalizePass().apply(ctx, op)
        DecomposeComplexOpsPass(self.backend_legal_ops).apply(ctx, op)
        SeedRandomOpsPass(self.backend_legal_ops).apply(ctx, op)
        CanonicalizePass().apply(ctx, op)
        check_backend_contract(op, self.backend_legal_ops)
