"""Which function decomposes an operator: PyTorch's own, or ours where it has none that fits."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import torch
import torch._refs  # registers the reference decompositions
from torch._decomp import _core_aten_decompositions_post_autograd, decomposition_table
from torch._export.utils import _is_preservable_cia_op
from torch._ops import OpOverload, OpOverloadPacket

from torch2mlir.contract.core_ops import CORE_OPS, IDENTITIES, PARTLY_CORE
from torch2mlir.contract.op_name import OpName

Decomposition = Callable[..., Any]
_OURS: dict[OpOverload, Decomposition] = {}
_NAMED: dict[str, Decomposition] = {}
"""The same for operators that exist only once their library has been imported, by dialect name."""
TYPED_BY_DECOMPOSITION: set[str] = set()
"""Operators, by dialect name, whose fake tensors have another dtype than the results of PyTorch's kernels."""


def decomposes(
    *overloads: OpOverload, gives_dtype: bool = False
) -> Callable[[Decomposition], Decomposition]:
    """Registers a function of tensors as the decomposition of operators; it replaces PyTorch's.

    Args:
        overloads: the operators.
        gives_dtype: the dtype of the result is the function's; PyTorch's fake tensors have another than its kernels.
    """

    def register(function: Decomposition) -> Decomposition:
        for overload in overloads:
            _OURS[overload] = function
            if gives_dtype:
                TYPED_BY_DECOMPOSITION.add(op_name(overload))
        table.cache_clear()
        has_users_own.cache_clear()
        return function

    return register


def decomposes_named(
    *names: str, gives_dtype: bool = False
) -> Callable[[Decomposition], Decomposition]:
    """As :func:`decomposes`, for operators of a library that may not have been imported: ``torch.mylib.op``."""

    def register(function: Decomposition) -> Decomposition:
        _NAMED.update(dict.fromkeys(names, function))
        has_users_own.cache_clear()
        if gives_dtype:
            TYPED_BY_DECOMPOSITION.update(names)
        return function

    return register


def find_overload(op_name: str) -> OpOverload | None:
    """PyTorch's operator for ``torch.aten.add.Tensor``, or None if the installed PyTorch has no such operator."""
    if op_name.count(".") < 2:  # an operator of somebody's, called as none of PyTorch's can be
        return None
    namespace, base, chosen = OpName(op_name).parts
    packet = getattr(getattr(torch.ops, namespace), base, None)
    if not isinstance(packet, OpOverloadPacket) or chosen not in packet.overloads():
        return None
    found: OpOverload = getattr(packet, chosen)
    return found


def is_dispatched(overload: OpOverload) -> bool:
    """Whether the dispatcher knows it: TorchScript has overloads of its own, like ``aten::Bool.Tensor``."""
    return torch._C._dispatch_has_kernel(overload.name())


def op_name(overload: OpOverload) -> str:
    """``torch.aten.add.Tensor`` for PyTorch's operator."""
    return OpName.of_schema(overload._schema)


@lru_cache(maxsize=1)
def table() -> dict[Any, Decomposition]:
    """Operator -> decomposition for what is neither core nor composite; ours first, then PyTorch's.

    A composite has its own definition, unless it shares memory or writes: so it is in PyTorch's table for export. That
    table itself lists all composites there are, and takes a fifth of a second for it.
    """
    known = dict[Any, Decomposition](_core_aten_decompositions_post_autograd())
    for op, function in decomposition_table.items():
        if op not in known and not _is_preservable_cia_op(op):
            known[op] = function
    known.update(_OURS)
    kept = (CORE_OPS | IDENTITIES) - PARTLY_CORE
    return {
        op: function
        for op, function in known.items()
        if isinstance(op, OpOverload) and op_name(op) not in kept
    }


@lru_cache(maxsize=1)
def has_users_own() -> bool:
    """Whether somebody has registered decompositions beside PyTorch's and ours."""
    return any(map(is_users_own, (*table().values(), *_NAMED.values())))


def is_users_own(function: Decomposition) -> bool:
    """Whether a decomposition is neither PyTorch's nor ours: it may read anything."""
    package = getattr(function, "__module__", "").partition(".")[0]
    return package not in ("torch", __name__.partition(".")[0])


def find_decomposition(overload: OpOverload) -> Decomposition | None:
    """The function that computes an operator from others, or None."""
    known = table().get(overload) or _NAMED.get(op_name(overload))
    if known is None and _is_composite(overload):
        return overload.decompose
    return known


def _is_composite(overload: OpOverload) -> bool:
    """Whether PyTorch defines it by others."""
    composite = torch._C.DispatchKey.CompositeImplicitAutograd
    return is_dispatched(overload) and overload.has_kernel_for_dispatch_key(composite)
