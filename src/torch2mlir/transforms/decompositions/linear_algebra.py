"""Triangular factorizations and what is solved with them: one loop over the columns each, over batches of matrices.

Algorithms are those of Golub and Van Loan, Matrix Computations, 4th edition, which LAPACK uses too: forward
substitution (3.1.1), outer-product LU with partial pivoting (3.4.1), outer-product Cholesky (4.2.2).
"""

from __future__ import annotations

import torch
from torch import Tensor

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


def _size(x: Tensor, *_: Tensor) -> int:
    return x.shape[-1]


def magnitude(x: Tensor) -> Tensor:
    """LAPACK's size of a number: of a complex one, the sum of its parts' sizes."""
    return x.real.abs() + x.imag.abs() if x.is_complex() else x.abs()


def squares(x: Tensor) -> Tensor:
    """The squares of the absolute values."""
    return x.real.square() + x.imag.square() if x.is_complex() else x.square()


def hermitian_of(x: Tensor, is_lower: bool) -> Tensor:
    """The symmetric or Hermitian matrix in one triangle, whose diagonal is read as real."""
    beside = x.tril(-1) if is_lower else x.triu(1)
    return beside + beside.mH + torch.where(rows(x) == columns(x), torch.real(x), 0)


# Cholesky


@decomposes(aten.linalg_cholesky_ex.default)
def cholesky_ex(
    x: Tensor, upper: bool = False, check_errors: bool = False
) -> tuple[Tensor, Tensor]:
    """The triangular factor, and the number of the first pivot, a real number, that is not positive."""
    symmetric = hermitian_of(x, not upper)

    def step(k: Tensor, rest: Tensor, factor: Tensor, info: Tensor) -> list[Tensor]:
        pivot = torch.real(row(column(rest, k), k))
        scaled = torch.where(rows(rest) >= k, column(rest, k) / pivot.sqrt(), 0)
        left = rest - scaled * scaled.mH
        factor = torch.where(columns(rest) == k, scaled, factor)
        failed = (info == 0) & ~(pivot > 0).squeeze(-1).squeeze(-1)
        return [left, factor, torch.where(failed, k + 1, info).int()]

    info = torch.zeros(x.shape[:-2], dtype=torch.int32, device=x.device)
    _, factor, info = repeat(_size, step, symmetric, torch.zeros_like(symmetric), info)
    return (factor.mH.triu() if upper else factor), info


@decomposes(aten.cholesky.default)
def cholesky(x: Tensor, upper: bool = False) -> Tensor:
    """The triangular factor."""
    return cholesky_ex(x, upper)[0]


@decomposes(aten.cholesky_solve.default, aten._cholesky_solve_helper.default)
def cholesky_solve(b: Tensor, factor: Tensor, upper: bool = False) -> Tensor:
    """``(L L^H) x = b``."""
    lower = factor.mH if upper else factor
    b, lower = same_batch(b, lower)
    return solve_upper(lower.mH, solve_lower(lower, b))


@decomposes(aten.cholesky_inverse.default)
def cholesky_inverse(factor: Tensor, upper: bool = False) -> Tensor:
    """The inverse of ``L L^H``."""
    eye = identity_like(factor, factor.shape[-1], factor.shape[-1])
    return cholesky_solve(eye, factor, upper)


# triangular systems


