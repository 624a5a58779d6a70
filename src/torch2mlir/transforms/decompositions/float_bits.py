"""Functions of the bits of floats, and of whole numbers: ``frexp``, ``nextafter``, ``gcd``."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten
prims = torch.ops.prims


class _Format(NamedTuple):
    """A float format of IEEE 754: the integer of its width, bits of the fraction and of the exponent."""

    integer: torch.dtype
    fraction: int
    exponent: int

    @property
    def bias(self) -> int:
        return (1 << (self.exponent - 1)) - 1

    @property
    def exponent_mask(self) -> int:
        return ((1 << self.exponent) - 1) << self.fraction

    @property
    def fraction_mask(self) -> int:
        return (1 << self.fraction) - 1

    @property
    def unit(self) -> int:
        """The least positive number is two to the minus this."""
        return self.bias - 1 + self.fraction


_FORMATS = {
    torch.float16: _Format(torch.int16, 10, 5),
    torch.bfloat16: _Format(torch.int16, 7, 8),
    torch.float32: _Format(torch.int32, 23, 8),
    torch.float64: _Format(torch.int64, 52, 11),
}


_INTEGERS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
"""Bytes -> the integer of that width."""


@decomposes(aten.view.dtype)
def _view_dtype(x: Tensor, dtype: torch.dtype) -> Tensor:
    """The bits of the last dimension in elements of another width, the low ones first."""
    if x.dtype.itemsize == dtype.itemsize and x.is_complex() == dtype.is_complex:
        return NotImplemented
    if x.is_complex():
        parts = torch.stack([prims.real(x), prims.imag(x)], -1)
        return _bits_as(parts.flatten(-2), dtype)
    if dtype.is_complex:
        parts = _bits_as(x, dtype.to_real())
        parts = parts.reshape([*parts.shape[:-1], parts.shape[-1] // 2, 2])
        return aten.complex(parts.select(-1, 0), parts.select(-1, 1))
    if x.dtype.itemsize > dtype.itemsize:
        return _cut(x, dtype)
    return _joined(x, dtype)


def _bits_as(x: Tensor, dtype: torch.dtype) -> Tensor:
    return x if x.dtype == dtype else aten.view.dtype(x, dtype)


def _cut(x: Tensor, dtype: torch.dtype) -> Tensor:
    """Each element as several narrower ones."""
    wide, narrow = _INTEGERS[x.dtype.itemsize], _INTEGERS[dtype.itemsize]
    bits = _bits_as(x, wide)
    width = 8 * dtype.itemsize
    count = x.dtype.itemsize // dtype.itemsize
    parts = [
        prims.convert_element_type(
            aten.bitwise_right_shift.Tensor_Scalar(bits, width * place) if place else bits, narrow
        )
        for place in range(count)
    ]
    return _bits_as(torch.stack(parts, -1).flatten(-2), dtype)


def _joined(x: Tensor, dtype: torch.dtype) -> Tensor:
    """Each several elements as a wider one."""
    wide, narrow = _INTEGERS[dtype.itemsize], _INTEGERS[x.dtype.itemsize]
    width = 8 * x.dtype.itemsize
    count = dtype.itemsize // x.dtype.itemsize
    bits = prims.convert_element_type(_bits_as(x, narrow), wide) & ((1 << width) - 1)
    parts = bits.reshape([*x.shape[:-1], x.shape[-1] // count, count])
    result = parts.select(-1, 0)
    for place in range(1, count):
        moved = aten.bitwise_left_shift.Tensor_Scalar(parts.select(-1, place), width * place)
        result = result | moved
    return _bits_as(result, dtype)


@decomposes(prims.frexp.default, aten.frexp.Tensor)
def _frexp(x: Tensor) -> tuple[Tensor, Tensor]:
    """A fraction in ``[1/2, 1)`` and the power of two to multiply it by.

    By the bits alone, for engines compute with subnormal numbers as with zeros: the fraction of one is a whole number,
    and that is a normal float.
    """
    form = _FORMATS[x.dtype]
    bits = aten.view.dtype(x, form.integer)
    magnitude = bits & (form.exponent_mask | form.fraction_mask)
    subnormal = magnitude <= form.fraction_mask
    whole = prims.convert_element_type(torch.where(subnormal, magnitude, 0), x.dtype)
    normal = torch.where(subnormal, aten.view.dtype(whole, form.integer), magnitude)
    power = aten.bitwise_right_shift.Tensor_Scalar(normal, form.fraction).to(torch.int32)
    power = power - (form.bias - 1)
    power = torch.where(subnormal, power - form.unit, power)
    half = (form.bias - 1) << form.fraction
    sign = bits & torch.iinfo(form.integer).min
    fraction = aten.view.dtype(sign | normal & form.fraction_mask | half, x.dtype)
    stays = (magnitude == 0) | (magnitude >= form.exponent_mask)
    return torch.where(stays, x, fraction), torch.where(stays, 0, power)


@decomposes(aten.ldexp.Tensor, gives_dtype=True)
def _ldexp(x: Tensor, power: Tensor) -> Tensor:
    """``x * 2 ** power``; of floats and whole powers by factors that are floats, which ``2 ** 140`` is not in f32."""
    is_whole = not (x.dtype.is_floating_point or x.is_complex())
    if is_whole or power.dtype.is_floating_point or power.dtype.is_complex:
        return x * torch.pow(2.0, power)
    if x.is_complex():
        return torch.complex(_ldexp(x.real, power), _ldexp(x.imag, power))
    dtype = x.dtype
    wide = dtype if dtype is torch.float64 else torch.float32
    bits, steps = (9 if wide is torch.float64 else 6), 5
    largest = (steps + 1 << bits) - 1  # more than leads from the least number to the largest
    power = power.to(torch.int32).clamp(-largest, largest)
    size, shrinks = power.abs(), power < 0

    def factor(exponent: int) -> Tensor:
        return torch.where(shrinks, torch.full((), 2.0**-exponent, dtype=wide), 2.0**exponent)

    scaled = x.to(wide)
    for step in range(1, steps + 1):
        scaled = scaled * torch.where(size >= step << bits, factor(1 << bits), 1.0)
    for place in range(bits):
        scaled = scaled * torch.where((size & (1 << place)) != 0, factor(1 << place), 1.0)
    return scaled.to(dtype)


@decomposes(prims.nextafter.default, aten.nextafter.default)
def _nextafter(x: Tensor, to: Tensor) -> Tensor:
    """The neighbour of ``x`` towards another number: integers in the order of the floats are one more or less.

    By the bits alone, as ``frexp``.
    """
    form = _FORMATS[x.dtype]
    lowest = torch.iinfo(form.integer).min

    def turned(bits: Tensor) -> Tensor:  # negative numbers the other way round; its own inverse
        return torch.where(bits < 0, lowest - bits, bits)

    here, there = (turned(aten.view.dtype(each, form.integer)) for each in (x, to))
    moved = turned(torch.where(there > here, here + 1, here - 1))
    moved = torch.where(here == -1, torch.where(there > here, lowest, moved), moved)  # to -0.0
    result = torch.where(here == there, to, aten.view.dtype(moved, x.dtype))
    return torch.where(torch.isnan(x) | torch.isnan(to), x + to, result)


@decomposes(prims.gcd.default, aten.gcd.default)
def _gcd(a: Tensor, b: Tensor) -> Tensor:
    """Euclid's algorithm with as many steps as the largest numbers of the type need: neighbours of Fibonacci's.

    Straight code and no loop: the number of steps is known, and IREE refuses some loops.
    """
    dtype = torch.result_type(a, b)
    a, b = torch.abs(a.to(dtype)), torch.abs(b.to(dtype))
    for _ in range(int(1.4405 * torch.iinfo(dtype).bits) + 2):
        done = b == 0
        rest = torch.fmod(a, torch.where(done, 1, b))
        a, b = torch.where(done, a, b), torch.where(done, b, rest)
    return a
