"""The user's own operators, of ``torch.library``: what they take, and the Python body that computes them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch._C import DispatchKey
from torch._library.custom_ops import OPDEFS
from torch._ops import OpOverload

from torch2mlir.contract.op_name import OpName
from torch2mlir.dialects.torch.schema import Schema
from torch2mlir.errors import Torch2MLIRError
from torch2mlir.transforms.decompositions.registry import Decomposition, decomposes, find_overload


@cache
def schema_of_overload(overload: OpOverload) -> Schema:
    """The schema of an operator that is not in the dialect's registry."""
    return Schema(str(overload._schema), in_torch_mlir=False)


def body_of(overload: OpOverload) -> Decomposition | None:
    """The Python body of the user's operator, if it has one for all devices; it is traced as a decomposition.

    That is the function under ``torch.library.custom_op``, or a kernel registered for
    ``CompositeExplicitAutograd``. A body for one device (``device_types="cpu"``) is that device's own affair.
    """
    if overload.namespace in PYTORCHS:
        return None
    definition = OPDEFS.get(overload._schema.name)
    if definition is not None:
        return definition._init_fn if None in definition._backend_fns else None
    explicit = DispatchKey.CompositeExplicitAutograd
    if not overload.has_kernel_for_dispatch_key(explicit):
        return None

    def kernel(*args: Any, **kwargs: Any) -> Any:
        # a mode of the tracer would call the operator itself, not this kernel of it
        with torch._C.DisableTorchFunction():
            return overload._op_dk(explicit, *args, **kwargs)

    return kernel


PYTORCHS = {"aten", "prims", "prim", "quantized", "torch2mlir"}
"""Namespaces whose operators have decompositions of their own, or none on purpose."""


def decomposition(name: str) -> Callable[[Decomposition], Decomposition]:
    """Registers how the user's own operator is computed from others, ``@torch2mlir.decomposition("mylib::op")``.

    The function takes what the operator takes and calls any PyTorch functions; it is traced on fake tensors, with
    symbolic sizes, once for each kind of arguments. It replaces the operator's Python body and any decomposition
    that PyTorch has. A lowering of the same operator goes before it.

    Args:
        name: ``mylib::op``, ``mylib::op.overload`` or ``mylib.op``; the operator must be defined.

    Raises:
        Torch2MLIRError: PyTorch knows no such operator.
    """
    overload = find_overload(OpName.of(name))
    if overload is None:
        raise Torch2MLIRError(
            f"PyTorch knows no operator '{name}'",
            hint="define it first, with torch.library.custom_op or torch.library.define",
        )
    return decomposes(overload)
