"""Fourier transforms as products with real matrices, split by Cooley and Tukey where a length is large.

A transform works on the real and the imaginary parts, along the last dimension. Lengths are sizes like others: a
symbolic one gets its matrix computed when the program runs, for a known one it is a constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten
prims = torch.ops.prims

Parts = tuple[Any, Any]
LARGEST_DIRECT = 128
"""Up to here one product with a matrix is the whole transform."""
_REALS = {torch.complex64: torch.float32, torch.complex128: torch.float64}


# what the core of the registry asks for


@decomposes(prims.fft_c2c.default)
def _fft_c2c(a: Tensor, *, dim: Sequence[int], forward: bool) -> Tensor:
    parts = (prims.real(a), prims.imag(a))
    for axis in dim:
        parts = _along(parts, axis, lambda parts: _transform(parts, forward))
    return aten.complex(*parts)


@decomposes(prims.fft_r2c.default)
def _fft_r2c(a: Tensor, *, dim: Sequence[int], onesided: bool) -> Tensor:
    """The last of the dimensions first: its result is complex, and half as long if ``onesided``."""
    parts = _along((a, None), dim[-1], lambda parts: _real_transform(parts[0], onesided))
    for axis in dim[:-1]:
        parts = _along(parts, axis, lambda parts: _transform(parts, True))
    return aten.complex(*parts)


@decomposes(prims.fft_c2r.default)
def _fft_c2r(a: Tensor, *, dim: Sequence[int], last_dim_size: int) -> Tensor:
    """Backwards; the last of the dimensions holds one half of a Hermitian signal, and gives a real one."""
    parts = (prims.real(a), prims.imag(a))
    for axis in dim[:-1]:
        parts = _along(parts, axis, lambda parts: _transform(parts, False))
    return _along(parts, dim[-1], lambda parts: (_to_real(parts, last_dim_size), None))[0]


def _along(parts: Any, axis: int, transform: Callable[[Any], Any]) -> Any:
    """A transform of the last dimension as one of another."""
    if axis in (-1, parts[0].dim() - 1):
        return transform(parts)
    moved = transform(tuple(None if p is None else p.transpose(axis, -1) for p in parts))
    return tuple(None if p is None else p.transpose(axis, -1) for p in moved)


# aten's own forms, with their normalization

_NONE, _BY_ROOT, _BY_LENGTH = 0, 1, 2


def _normalized(a: Tensor, normalization: int, count: int) -> Tensor:
    if normalization == _NONE:
        return a
    if isinstance(count, torch.SymInt):
        count = torch.sym_float(count)
    return a * (1 / count if normalization == _BY_LENGTH else count**-0.5)


def _count(a: Tensor, dim: Sequence[int]) -> int:
    count: Any = 1
    for axis in dim:
        count = count * a.shape[axis]
    return count


@decomposes(aten._fft_c2c.default)
def _aten_c2c(a: Tensor, dim: Sequence[int], normalization: int, forward: bool) -> Tensor:
    if not dim:
        return aten.alias(a)
    out = prims.fft_c2c(a, dim=list(dim), forward=forward)
    return _normalized(out, normalization, _count(a, dim))


@decomposes(aten._fft_r2c.default)
def _aten_r2c(a: Tensor, dim: Sequence[int], normalization: int, onesided: bool) -> Tensor:
    out = prims.fft_r2c(a, dim=list(dim), onesided=onesided)
    return _normalized(out, normalization, _count(a, dim))


@decomposes(aten._fft_c2r.default)
def _aten_c2r(a: Tensor, dim: Sequence[int], normalization: int, last_dim_size: int) -> Tensor:
    out = prims.fft_c2r(a, dim=list(dim), last_dim_size=last_dim_size)
    return _normalized(out, normalization, _count(out, dim))


@decomposes(aten.fft_fftfreq.default)
def _frequencies(
    n: int, d: float = 1.0, *, dtype: torch.dtype | None = None, **_: object
) -> Tensor:
    """Cycles per unit of time of a transform's elements, those below zero last."""
    place = torch.arange(n)
    step = torch.where(place < (n + 1) // 2, place, place - n)
    return step.to(dtype or torch.get_default_dtype()) * (1 / (n * d))


@decomposes(aten.fft_rfftfreq.default)
def _frequencies_from_zero(
    n: int, d: float = 1.0, *, dtype: torch.dtype | None = None, **_: object
) -> Tensor:
    """Of a real signal's transform."""
    step = torch.arange(n // 2 + 1)
    return step.to(dtype or torch.get_default_dtype()) * (1 / (n * d))


# transforms of the last dimension


def _transform(parts: Parts, forward: bool) -> Parts:
    """``sum x[j] exp(-2 pi i j k / n)``, not normalized; conjugate factors backwards."""
    n = parts[0].shape[-1]
    if isinstance(n, torch.SymInt) or n <= LARGEST_DIRECT:
        matrix = _factors(_complex_matrix, (n, n, n, _sign(forward)), parts[0].dtype)
        return _halves(torch.cat(parts, -1) @ matrix)
    divisor = next((d for d in range(LARGEST_DIRECT, 1, -1) if n % d == 0), None)
    return _bluestein(parts, forward) if divisor is None else _split(parts, divisor, forward)


def _halves(both: Tensor) -> Parts:
    half = both.shape[-1] // 2
    return both.narrow(-1, 0, half), both.narrow(-1, half, half)


def _real_transform(a: Tensor, onesided: bool) -> Parts:
    n = a.shape[-1]
    kept = n // 2 + 1 if onesided else n
    if isinstance(n, torch.SymInt) or n <= LARGEST_DIRECT:
        return _halves(a @ _factors(_real_matrix, (n, kept, n), a.dtype))
    real, imaginary = _transform((a, torch.zeros_like(a)), True)
    return real.narrow(-1, 0, kept), imaginary.narrow(-1, 0, kept)


def _to_real(parts: Parts, n: int) -> Tensor:
    """What is missing is the conjugate of what is there."""
    real, imaginary = parts
    kept = real.shape[-1]
    if isinstance(n, torch.SymInt) or n <= LARGEST_DIRECT:
        return torch.cat(parts, -1) @ _factors(_hermitian_matrix, (kept, n, n), real.dtype)
    inner = n - kept
    mirrored = [p.narrow(-1, 1, inner).flip(-1) for p in parts]
    whole = (torch.cat([real, mirrored[0]], -1), torch.cat([imaginary, -mirrored[1]], -1))
    return _transform(whole, False)[0]


def _split(parts: Parts, p: int, forward: bool) -> Parts:
    """Cooley and Tukey: ``n = p q`` as transforms of ``p``, a turn of each element, and transforms of ``q``."""
    q = parts[0].shape[-1] // p
    parts = tuple(part.unflatten(-1, (p, q)).transpose(-1, -2) for part in parts)
    turn = _factors(_waves, (q, p, p * q, _sign(forward)), parts[0].dtype)
    real, imaginary = _turned(_transform(parts, forward), *turn)
    parts = _transform((real.transpose(-1, -2), imaginary.transpose(-1, -2)), forward)
    return tuple(part.transpose(-1, -2).flatten(-2) for part in parts)


def _turned(parts: Any, cosines: Any, sines: Any) -> Parts:
    real, imaginary = parts
    return real * cosines - imaginary * sines, real * sines + imaginary * cosines


def _bluestein(parts: Parts, forward: bool) -> Parts:
    """A length with a large prime factor as a convolution with a chirp, whose length is a power of two.

    L. Bluestein, "A linear filtering approach to the computation of discrete Fourier transform" (1970).
    """
    n, dtype = parts[0].shape[-1], parts[0].dtype
    padded = 1 << (2 * n - 2).bit_length()
    squares = np.arange(n, dtype=np.int64) ** 2 % (2 * n)
    chirp = np.exp((-1j if forward else 1j) * np.pi * squares / n)
    kernel = np.zeros(padded, complex)
    kernel[:n] = chirp.conj()
    kernel[padded - n + 1 :] = chirp.conj()[:0:-1]
    spectrum = np.fft.fft(kernel) / padded
    turn, filtered = _parts_of(chirp, dtype), _parts_of(spectrum, dtype)
    long = tuple(aten.constant_pad_nd(part, [0, padded - n]) for part in _turned(parts, *turn))
    convolved = _transform(_turned(_transform(long, True), *filtered), False)
    return _turned([part.narrow(-1, 0, n) for part in convolved], *turn)


# factors


def _sign(forward: bool) -> int:
    return -1 if forward else 1


def _factors(build: Callable[..., Any], arguments: Sequence[Any], dtype: torch.dtype) -> Any:
    """What ``build(*arguments, dtype)`` gives: constants in double precision first, where all sizes are known."""
    if any(isinstance(size, torch.SymInt) for size in arguments):
        return build(*arguments, dtype)
    with unset_fake_temporarily(), disable_proxy_modes_tracing():
        built = build(*arguments, torch.float64)
        return tuple(x.to(dtype) for x in built) if isinstance(built, tuple) else built.to(dtype)


def _waves(rows: int, columns: int, n: int, sign: int, dtype: torch.dtype) -> Parts:
    """Parts of ``exp(sign 2 pi i j k / n)`` for ``j < rows``, ``k < columns``; whole turns are taken off exactly."""
    turns = torch.arange(rows).unsqueeze(1) * torch.arange(columns) % n
    angles = turns.to(dtype) * (sign * 2 * math.pi) / n
    return torch.cos(angles), torch.sin(angles)


def _complex_matrix(rows: int, columns: int, n: int, sign: int, dtype: torch.dtype) -> Tensor:
    """From real and imaginary parts beside each other to the same."""
    cosines, sines = _waves(rows, columns, n, sign, dtype)
    return torch.cat([torch.cat([cosines, sines], 1), torch.cat([-sines, cosines], 1)], 0)


def _real_matrix(rows: int, columns: int, n: int, dtype: torch.dtype) -> Tensor:
    """Forward, from real numbers to real and imaginary parts beside each other."""
    return torch.cat(_waves(rows, columns, n, -1, dtype), 1)


def _hermitian_matrix(rows: int, columns: int, n: int, dtype: torch.dtype) -> Tensor:
    """Backwards, from the parts of half a Hermitian signal to real numbers: inner elements stand for two."""
    cosines, sines = _waves(rows, columns, n, 1, dtype)
    place = torch.arange(rows).unsqueeze(1)
    count = torch.where((place == 0) | (2 * place == n), 1.0, 2.0).to(dtype)
    return torch.cat([cosines * count, -sines * count], 0)


def _parts_of(values: Any, dtype: torch.dtype) -> Parts:
    """Constants of numpy's complex numbers."""
    with unset_fake_temporarily(), disable_proxy_modes_tracing():
        parts = [torch.from_numpy(np.ascontiguousarray(x)) for x in (values.real, values.imag)]
        return parts[0].to(dtype), parts[1].to(dtype)
