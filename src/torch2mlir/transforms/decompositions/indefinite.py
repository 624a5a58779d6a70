"""Symmetric and Hermitian matrices without a sign: ``L D L^T`` with Bunch-Kaufman pivots, and what is solved with it.

Golub and Van Loan, Matrix Computations, 4th edition, 4.4.4, with LAPACK's choice of pivots and its packed result
(sytf2, hetf2, sytrs): the lower triangle holds ``D``, of 1x1 and 2x2 blocks, and the columns of ``L``. A pivot is the
number, counted from 1, of the row that changed places with its own; both pivots of a 2x2 block are the negative number
of what changed places with its second row.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from torch2mlir.transforms.decompositions.linear_algebra import (
    hermitian_of,
    magnitude,
    same_batch,
    swapped,
)
from torch2mlir.transforms.decompositions.loops import column, columns, repeat, row, rows
from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten

_ALPHA = (1 + math.sqrt(17)) / 8
"""What bounds the growth of elements best over 1x1 and 2x2 pivots."""


def _adjoint(x: Tensor, hermitian: bool) -> Tensor:
    return x.mT.conj() if hermitian else x.mT


def _column_at(x: Tensor, places: Tensor) -> Tensor:
    """A column of each matrix of a batch, ``[.., m, 1]``, by its number ``[.., 1, 1]``."""
    return x.gather(-1, places.expand(*x.shape[:-1], 1))


def _row_at(x: Tensor, places: Tensor) -> Tensor:
    """A row of each matrix of a batch, ``[.., 1, n]``, by its number ``[.., 1, 1]``."""
    return x.gather(-2, places.expand(*x.shape[:-2], 1, x.shape[-1]))


def _largest(sizes: Tensor, among: Tensor) -> tuple[Tensor, Tensor]:
    """The largest element of columns and its row; zero if there is nothing to choose among."""
    candidates = torch.where(among, sizes, 0)
    return candidates.amax(-2, keepdim=True), candidates.argmax(-2, keepdim=True)


def _pivot(rest: Tensor, k: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The row to put in place, whether it is the second of a 2x2 block, and whether there is no pivot at all."""
    number = rows(rest)
    sizes = magnitude(column(rest, k))
    own = row(sizes, k)
    below, lowest = _largest(sizes, number > k)
    others = magnitude(_column_at(rest, lowest))
    beside, _ = _largest(others, (number >= k) & (number != lowest))
    none = (torch.maximum(own, below) == 0) | own.isnan()
    # as LAPACK has it, own * beside >= alpha * below**2 without the squares
    stays = (own >= _ALPHA * below) | (own >= _ALPHA * below * (below / beside))
    moves = ~(none | stays)
    single = _row_at(others, lowest) >= _ALPHA * beside
    return torch.where(moves, lowest, k), moves & ~single, none


