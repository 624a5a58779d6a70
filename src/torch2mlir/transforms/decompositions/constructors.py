"""Tensors made from nothing but sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch._decomp import decomposition_table
from torch.types import Number

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten


@decomposes(aten.arange.default)
def _arange(end: Number, **options: Any) -> Tensor:
    return aten.arange.start_step(0, end, 1, **options)


@decomposes(aten.arange.start)
def _arange_start(start: Number, end: Number, **options: Any) -> Tensor:
    return aten.arange.start_step(start, end, 1, **options)


_IN_STEPS = decomposition_table[aten.linspace.default]


@decomposes(aten.linspace.default)
def _linspace(start: Number, end: Number, steps: int, **options: Any) -> Tensor:
    """PyTorch's formula, which is another one for a single step: a question that is remembered if it is asked here."""
    return _IN_STEPS(start, end, 1 if steps == 1 else steps, **options)


@decomposes(aten.fill.Scalar)
def _fill(a: Tensor, value: Number) -> Tensor:
    return aten.full(a.shape, value, dtype=a.dtype, device=a.device)


@decomposes(aten.full_like.default)
def _full_like(
    a: Tensor, value: Number, *, dtype: torch.dtype | None = None, **_: object
) -> Tensor:
    return aten.full(a.shape, value, dtype=dtype or a.dtype, device=a.device)


@decomposes(aten.zeros_like.default, aten.empty_like.default)
def _zeros_like(a: Tensor, *, dtype: torch.dtype | None = None, **_: object) -> Tensor:
    return aten.full(a.shape, 0, dtype=dtype or a.dtype, device=a.device)


@decomposes(aten.ones_like.default)
def _ones_like(a: Tensor, *, dtype: torch.dtype | None = None, **_: object) -> Tensor:
    return aten.full(a.shape, 1, dtype=dtype or a.dtype, device=a.device)


@decomposes(aten.new_full.default)
def _new_full(
    a: Tensor, size: Sequence[int], value: Number, *, dtype: torch.dtype | None = None, **_: object
) -> Tensor:
    return aten.full(size, value, dtype=dtype or a.dtype, device=a.device)


@decomposes(aten.new_zeros.default, aten.new_empty.default)
def _new_zeros(
    a: Tensor, size: Sequence[int], *, dtype: torch.dtype | None = None, **_: object
) -> Tensor:
    return aten.full(size, 0, dtype=dtype or a.dtype, device=a.device)


@decomposes(aten.new_ones.default)
def _new_ones(
    a: Tensor, size: Sequence[int], *, dtype: torch.dtype | None = None, **_: object
) -> Tensor:
    return aten.full(size, 1, dtype=dtype or a.dtype, device=a.device)


@decomposes(aten.zeros.default, aten.empty.memory_format)
def _zeros(size: Sequence[int], *, dtype: torch.dtype | None = None, **_: object) -> Tensor:
    """An uninitialised tensor may hold anything: zeros are what every engine agrees on."""
    return aten.full(size, 0, dtype=dtype or torch.get_default_dtype(), device="cpu")


@decomposes(aten.empty_permuted.default, aten.empty_strided.default)
def _empty_with_layout(
    size: Sequence[int], _layout: Sequence[int], *, dtype: torch.dtype | None = None, **_: object
) -> Tensor:
    """Values have no strides."""
    return _zeros(size, dtype=dtype)


@decomposes(aten.new_empty_strided.default)
def _new_empty_strided(
    a: Tensor,
    size: Sequence[int],
    _stride: Sequence[int],
    *,
    dtype: torch.dtype | None = None,
    **_: object,
) -> Tensor:
    return _zeros(size, dtype=dtype or a.dtype)


@decomposes(aten.ones.default)
def _ones(size: Sequence[int], *, dtype: torch.dtype | None = None, **_: object) -> Tensor:
    return aten.full(size, 1, dtype=dtype or torch.get_default_dtype(), device="cpu")


@decomposes(torch.ops.prims.scalar_tensor.default)
def _scalar_tensor(value: Any, *, dtype: torch.dtype | None = None, **_: object) -> Any:
    return aten.scalar_tensor(value, dtype=dtype)


# positions of triangles, in integers: PyTorch's formula takes square roots in 64-bit floats


def _indices(firsts: list[int], lengths: list[int], dtype: torch.dtype) -> Tensor:
    """Rows of which each holds neighbouring columns from a first one on."""
    total = sum(lengths)
    if total == 0:
        return torch.zeros([2, 0], dtype=dtype)
    ends = torch.cumsum(torch.tensor(lengths), 0)
    places = torch.arange(total)
    rows = torch.searchsorted(ends, places, right=True)
    starts = ends - torch.tensor(lengths) - torch.tensor(firsts)
    return torch.stack([rows, places - starts[rows]]).to(dtype)


@decomposes(aten.tril_indices.default)
def _tril_indices(
    rows: int, columns: int, offset: int = 0, *, dtype: torch.dtype | None = None, **_: object
) -> Tensor:
    """Rows and columns of the elements not above a diagonal."""
    lengths = [min(max(row + offset + 1, 0), columns) for row in range(rows)]
    return _indices([0] * rows, lengths, dtype or torch.int64)


@decomposes(aten.triu_indices.default)
def _triu_indices(
    rows: int, columns: int, offset: int = 0, *, dtype: torch.dtype | None = None, **_: object
) -> Tensor:
    """Rows and columns of the elements not below a diagonal."""
    firsts = [min(max(row + offset, 0), columns) for row in range(rows)]
    return _indices(firsts, [columns - first for first in firsts], dtype or torch.int64)


@decomposes(aten.logspace.default)
def _logspace(
    start: Number,
    end: Number,
    steps: int,
    base: float = 10.0,
    *,
    dtype: torch.dtype | None = None,
    **options: Any,
) -> Tensor:
    """Powers of a base with evenly spaced exponents: known numbers are computed here, in 64-bit floats."""
    if not all(isinstance(number, int | float) for number in (start, end, steps)):
        whole = decomposition_table[aten.logspace.default]
        return whole(start, end, steps, base, dtype=dtype, **options)
    wanted = dtype or torch.get_default_dtype()
    exact = wanted.is_floating_point or wanted.is_complex
    if not exact:  # the ends are elements too
        start, end = int(start), int(end)
    step = (end - start) / max(steps - 1, 1)
    half = steps // 2
    exponents = [
        start + step * i if i < half else end - step * (steps - 1 - i) for i in range(steps)
    ]
    powers = [start] if steps == 1 else exponents
    elements = [_power(base, exponent) for exponent in powers]
    return torch.tensor(elements if exact else list(map(int, elements)), dtype=wanted)


def _power(base: float, exponent: float) -> float:
    """The real power, NaN where there is none."""
    try:
        return math.pow(base, exponent)
    except ValueError:
        return math.nan
    except OverflowError:
        return math.inf
