"""Householder reflections: QR and products of reflectors, with LAPACK's signs.

A reflector is ``I - tau v v^H`` with ``v`` zero above its pivot and one at it (LAPACK Users' Guide, 5.4; larfg); the
diagonal of ``R`` is real.
"""

from __future__ import annotations

import torch
from torch import Tensor

from torch2mlir.transforms.decompositions.linear_algebra import squares
from torch2mlir.transforms.decompositions.loops import (
    column,
    columns,
    identity_like,
    repeat,
    row,
    rows,
)
from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten


@decomposes(aten.geqrf.default)
def geqrf(x: Tensor) -> tuple[Tensor, ...]:
    """Reflectors below the diagonal of ``R``, and their ``tau``."""

    def step(k: Tensor, a: Tensor, taus: Tensor) -> list[Tensor]:
        current = column(a, k)
        alpha = row(current, k)
        below = torch.where(rows(a) > k, current, 0)
        rest = squares(below).sum(-2, keepdim=True)
        done = (rest == 0) & (alpha == torch.real(alpha))
        length = (squares(alpha) + rest).sqrt()
        beta = torch.where(done, alpha, torch.where(torch.real(alpha) < 0, length, -length))
        tau = torch.where(done, 0, (beta - alpha) / torch.where(done, 1, beta))
        v = below / torch.where(done, 1, alpha - beta)
        reflector = torch.where(rows(a) == k, 1, v)
        right = torch.where(columns(a) > k, a, 0)
        a = a - tau.conj() * reflector * (reflector.mH @ right)
        own = torch.where(rows(a) == k, beta, torch.where(rows(a) > k, v, current))
        a = torch.where(columns(a) == k, own, a)
        places = torch.arange(taus.shape[-1], device=a.device)
        return [a, torch.where(places == k, tau.squeeze(-1), taus)]

    taus = x.new_zeros(*x.shape[:-2], min(x.shape[-2], x.shape[-1]))
    return tuple(repeat(lambda a, taus: taus.shape[-1], step, x, taus))


def _reflect(packed: Tensor, taus: Tensor, x: Tensor, transposed: bool) -> Tensor:
    """``Q x`` or ``Q^H x`` for the product ``Q`` of all reflectors in order."""

    def step(k: Tensor, x: Tensor, packed: Tensor, taus: Tensor) -> list[Tensor]:
        at = k if transposed else taus.shape[-1] - 1 - k
        v = torch.where(rows(packed) > at, column(packed, at), 0)
        v = torch.where(rows(packed) == at, 1, v)
        tau = taus.index_select(-1, at.reshape(1)).unsqueeze(-1)
        tau = tau.conj() if transposed else tau
        return [x - tau * v * (v.mH @ x), packed, taus]

    count = lambda x, packed, taus: taus.shape[-1]  # noqa: E731
    return repeat(count, step, x, packed, taus)[0]


@decomposes(aten.linalg_householder_product.default)
def householder_product(packed: Tensor, taus: Tensor) -> Tensor:
    """The first columns of the product of the reflectors."""
    m, n = packed.shape[-2:]
    eye = identity_like(packed, m, n)
    return _reflect(packed, taus, eye, transposed=False)


@decomposes(aten.ormqr.default)
def ormqr(
    packed: Tensor, taus: Tensor, x: Tensor, left: bool = True, transpose: bool = False
) -> Tensor:
    """The product of the reflectors, or its conjugate transpose, times a matrix from either side."""
    if left:
        return _reflect(packed, taus, x, transpose)
    return _reflect(packed, taus, x.mH, not transpose).mH.contiguous()


def qr(x: Tensor, complete: bool = False) -> tuple[Tensor, Tensor]:
    """``Q`` with ``min(m, n)`` columns, or all ``m``, and ``R``."""
    m, n = x.shape[-2:]
    packed, taus = geqrf(x)
    size = m if complete else min(m, n)
    q = _reflect(packed, taus, identity_like(x, m, size), transposed=False)
    return q, packed.narrow(-2, 0, size).triu()


@decomposes(aten.linalg_qr.default)
def linalg_qr(x: Tensor, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    """``Q`` and ``R``; an empty ``Q`` in mode ``r``."""
    if mode == "r":
        packed, _ = geqrf(x)
        return x.new_empty(0), packed.narrow(-2, 0, min(*x.shape[-2:])).triu()
    return qr(x, complete=mode == "complete")
