"""Complex numbers: everything that looks at parts, over ``aten.complex``, ``prims.real`` and ``prims.imag``."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten
prims = torch.ops.prims


@decomposes(aten.real.default)
def _real(a: Tensor) -> Tensor:
    return prims.real(a) if a.is_complex() else aten.alias(a)


@decomposes(aten.imag.default)
def _imag(a: Tensor) -> Tensor:
    return prims.imag(a)


@decomposes(aten.view_as_real.default, aten.view_as_real_copy.default)
def _view_as_real(a: Tensor) -> Tensor:
    """Pairs of parts in a last dimension; a value tensor has no memory to see differently."""
    return torch.stack([prims.real(a), prims.imag(a)], -1)


@decomposes(aten.view_as_complex.default, aten.view_as_complex_copy.default)
def _view_as_complex(a: Tensor) -> Tensor:
    return aten.complex(aten.select.int(a, -1, 0), aten.select.int(a, -1, 1))


@decomposes(
    aten._conj.default,
    aten._conj_copy.default,
    aten._conj_physical.default,
    aten.conj_physical.default,
    prims.conj.default,
    prims.conj_physical.default,
)
def _conj(a: Tensor) -> Tensor:
    return aten.complex(prims.real(a), -prims.imag(a)) if a.is_complex() else aten.alias(a)


@decomposes(aten.resolve_conj.default, aten.resolve_neg.default)
def _resolve(a: Tensor) -> Tensor:
    """Conjugation and negation are never put off here."""
    return aten.alias(a)


@decomposes(aten._neg_view.default, aten._neg_view_copy.default)
def _neg_view(a: Tensor) -> Tensor:
    return aten.neg(a)


@decomposes(aten.isreal.default)
def _isreal(a: Tensor) -> Tensor:
    return prims.imag(a) == 0 if a.is_complex() else torch.ones_like(a, dtype=torch.bool)


@decomposes(aten.polar.default)
def _polar(size: Tensor, angle: Tensor) -> Tensor:
    return aten.complex(size * torch.cos(angle), size * torch.sin(angle))


@decomposes(aten.angle.default)
def _angle(a: Tensor) -> Tensor:
    """The argument of a complex number; pi for negative real ones, NaN for NaN."""
    if a.is_complex():
        return torch.atan2(prims.imag(a), prims.real(a))
    dtype = a.dtype if a.dtype.is_floating_point else torch.get_default_dtype()
    if a.dtype == torch.bool:
        return torch.zeros_like(a, dtype=dtype)
    angle = torch.where(a < 0, math.pi, 0.0).to(dtype)
    return torch.where(torch.isnan(a), a, angle) if a.dtype.is_floating_point else angle


@decomposes(aten.sgn.default)
def _sgn(a: Tensor) -> Tensor:
    """``a / |a|``, and 0 for 0."""
    if not a.is_complex():
        return torch.sign(a)
    size = torch.abs(a)
    none = size == 0
    return torch.where(none, 0, a / torch.where(none, 1, size))