def same_batch(b: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
    """Both with the batch dimensions they broadcast to."""
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return b.expand(*batch, *b.shape[-2:]), a.expand(*batch, *a.shape[-2:])


def solve_lower(a: Tensor, b: Tensor, unit: bool = False) -> Tensor:
    """``L x = b`` for the lower triangle of ``a``; both have the same batch."""

    def step(k: Tensor, x: Tensor, a: Tensor) -> list[Tensor]:
        below = column(a, k)
        solved = row(x, k) if unit else row(x, k) / row(below, k)
        rest = x - torch.where(
            rows(x) > k, below * solved, 0
        )  # of an infinite one nothing is left above
        return [torch.where(rows(x) == k, solved, rest), a]

    return repeat(lambda x, a: a.shape[-1], step, b, a)[0]


def solve_upper(a: Tensor, b: Tensor, unit: bool = False) -> Tensor:
    """``U x = b`` for the upper triangle of ``a``; both have the same batch."""
    return solve_lower(a.flip(-2, -1), b.flip(-2), unit).flip(-2)


@decomposes(aten.linalg_solve_triangular.default)
def solve_triangular(
    a: Tensor, b: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """``a x = b``, or ``x a = b`` from the right, for a triangle of ``a``."""
    b, a = same_batch(b, a)
    if not left:
        return solve_triangular(
            a.mT, b.mT, upper=not upper, unitriangular=unitriangular
        ).mT.contiguous()
    return solve_upper(a, b, unitriangular) if upper else solve_lower(a, b, unitriangular)


@decomposes(aten.triangular_solve.default)
def triangular_solve(
    b: Tensor,
    a: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> tuple[Tensor, Tensor]:
    """The older form, which also returns the matrix in the common batch."""
    b, a = same_batch(b, a)
    coefficients, is_upper = (a.mT, not upper) if transpose else (a, upper)
    x = solve_triangular(coefficients, b, upper=is_upper, unitriangular=unitriangular)
    return x, a.clone()


# LU


def swapped(rank: Tensor, k: Tensor, other: Tensor) -> Tensor:
    """Which row comes from where when rows ``k`` and ``other`` change places."""
    return torch.where(rank == k, other, torch.where(rank == other, k, rank))


def lu(x: Tensor, pivot: bool = True) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Packed factors, pivots counted from 1, the rows' permutation, and the number of the first zero pivot."""
    steps = min(x.shape[-2], x.shape[-1])
    batch = x.shape[:-2]
    positions = torch.arange(x.shape[-2], device=x.device)

    def step(k: Tensor, a: Tensor, pivots: Tensor, order: Tensor, info: Tensor) -> list[Tensor]:
        number = torch.arange(a.shape[-2], device=a.device)
        if pivot:
            candidates = torch.where(number >= k, magnitude(column(a, k).squeeze(-1)), -1)
            chosen = candidates.argmax(-1, keepdim=True)
            source = swapped(number, k, chosen)
            a = a.gather(-2, source.unsqueeze(-1).expand(a.shape))
            order = order.gather(-1, source)
        else:
            chosen, order = k.expand(*batch, 1), order
        places = torch.arange(pivots.shape[-1], device=a.device)
        pivots = torch.where(places == k, chosen + 1, pivots).int()
        current = row(a, k)
        corner = column(current, k)
        singular = corner == 0
        below = torch.where(singular, column(a, k), column(a, k) / corner.where(~singular, 1))
        factors = torch.where(rows(a) > k, below, 0)
        rest = a - factors * torch.where(columns(a) > k, current, 0)
        stored = torch.where((rows(a) > k) & (columns(a) == k), factors, rest)
        failed = (info == 0) & singular.squeeze(-1).squeeze(-1)
        return [stored, pivots, order, torch.where(failed, k + 1, info).int()]

    pivots = torch.zeros(*batch, steps, dtype=torch.int32, device=x.device)
    info = torch.zeros(batch, dtype=torch.int32, device=x.device)
    order = positions.expand(*batch, x.shape[-2]).clone()
    packed, pivots, order, info = repeat(lambda a, p, *_: p.shape[-1], step, x, pivots, order, info)
    return packed, pivots, order, info


def _order_of(pivots: Tensor, size: int) -> Tensor:
    """The rows' permutation that LAPACK's interchanges make."""

    def step(k: Tensor, order: Tensor, pivots: Tensor) -> list[Tensor]:
        chosen = pivots.index_select(-1, k.reshape(1)) - 1
        number = torch.arange(order.shape[-1], device=order.device)
        return [order.gather(-1, swapped(number, k, chosen)), pivots]

    start = torch.arange(size, device=pivots.device).expand(*pivots.shape[:-1], size)
    return repeat(lambda order, p: p.shape[-1], step, start, pivots.long())[0]


def _permutation(order: Tensor, like: Tensor) -> Tensor:
    """``P`` with ``P @ (rows in order) == rows``."""
    number = torch.arange(order.shape[-1], device=order.device)
    return (number.unsqueeze(-1) == order.unsqueeze(-2)).to(like.dtype)


def _unpacked(packed: Tensor) -> tuple[Tensor, Tensor]:
    """``L`` with ones on the diagonal, and ``U``."""
    m, n = packed.shape[-2:]
    k = min(m, n)
    eye = torch.eye(m, k, dtype=packed.dtype, device=packed.device)
    return packed.narrow(-1, 0, k).tril(-1) + eye, packed.narrow(-2, 0, k).triu()


@decomposes(aten.linalg_lu_factor_ex.default)
def lu_factor_ex(
    x: Tensor, *, pivot: bool = True, check_errors: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """Packed factors, pivots, info."""
    packed, pivots, _, info = lu(x, pivot)
    return packed, pivots, info


@decomposes(aten.linalg_lu.default)
def linalg_lu(x: Tensor, *, pivot: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    """``P``, ``L`` and ``U``; no ``P`` without pivoting."""
    packed, _, order, _ = lu(x, pivot)
    p = _permutation(order, x) if pivot else x.new_empty(0)
    return p, *_unpacked(packed)


@decomposes(aten.lu_unpack.default)
def lu_unpack(
    packed: Tensor, pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Tensor, Tensor, Tensor]:
    """``P``, ``L`` and ``U`` of packed factors; empty what is not asked for."""
    empty = packed.new_empty(0)
    p = _permutation(_order_of(pivots, packed.shape[-2]), packed) if unpack_pivots else empty
    return p, *(_unpacked(packed) if unpack_data else (empty, empty.clone()))


def _solve_lu(packed: Tensor, order: Tensor, b: Tensor) -> Tensor:
    b, packed = same_batch(b, packed)
    order = order.expand(*packed.shape[:-2], packed.shape[-1])
    b = b.gather(-2, order.unsqueeze(-1).expand(b.shape))
    return solve_upper(packed, solve_lower(packed, b, unit=True))


def _solve_adjoint(packed: Tensor, order: Tensor, b: Tensor) -> Tensor:
    """``A^T x = b``: the triangles in the other order, then the rows back."""
    b, packed = same_batch(b, packed)
    x = solve_upper(packed.mT, solve_lower(packed.mT, b), unit=True)
    back = order.argsort(-1).expand(*packed.shape[:-2], packed.shape[-1])
    return x.gather(-2, back.unsqueeze(-1).expand(x.shape))


@decomposes(aten.linalg_lu_solve.default)
def lu_solve(
    packed: Tensor, pivots: Tensor, b: Tensor, *, left: bool = True, adjoint: bool = False
) -> Tensor:
    """Solves with packed factors, from either side, with the matrix or its conjugate transpose."""
    packed = packed.conj() if adjoint else packed
    order = _order_of(pivots, packed.shape[-1])
    solve = _solve_adjoint if adjoint == left else _solve_lu
    return solve(packed, order, b) if left else solve(packed, order, b.mT).mT.contiguous()


@decomposes(aten._linalg_solve_ex.default)
def solve_ex(
    a: Tensor, b: Tensor, *, left: bool = True, check_errors: bool = False
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The solution, packed factors, pivots, info; ``b`` may be a vector."""
    packed, pivots, order, info = lu(a)
    is_vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])
    right = b.unsqueeze(-1) if is_vector else b
    if left:
        x = _solve_lu(packed, order, right)
    else:
        x = _solve_adjoint(packed, order, right.mT).mT
    return (x.squeeze(-1) if is_vector else x), packed, pivots, info


@decomposes(aten.linalg_inv_ex.default)
def inv_ex(a: Tensor, *, check_errors: bool = False) -> tuple[Tensor, Tensor]:
    """The inverse, and info."""
    packed, _, order, info = lu(a)
    return _solve_lu(packed, order, identity_like(a, a.shape[-1], a.shape[-1])), info


def _sign(pivots: Tensor, like: Tensor) -> Tensor:
    """The determinant of the permutation."""
    own = torch.arange(1, pivots.shape[-1] + 1, device=pivots.device)
    odd = (pivots != own).sum(-1).remainder(2)
    return (1 - 2 * odd).to(like.dtype)


@decomposes(aten._linalg_det.default)
def det(a: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The determinant, packed factors, pivots."""
    packed, pivots, _, _ = lu(a)
    return packed.diagonal(0, -2, -1).prod(-1) * _sign(pivots, a), packed, pivots


@decomposes(aten._linalg_slogdet.default)
def slogdet(a: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Sign and logarithm of the determinant, packed factors, pivots."""
    packed, pivots, _, _ = lu(a)
    diagonal = packed.diagonal(0, -2, -1)
    sign = diagonal.sgn().prod(-1) * _sign(pivots, a)
    return sign, diagonal.abs().log().sum(-1), packed, pivots