@decomposes(aten.linalg_ldl_factor_ex.default)
def ldl_factor_ex(
    x: Tensor, *, hermitian: bool = False, check_errors: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """Packed factors of the matrix whose lower triangle is given, pivots, and the number of the first zero pivot."""
    hermitian = hermitian and x.is_complex()
    symmetric = hermitian_of(x, True) if hermitian else x.tril() + x.tril(-1).mT

    def step(
        k: Tensor, rest: Tensor, packed: Tensor, pivots: Tensor, done: Tensor, info: Tensor
    ) -> list[Tensor]:
        """Column ``k``, and the next one if they are a block; ``done`` says that the one before was such."""
        number, free = rows(rest), ~done
        chosen, paired, none = _pivot(rest, k)
        paired = paired & free
        last = k + paired.long()
        source = swapped(number, last, torch.where(free, chosen, last))
        rest = rest.gather(-2, source.expand(rest.shape))
        rest = rest.gather(-1, source.mT.expand(rest.shape))

        first, second = column(rest, k), _column_at(rest, last)
        corner, end = row(first, k), _row_at(second, last)
        off = torch.where(paired, _row_at(first, last), 1)
        across = off.conj() if hermitian else off
        single = first / torch.where(none, 1, corner)
        ratios = corner / across, end / off
        scale = torch.where(paired, ratios[0] * ratios[1] - 1, 1)
        double = (ratios[1] * first - second) / scale / across
        beside = (ratios[0] * second - first) / scale / off

        left = torch.where(number > last, torch.where(paired, double, single), 0)
        right = torch.where(paired & (number > last), beside, 0)
        outer = first * _adjoint(left, hermitian) + second * _adjoint(right, hermitian)
        rest = torch.where(free, rest - outer, rest)

        left = torch.where(number > last, left, torch.where(number >= k, first, 0))
        right = torch.where(number > last, right, torch.where(number == last, end, 0))
        place = columns(rest)
        packed = torch.where(free & (place == k), left, packed)
        packed = torch.where(paired & (place == last), right, packed)
        written = torch.where(paired, -1 - chosen, 1 + chosen).squeeze(-1)
        here = free.squeeze(-1) & (place >= k) & (place <= last.squeeze(-1))
        pivots = torch.where(here, written, pivots).int()
        failed = (info == 0) & (none & free).squeeze(-1).squeeze(-1)
        return [rest, packed, pivots, paired, torch.where(failed, k + 1, info).int()]

    batch = x.shape[:-2]
    pivots = torch.zeros(x.shape[:-1], dtype=torch.int32, device=x.device)
    done = torch.zeros(*batch, 1, 1, dtype=torch.bool, device=x.device)
    info = torch.zeros(batch, dtype=torch.int32, device=x.device)
    state = (symmetric, torch.zeros_like(symmetric), pivots, done, info)
    _, packed, pivots, _, info = repeat(lambda rest, *_: rest.shape[-1], step, *state)
    return packed, pivots, info


def _blocks(pivots: Tensor) -> tuple[Tensor, Tensor]:
    """Which rows are the first, and which the second, of a 2x2 block, ``[.., n, 1]``."""
    paired = (pivots < 0).unsqueeze(-1)
    odd = paired.long().cumsum(-2).remainder(2) == 1
    return paired & odd, paired & ~odd


def _divided(packed: Tensor, pivots: Tensor, b: Tensor, hermitian: bool) -> Tensor:
    """``D x = b``: every row with the other one of its block."""
    first, second = _blocks(pivots)
    number = rows(packed)
    partner = number + first.long() - second.long()
    diagonal = packed.diagonal(0, -2, -1).unsqueeze(-1)
    below = packed.gather(-1, torch.minimum(number, partner))  # of a second row; its own of another
    above = _adjoint(below.gather(-2, partner).mT, hermitian)
    own = torch.where(second, below, torch.where(first, above, 1))
    own_ratio = diagonal / own
    ratio, others = own_ratio.gather(-2, partner), (b / own).gather(-2, partner.expand(b.shape))
    return torch.where(
        first | second, (ratio * (b / own) - others) / (own_ratio * ratio - 1), b / diagonal
    )


@decomposes(aten.linalg_ldl_solve.default)
def ldl_solve(packed: Tensor, pivots: Tensor, b: Tensor, *, hermitian: bool = False) -> Tensor:
    """``(L D L^T) x = b`` for packed factors and their pivots."""
    hermitian = hermitian and packed.is_complex()
    b, packed = same_batch(b, packed)
    pivots = pivots.expand(packed.shape[:-1]).long()

    def exchanged(k: Tensor, x: Tensor, pivots: Tensor) -> Tensor:
        """What changes places at the first row of a block, or at one of its own."""
        first, second = (row(kind, k) for kind in _blocks(pivots))
        mine = k + first.long()
        other = row(pivots.unsqueeze(-1), k).abs() - 1
        source = swapped(rows(x), mine, torch.where(second, mine, other))
        return x.gather(-2, source.expand(x.shape))

    def factors(k: Tensor, packed: Tensor, pivots: Tensor) -> Tensor:
        """A column of ``L`` without its one."""
        last = k + row(_blocks(pivots)[0], k).long()
        return torch.where(rows(packed) > last, column(packed, k), 0)

    def forward(k: Tensor, x: Tensor, packed: Tensor, pivots: Tensor) -> list[Tensor]:
        x = exchanged(k, x, pivots)
        return [x - factors(k, packed, pivots) * row(x, k), packed, pivots]

    def backward(k: Tensor, x: Tensor, packed: Tensor, pivots: Tensor) -> list[Tensor]:
        k = packed.shape[-1] - 1 - k
        solved = row(x, k) - _adjoint(factors(k, packed, pivots), hermitian) @ x
        x = torch.where(rows(x) == k, solved, x)
        return [exchanged(k, x, pivots), packed, pivots]

    def size(x: Tensor, packed: Tensor, pivots: Tensor) -> int:
        return pivots.shape[-1]

    x, *_ = repeat(size, forward, b, packed, pivots)
    x = _divided(packed, pivots, x, hermitian)
    return repeat(size, backward, x, packed, pivots)[0]
