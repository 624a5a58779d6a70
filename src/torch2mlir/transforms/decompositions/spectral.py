"""Eigenvalues of symmetric and Hermitian matrices and singular values, by Jacobi's method, and what follows from them.

Every step rotates all columns in disjoint pairs, a round of a tournament in which each column meets each other one in a
sweep (Golub and Van Loan, Matrix Computations, 4th edition, 8.5.2 and 8.5.6, and 8.6.3 for the one-sided form).
"""

from __future__ import annotations

import torch
from torch import Tensor

from torch2mlir.transforms.decompositions.linear_algebra import hermitian_of, squares
from torch2mlir.transforms.decompositions.loops import identity_like, repeat
from torch2mlir.transforms.decompositions.orthogonal import qr
from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten

_SWEEPS = 12
"""Convergence is quadratic: six to eight do for hundreds of columns in f64."""


def _partners(k: Tensor, size: int) -> Tensor:
    """Whom each of ``size`` players meets in round ``k``; in an odd tournament one meets itself."""
    players = size + size % 2
    number = torch.arange(size, device=k.device)
    last = players - 1
    met = (k - number).remainder(last)
    alone = (k * (players // 2)).remainder(last)
    met = torch.where(met == number, last, met)
    met = torch.where(number == last, alone, met)
    return torch.where(met >= size, number, met)


def _rotation(k: Tensor, gram: Tensor) -> Tensor:
    """The rotation of column pairs that makes their products zero, from all products."""
    size = gram.shape[-1]
    number, other = torch.arange(size, device=gram.device), _partners(k, size)
    own = torch.real(gram.diagonal(0, -2, -1))
    pair = (number.unsqueeze(-1) == other).to(own.dtype)
    theirs = (pair @ own.unsqueeze(-1)).squeeze(-1)
    product = (gram * pair).sum(-1)
    idle = (number == other) | (product == 0)
    cotangent = (theirs - own) / (2 * torch.where(idle, 1, product.abs()))
    sign = torch.where((cotangent > 0) | ((cotangent == 0) & (number < other)), 1.0, -1.0)
    tangent = sign / (cotangent.abs() + torch.hypot(cotangent, torch.ones_like(cotangent)))
    tangent = torch.where(idle, 0.0, tangent).to(own.dtype)
    cosine = (1 + tangent.square()).rsqrt()
    sine = tangent * cosine * product.sgn()
    eye = torch.eye(size, dtype=own.dtype, device=gram.device)
    return eye * cosine.unsqueeze(-1) + pair * sine.unsqueeze(-1)


def _rounds(x: Tensor, *_: Tensor) -> int:
    size = x.shape[-1]
    return _SWEEPS * max(size + size % 2 - 1, 1)


def eigh(x: Tensor) -> tuple[Tensor, Tensor]:
    """Eigenvalues in ascending order and eigenvectors of symmetric or Hermitian matrices."""
    size = x.shape[-1]
    if size < 2:
        return torch.real(x.diagonal(0, -2, -1)).clone(), identity_like(x, size, size)

    def step(k: Tensor, a: Tensor, vectors: Tensor) -> list[Tensor]:
        rotation = _rotation(k, a)
        return [rotation.mH @ a @ rotation, vectors @ rotation]

    diagonal, vectors = repeat(_rounds, step, x, identity_like(x, size, size))
    values, order = torch.real(diagonal.diagonal(0, -2, -1)).sort(-1)
    return values, vectors.gather(-1, order.unsqueeze(-2).expand(vectors.shape))


@decomposes(aten._linalg_eigh.default)
def linalg_eigh(x: Tensor, UPLO: str = "L", compute_v: bool = True) -> tuple[Tensor, Tensor]:
    """Eigenvalues and eigenvectors of the symmetric or Hermitian matrix in one triangle."""
    values, vectors = eigh(hermitian_of(x, UPLO.upper() == "L"))
    return values, vectors if compute_v else x.new_empty(0)


def svd(x: Tensor, full: bool = False) -> tuple[Tensor, Tensor, Tensor]:
    """``U``, singular values in descending order, ``V^H``.

    The columns are made orthogonal by rotations; their QR factorization has the lengths on the diagonal and completes
    the directions where a length is zero.
    """
    m, n = x.shape[-2:]
    if m < n:
        u, values, vh = svd(x.mH, full)
        return vh.mH.contiguous(), values, u.mH.contiguous()

    def step(k: Tensor, a: Tensor, vectors: Tensor) -> list[Tensor]:
        rotation = _rotation(k, a.mH @ a)
        return [a @ rotation, vectors @ rotation]

    a, vectors = x, identity_like(x, n, n)
    if n > 1:
        a, vectors = repeat(_rounds, step, x, vectors)
        order = squares(a).sum(-2).argsort(-1, descending=True).unsqueeze(-2)
        a = a.gather(-1, order.expand(a.shape))
        vectors = vectors.gather(-1, order.expand(vectors.shape))
    q, r = qr(a, complete=full)
    diagonal = r.diagonal(0, -2, -1)
    length = diagonal.abs()
    signs = torch.where(length == 0, 1, diagonal / torch.where(length == 0, 1, length))
    return q, length, (vectors * signs.conj().unsqueeze(-2)).mH.contiguous()


@decomposes(aten._linalg_svd.default)
def linalg_svd(
    x: Tensor, full_matrices: bool = False, compute_uv: bool = True, *, driver: str | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """``U``, singular values, ``V^H``; empty matrices if only the values are asked for."""
    if compute_uv:
        return svd(x, full_matrices)
    return x.new_empty(0), svd(x)[1], x.new_empty(0)


@decomposes(aten.linalg_pinv.atol_rtol_tensor)
def pinv(
    x: Tensor, *, atol: Tensor | None = None, rtol: Tensor | None = None, hermitian: bool = False
) -> Tensor:
    """The pseudo-inverse; singular values up to ``max(atol, rtol * largest)`` count as zero."""
    if 0 in x.shape:
        return x.new_zeros(*x.shape[:-2], x.shape[-1], x.shape[-2])
    if hermitian:
        values, left = linalg_eigh(x)
        right, size = left, values.abs()
    else:
        left, values, vh = svd(x)
        right, size = vh.mH, values
    keep = size > _tolerance(x, size, atol, rtol)
    inverse = torch.where(keep, 1 / torch.where(keep, values, 1), 0)
    return (right * inverse.unsqueeze(-2)) @ left.mH


@decomposes(aten.linalg_pinv.atol_rtol_float)
def pinv_of_numbers(
    x: Tensor, *, atol: float | None = None, rtol: float | None = None, hermitian: bool = False
) -> Tensor:
    """The same with numbers, which are of the dtype of singular values here."""
    return pinv(x, atol=_number(x, atol), rtol=_number(x, rtol), hermitian=hermitian)


def _tolerance(x: Tensor, size: Tensor, atol: Tensor | None, rtol: Tensor | None) -> Tensor:
    """Below what a singular value is zero, ``[.., 1]``; by default relative to the largest one and the size."""
    largest = size.amax(-1)
    default = torch.finfo(x.dtype).eps * max(x.shape[-2:])
    if rtol is None:
        relative = torch.full_like(largest, default)
        if atol is not None:
            relative = torch.where(atol > 0, 0, relative)
    else:
        relative = rtol.to(size.dtype)
    least = relative * largest
    if atol is not None:
        least = torch.maximum(least, atol.to(size.dtype))
    return least.unsqueeze(-1)


@decomposes(aten.linalg_matrix_rank.atol_rtol_tensor)
def matrix_rank(
    x: Tensor, *, atol: Tensor | None = None, rtol: Tensor | None = None, hermitian: bool = False
) -> Tensor:
    """How many singular values are above ``max(atol, rtol * largest)``."""
    if 0 in x.shape:
        return torch.zeros(x.shape[:-2], dtype=torch.int64, device=x.device)
    size = linalg_eigh(x)[0].abs() if hermitian else svd(x)[1]
    return (size > _tolerance(x, size, atol, rtol)).sum(-1)


@decomposes(aten.linalg_matrix_rank.atol_rtol_float)
def matrix_rank_of_numbers(
    x: Tensor, *, atol: float | None = None, rtol: float | None = None, hermitian: bool = False
) -> Tensor:
    """The same with numbers, which are of the dtype of singular values here."""
    return matrix_rank(x, atol=_number(x, atol), rtol=_number(x, rtol), hermitian=hermitian)


def _number(x: Tensor, value: float | None) -> Tensor | None:
    return (
        None if value is None else torch.full((), value, dtype=x.dtype.to_real(), device=x.device)
    )


# functions of matrices

_TERMS: dict[torch.dtype, int] = {torch.float64: 16}
"""Terms of the exponential's series that reach the dtype's precision for norms up to one half."""


@decomposes(aten.linalg_matrix_exp.default)
def matrix_exp(x: Tensor) -> Tensor:
    """The exponential by scaling and squaring (Moler and Van Loan, Nineteen Dubious Ways, method 3)."""
    if 0 in x.shape:
        return x.clone()
    norm = x.abs().sum(-2).amax(-1)
    halvings = (norm.clamp(min=0.5).log2().ceil() + 1).long()
    scale = torch.exp2(-halvings.to(x.dtype)).unsqueeze(-1).unsqueeze(-1)
    small, eye = x * scale, torch.eye(x.shape[-1], dtype=x.dtype, device=x.device)
    total = eye.expand(x.shape)
    for term in range(_TERMS.get(x.dtype, 10), 0, -1):
        total = eye + small @ total / term

    def step(k: Tensor, total: Tensor, halvings: Tensor, most: Tensor) -> list[Tensor]:
        more = (k < halvings).unsqueeze(-1).unsqueeze(-1)
        return [torch.where(more, total @ total, total), halvings, most]

    return repeat(lambda total, halvings, most: most, step, total, halvings, halvings.amax())[0]
