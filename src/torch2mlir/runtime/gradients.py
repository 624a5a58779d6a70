"""A compiled function gives no gradients: who asks for them is told."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch.autograd import forward_ad

from torch2mlir.callers import frames_of_ours
from torch2mlir.errors import InputError
from torch2mlir.program import Signature, StateInput

_WAY_OUT = 'torch.compile(model, backend="torch2mlir") compiles forward and backward'


def has_tangents(values: Iterable[Any]) -> bool:
    """Whether forward-mode differentiation looks on and one of the values has a tangent, which engines lose."""
    if forward_ad._current_level < 0:
        return False
    tensors = (value for value in values if isinstance(value, torch.Tensor))
    return any(forward_ad.unpack_dual(tensor).tangent is not None for tensor in tensors)


def are_batched(values: Iterable[Any]) -> bool:
    """Whether ``torch.func`` or autograd's own ``vmap`` looks on and one of the values is theirs: it has no memory."""
    functorch = torch._C._functorch
    if functorch.peek_interpreter_stack() is not None:
        is_theirs = functorch.is_functorch_wrapped_tensor
    elif torch._C._dispatch_tls_is_dispatch_key_included("VmapMode"):
        is_theirs = functorch.is_legacy_batchedtensor
    else:
        return False
    return any(isinstance(value, torch.Tensor) and is_theirs(value) for value in values)


class GradientNotice:
    """Looks at calls in grad mode: an input that wants gradients is refused, a weight that does is warned of once.

    A model's weights want gradients unless somebody says otherwise, so most calls without ``torch.no_grad()`` mean
    nothing by it; an input wants them only because the user said so.
    """

    def __init__(self, signature: Signature) -> None:
        self._signature = signature
        self._has_warned = False

    def look(self, leaves: Sequence[Any]) -> None:
        """Looks at the flat arguments of a call for what the modes that hold ask for.

        Raises:
            InputError: one of them requires a gradient in grad mode, or has a tangent.
        """
        if torch.is_grad_enabled():
            self._check(leaves)
        if forward_ad._current_level >= 0:
            self._check_tangents(leaves)

    def _check_tangents(self, leaves: Sequence[Any]) -> None:
        for item in self._signature.user_inputs:
            if has_tangents([leaves[item.position]]):
                raise InputError(
                    f"input '{item.name}' has a tangent (torch.autograd.forward_ad), which a compiled function loses",
                    hint='torch.compile(model, backend="torch2mlir") and torch2mlir.optimize let PyTorch run it',
                )

    def _check(self, leaves: Sequence[Any]) -> None:
        for item in self._signature.user_inputs:
            value = leaves[item.position]
            if isinstance(value, torch.Tensor) and value.requires_grad:
                raise InputError(
                    f"input '{item.name}' requires a gradient, which a compiled function does not give",
                    hint=f"call it under torch.no_grad() or pass {item.name}.detach(); {_WAY_OUT}",
                )
        if self._has_warned:
            return
        for state in self._signature.inputs:
            # an artefact has none
            tensor = state.tensor if isinstance(state, StateInput) else None
            if tensor is not None and tensor.requires_grad:
                self._has_warned = True
                warnings.warn(
                    "the results of a compiled function carry no gradients, and weights of this one require them: "
                    f"call it under torch.no_grad(), or for training, {_WAY_OUT}",
                    stacklevel=frames_of_ours() + 1,
                )
                return
