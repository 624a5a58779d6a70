"""prims that PyTorch's reference decompositions end in, as the ATen ops they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.types import Number

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten
prims = torch.ops.prims


_PRIM_ELEMENTWISE = (
    "abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_not bitwise_or bitwise_xor ceil cos cosh"
    " eq erf exp expm1 floor fmod ge gt isnan le log log10 log1p log2 lt maximum minimum mul ne neg pow reciprocal"
    " remainder round rsqrt sign sin sinh sqrt sub tan tanh trunc"
)


for _name in _PRIM_ELEMENTWISE.split():
    if hasattr(prims, _name):
        decomposes(getattr(prims, _name).default)(getattr(aten, _name))


_SAME: dict[str, Any] = {
    "cat": aten.cat,
    "clone": aten.clone,
    "conj": torch.conj_physical,
    "conj_physical": torch.conj_physical,
    "fill": torch.full_like,
    "isfinite": torch.isfinite,
    "reshape": aten.view,
    "rev": aten.flip,
    "scalar_tensor": aten.scalar_tensor,
    "squeeze": aten.squeeze,
    "view_of_dtype": aten.view,
}
"""prims whose arguments are those of another op."""

for _name, _op in _SAME.items():
    decomposes(getattr(prims, _name).default)(_op)


@decomposes(prims.div.default)
def _div(a: Tensor, b: Tensor) -> Tensor:
    """``prims.div`` truncates integers where ``aten.div`` promotes to float."""
    integer = not torch.is_tensor(a) or not (a.dtype.is_floating_point or a.dtype.is_complex)
    return aten.div(a, b, rounding_mode="trunc") if integer else aten.div(a, b)


@decomposes(prims.where.default)
def _where(condition: Tensor, on_true: Tensor, on_false: Tensor) -> Tensor:
    return aten.where(condition, on_true, on_false)


@decomposes(prims.broadcast_in_dim.default)
def _broadcast_in_dim(a: Tensor, shape: Sequence[int], dims: Sequence[int]) -> Tensor:
    for dim in range(len(shape)):
        if dim not in dims:
            a = aten.unsqueeze(a, dim)
    return aten.expand(a, shape)


@decomposes(prims.sum.default)
def _sum(
    a: Tensor, dims: Sequence[int] | None, *, output_dtype: torch.dtype | None = None
) -> Tensor:
    return aten.sum.dim_IntList(a, dims, False, dtype=output_dtype or a.dtype)


@decomposes(prims.amax.default)
def _amax(
    a: Tensor, dims: Sequence[int] | None, *, output_dtype: torch.dtype | None = None
) -> Tensor:
    return aten.amax(a, dims)


@decomposes(prims.amin.default)
def _amin(
    a: Tensor, dims: Sequence[int] | None, *, output_dtype: torch.dtype | None = None
) -> Tensor:
    return aten.amin(a, dims)


@decomposes(prims.prod.default)
def _prod(
    a: Tensor, dims: Sequence[int] | None, *, output_dtype: torch.dtype | None = None
) -> Tensor:
    for dim in sorted(range(a.dim()) if dims is None else dims, reverse=True):
        a = aten.prod.dim_int(a, dim, dtype=output_dtype or a.dtype)
    return a


@decomposes(prims.transpose.default)
def _transpose(a: Tensor, permutation: Sequence[int]) -> Tensor:
    return aten.permute(a, permutation)


@decomposes(prims.view_of.default)
def _view_of(a: Tensor) -> Tensor:
    return aten.alias(a)


@decomposes(prims.copy_strided.default, prims.device_put.default)
def _same_values(a: Tensor, *_: object) -> Tensor:
    """Strides and devices are no concern of a value."""
    return aten.alias(a)


@decomposes(prims.collapse.default, prims.collapse_view.default)
def _collapse(a: Tensor, start: int, end: int) -> Tensor:
    """Dimensions ``start`` to ``end``, both included, become one."""
    return a.reshape([*a.shape[:start], -1, *a.shape[end + 1 :]])


@decomposes(prims.split_dim.default)
def _split_dim(a: Tensor, dim: int, outer_length: int) -> Tensor:
    inner = a.shape[dim] // outer_length
    return a.reshape([*a.shape[:dim], outer_length, inner, *a.shape[dim + 1 :]])


@decomposes(prims.full.default)
def _full(shape: Sequence[int], value: Number, *, dtype: torch.dtype, **_: object) -> Tensor:
    return aten.full(shape, value, dtype=dtype, device="cpu")


@decomposes(prims.full_like.default)
def _full_like(a: Tensor, value: Number, *, dtype: torch.dtype, **_: object) -> Tensor:
    return aten.full(a.shape, value, dtype=dtype, device="cpu")


@decomposes(prims.empty.default, prims.empty_permuted.default, prims.empty_strided.default)
def _empty(shape: Sequence[int], *_: object, dtype: torch.dtype, **__: object) -> Tensor:
    return aten.full(shape, 0, dtype=dtype, device="cpu")


@decomposes(prims.iota.default)
def _iota(length: int, *, start: int, step: int, dtype: torch.dtype, **_: object) -> Tensor:
    return torch.arange(length, dtype=dtype) * step + start


@decomposes(prims.cbrt.default)
def _cbrt(a: Tensor) -> Tensor:
    return torch.sign(a) * torch.pow(torch.abs(a), 1 / 3)
