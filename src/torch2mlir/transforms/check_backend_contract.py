"""``torch-check-backend-contract``: value tensors of known rank and dtype, and only core ops."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass

from torch2mlir.contract.core_ops import CORE_OPS, MAKES_SIZE, SCALAR_OPS
from torch2mlir.contract.op_name import OpName
from torch2mlir.dialects.locations import describe
from torch2mlir.dialects.placing import ops_in
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim
from torch2mlir.errors import BackendContractError
from torch2mlir.transforms.folding.containers import members_of
from torch2mlir.transforms.verify_backend_contract import type_problem

DATA_DEPENDENT = {
    f"torch.aten.{name}"
    for name in (
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
    legal = CORE_OPS.union(SCALAR_OPS, map(OpName.of, legal_ops))
    declared = set[str]()
    for op in ops_in(module):
        if op is module:
            continue
        if isinstance(op, core.SymbolicIntOp):  # which comes before what it is used for
            declared.add(op.symbol)
        name = op.op_name if isinstance(op, core.OperatorOp) else op.name
        if name not in legal and not isinstance(op, _ALLOWED):
            if name in DATA_DEPENDENT:
                _violation(
                    op, f"the result of '{name}' depends on the elements of a tensor", _STATIC
                )
            _violation(
                op, f"'{name}' is not a core op and PyTorch has no decomposition for it", _OWN_OP
            )
        if isinstance(op, core.PrimListUnpackOp):
            _check_unpacked(op)
        if name == MAKES_SIZE:
            declared.update(_sizes(op.results[0].type))
        for result in op.results:
            if (problem := type_problem(result.type)) is not None:
                _violation(op, f"unsupported by backend contract: {problem[0]}", problem[1])
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


def _check_unpacked(op: Operation) -> None:
    """TorchScript unpacks lists without knowing how many members they have."""
    members = members_of(op.operands[0])
    if members is not None and len(members) != len(op.results):
        count, wanted = len(members), len(op.results)
        _violation(
            op,
            f"a list of {count} is unpacked into {wanted}, which eager PyTorch refuses too",
            f"call it with a tensor that has {wanted} parts, or unpack as many as there are",
        )


def _violation(op: Operation, message: str, hint: str) -> NoReturn:
    name = op.op_name if isinstance(op, core.OperatorOp) else op.name
    raise BackendContractError(
        message,
        op=_signature(op, name),
        location=describe(op.location),
        dialect="torch (backend contract)",
        hint=hint,
    )


def _sizes(type: Attribute) -> Iterator[str]:
    """The symbols that are sizes of a type."""
    for size in (type.sizes or ()) if isinstance(type, t.ValueTensorType) else ():
        if isinstance(size, Dim) and size.op == "symbol":
            yield size.name


def _undeclared(type: Attribute, declared: Container[str]) -> str | None:
    """A symbol in a type's sizes that no argument's size gives."""
    if isinstance(type, t.ValueTensorType):
        for size in type.sizes or ():
            if isinstance(size, Dim):
                for name in size.symbols():
                    if name not in declared:
                        return name
    return None


def _signature(op: Operation, name: str) -> str:
    operands = ", ".join(str(o) for o in op.operand_types)
    results = ", ".join(str(r) for r in op.result_types)
    return f"{name} : ({operands}) -> ({results})"


@dataclass(frozen=True)
class CheckBackendContractPass(ModulePass):
    """See the module's docstring.

    Args:
        backend_legal_ops: ops that may be there too.
    """

    name = "torch-check-backend-contract"

    backend_legal_ops: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        check_backend_contract(op, self.backend_legal_ops)
