"""Factorizations, what is solved with them, and functions of matrices."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.linalg import (
    cholesky,
    det,
    eigh,
    householder_product,
    inv,
    ldl_factor_ex,
    ldl_solve,
    lu_factor,
    lu_solve,
    matrix_exp,
    matrix_norm,
    matrix_power,
    pinv,
    qr,
    slogdet,
    solve,
    solve_triangular,
    svd,
    svdvals,
)

from tests.e2e.registry import c64, case, f32, f64, program


def _symmetric(x: Tensor) -> Tensor:
    return x @ x.mT + torch.eye(x.shape[-1], dtype=x.dtype)


@program(f32("B", 4, 4))
def cholesky_lower(x: Tensor) -> Tensor:
    return cholesky(_symmetric(x))


@program(f32("N", "N"))
def cholesky_upper(x: Tensor) -> Tensor:
    return cholesky(_symmetric(x), upper=True)


@program(f32("B", 3, 3), f32("B", 3, 2))
def cholesky_solved(x: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    factor = cholesky(_symmetric(x))
    return torch.cholesky_solve(b, factor), torch.cholesky_inverse(factor)


@program(f32("B", 4, 4), f32("B", 4, 2))
def triangular_lower(a: Tensor, b: Tensor) -> Tensor:
    return solve_triangular(a + 3 * torch.eye(4), b, upper=False)


@program(f32("B", 4, 4), f32(2, 4))
def triangular_from_the_right(a: Tensor, b: Tensor) -> Tensor:
    return solve_triangular(a, b, upper=True, left=False, unitriangular=True)


@program(f32("B", 4, 4), f32("B", 4, 2), loose=10)
def solve_of_matrices(a: Tensor, b: Tensor) -> Tensor:
    return solve(a, b)


@program(f32(4, 4), f32(2, 4), loose=10)
def solve_from_the_right(a: Tensor, b: Tensor) -> Tensor:
    return solve(a, b, left=False)


@program(f32("B", 4, 3))
def lu_of_tall_matrices(x: Tensor) -> tuple[Tensor, ...]:
    factors, pivots = lu_factor(x)
    return factors, pivots, *torch.lu_unpack(factors, pivots)


@program(f32(4, 4), f32(4, 2), loose=10)
def lu_solve_adjoint(x: Tensor, b: Tensor) -> Tensor:
    return lu_solve(*lu_factor(x), b, adjoint=True)


@program(f32("B", 5, 5), f32(5, 2), loose=20)
def indefinite_factors_and_solution(x: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    factors, pivots, info = ldl_factor_ex(x)  # by its lower triangle, with 2x2 pivots among others
    return factors, pivots, info, ldl_solve(factors, pivots, b)


@program(f32("N", "N"))
def indefinite_without_diagonal(x: Tensor) -> tuple[Tensor, ...]:
    return ldl_factor_ex(x.tril(-1))


@program(c64("B", 4, 4), c64("B", 4, 1), loose=20)
def hermitian_factors_and_solution(x: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    factors, pivots, _ = ldl_factor_ex(x, hermitian=True)
    return factors, pivots, ldl_solve(factors, pivots, b, hermitian=True)


case("inverse", inv, f32("B", 4, 4), loose=10)
case("inverse_f64", inv, f64(5, 5), loose=10)
case("determinant", lambda x: (det(x), slogdet(x)), f32("B", 4, 4), loose=10)
case("qr_tall", qr, f32("B", 5, 3))
case("qr_complete", lambda x: qr(x, mode="complete"), f32(3, 5))


@program(f32(5, 3), f32(5, 2))
def reflectors(x: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    packed, tau = torch.geqrf(x)
    return householder_product(packed, tau), torch.ormqr(packed, tau, b, transpose=True)


@program(f32("B", 4, 4), loose=10)
def eigenvalues_and_projections(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    values, vectors = eigh(x + x.mT)
    return values, (vectors * values.exp().unsqueeze(-2)) @ vectors.mT, vectors.mT @ vectors


@program(f32("B", 5, 3), loose=10)
def singular_values_and_product(x: Tensor) -> tuple[Tensor, ...]:
    u, values, vh = svd(x, full_matrices=True)
    return values, (u[..., :3] * values.unsqueeze(-2)) @ vh, u.mT @ u


case("singular_values_of_wide", svdvals, f32(3, 5), loose=10)
case("singular_values_f64", svdvals, f64(4, 4), loose=10)


@program(f32("B", 2), f32(2, 4), loose=10)
def pseudo_inverse(a: Tensor, b: Tensor) -> tuple[Any, ...]:
    x = a[:3] @ b
    return pinv(x), torch.linalg.matrix_rank(x), matrix_norm(x, "nuc"), matrix_norm(x, 2)


@program(c64(4, 4), c64(4, 2), loose=20)
def complex_cholesky(x: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    hermitian = x @ x.mH + 2 * torch.eye(4)
    lower, upper = cholesky(hermitian), cholesky(hermitian, upper=True)
    solved = torch.cholesky_solve(b, lower), torch.cholesky_solve(b, upper, upper=True)
    diagonals = lower.diagonal().real, upper.diagonal().real
    return lower.tril(-1), upper.triu(1), *diagonals, *solved, torch.cholesky_inverse(lower)


@program(c64(4, 4), c64(4, 2), loose=40)
def complex_lu(x: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    packed, pivots = lu_factor(x)
    left = lu_solve(packed, pivots, b), lu_solve(packed, pivots, b, adjoint=True)
    right = (
        lu_solve(packed, pivots, b.mT, left=False),
        lu_solve(packed, pivots, b.mT, left=False, adjoint=True),
    )
    return packed, pivots, *left, *right


@program(c64(5, 3), c64(5, 2), loose=20)
def complex_qr(x: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    packed, tau = torch.geqrf(x)
    products = (
        torch.ormqr(packed, tau, b, transpose=True),
        torch.ormqr(packed, tau, b.mH.contiguous(), left=False),
    )
    return *qr(x, mode="complete"), householder_product(packed, tau), *products


@program(c64(4, 4), loose=20)
def complex_eigenvalues(x: Tensor) -> tuple[Tensor, ...]:
    values, vectors = eigh(x + x.mH)
    projected = (vectors * values.exp().unsqueeze(-2)) @ vectors.mH
    return values, projected, vectors.mH @ vectors, torch.linalg.eigvalsh(x, UPLO="U")


@program(c64(3, 5), loose=20)
def complex_singular_values(x: Tensor) -> tuple[Tensor, ...]:
    u, values, vh = svd(x, full_matrices=True)
    product = (u * values.unsqueeze(-2)) @ vh[:3]
    return values, product, vh @ vh.mH, pinv(x), matrix_norm(x, "nuc")


case("exponential_of_matrices", matrix_exp, f32("B", 3, 3), loose=10)
case("power_of_matrices", lambda x: matrix_power(x, 5), f32("B", 3, 3), loose=10)
case("power_of_inverse", lambda x: matrix_power(x, -2), f32(3, 3), loose=20)
case("addbmm", lambda x, a, b: x.addbmm(a, b, beta=0.5), f32(4, 2), f32("B", 4, 3), f32("B", 3, 2))
