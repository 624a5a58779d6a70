"""Tensors of one element that ops compute from numbers that are known: traces record sizes so.

``F.interpolate(x, scale_factor=1.25, recompute_scale_factor=True)``, traced, multiplies each size as a tensor of floats
and rounds it. PyTorch's own kernels say what comes of that.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from xdsl.ir import SSAValue

from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.ops import RegistryOp
from torch2mlir.dialects.torch.values import Values
from torch2mlir.errors import BackendContractError
from torch2mlir.frontends import dtypes
from torch2mlir.transforms.decompositions.registry import find_overload, is_dispatched
from torch2mlir.transforms.folding.casts import number_in
from torch2mlir.transforms.semantics.calls import Call

Known = dict[SSAValue, Tensor | None]


def known_tensor(value: SSAValue, values: Values, known: Known) -> Tensor | None:
    """The tensor that a value without dimensions is, or None if ops do not compute it from known numbers.

    Args:
        value: of a tensor type.
        values: reads operands.
        known: what was found before: there may be many ways to one.
    """
    if value not in known:
        known[value] = _computed(value, values, known)
    return known[value]


def _computed(value: SSAValue, values: Values, known: Known) -> Tensor | None:
    type, op = value.type, value.owner
    if not isinstance(type, t.ValueTensorType) or type.sizes != () or type.dtype is None:
        return None
    number = _number(value, values)
    if number is not None:
        return torch.tensor(number, dtype=dtypes.FROM_ELEMENT_TYPE[type.dtype])
    if not isinstance(op, RegistryOp) or len(op.results) != 1:
        return None
    overload = find_overload(op.name)
    if (
        overload is None
        or not is_dispatched(overload)
        or overload._schema.is_mutable
        or torch.Tag.nondeterministic_seeded in overload.tags
    ):
        return None
    try:
        call = Call.of(op, op.schema, values)
        tensors = [
            known_tensor(leaf, values, known) if isinstance(leaf, SSAValue) else None
            for leaf in call.leaves
        ]
        if not tensors or any(each is None for each in tensors):
            return None
        args, kwargs = call.rebuild(tensors)
        with torch.no_grad():
            result = overload(*args, **kwargs)
    except (BackendContractError, RuntimeError):  # a number is not known; PyTorch refuses the call
        return None
    same = isinstance(result, Tensor) and result.dtype == dtypes.FROM_ELEMENT_TYPE[type.dtype]
    return result if same else None


def _number(value: SSAValue, values: Values) -> Any:
    number = number_in(value)
    if isinstance(number, SSAValue):
        number = values.of(number)
    return number if isinstance(number, bool | int | float) else None
