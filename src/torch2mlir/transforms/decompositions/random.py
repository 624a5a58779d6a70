"""Random numbers as pure functions of a seed: words of a counter-based generator, and the distributions made of them.

Every op here becomes ``torch2mlir.random_words``, which draws 32 random bits twice per element. The pass
``torch-seed-random-ops`` gives each of these a number and the program's seed: what is left is ``threefry2x32`` of
the seed, the op's number and the element's index, integer arithmetic that is the same on every dialect and engine.
PyTorch's own generator (Mersenne Twister on CPU) is sequential, so the numbers differ from eager mode's; the
distributions are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.types import Number

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten

_LIBRARY = torch.library.Library("torch2mlir", "FRAGMENT")
_LIBRARY.define("random_words(SymInt[] size) -> (Tensor, Tensor)")
_LIBRARY.define("threefry2x32(Tensor seed, Tensor number, SymInt[] size) -> (Tensor, Tensor)")


@torch.library.register_fake("torch2mlir::random_words", lib=_LIBRARY)
def _fake_words(size: Sequence[int]) -> tuple[Tensor, Tensor]:
    return (
        torch.empty(size, dtype=torch.int32, device="cpu"),
        torch.empty(size, dtype=torch.int32, device="cpu"),
    )


@torch.library.register_fake("torch2mlir::threefry2x32", lib=_LIBRARY)
def _fake_threefry(seed: Tensor, number: Tensor, size: Sequence[int]) -> tuple[Tensor, Tensor]:
    return _fake_words(size)


RANDOM_WORDS = "torch.torch2mlir.random_words"
"""``(size) -> (words, words)``: two tensors of independent random bits as int32, new ones at each op."""
SEEDED_WORDS = "torch.torch2mlir.threefry2x32"
"""``(seed, number, size) -> (words, words)``: the same as a function of an int64 seed and the op's int32 number."""

# the generator

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA


def _rotated(x: Tensor, count: int) -> Tensor:
    """32 bits turned to the left; a right shift is arithmetic, so the sign's copies are masked out."""
    low = (x >> (32 - count)) & ((1 << count) - 1)
    return (x << count) | low


def threefry2x32(
    key: tuple[Tensor, Tensor], counter: tuple[Tensor, Tensor]
) -> tuple[Tensor, Tensor]:
    """Threefry-2x32 with 20 rounds, on int32 tensors whose additions wrap.

    Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011; the constants are
    those of Random123.
    """
    keys = (*key, key[0] ^ key[1] ^ _PARITY)
    x, y = counter[0] + keys[0], counter[1] + keys[1]
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            x = x + y
            y = _rotated(y, rotation) ^ x
        x = x + keys[(group + 1) % 3]
        y = y + (keys[(group + 2) % 3] + (group + 1))
    return x, y


@decomposes(torch.ops.torch2mlir.threefry2x32.default)
def _seeded_words(seed: Tensor, number: Tensor, size: Sequence[int]) -> tuple[Tensor, Tensor]:
    """The key is the seed's two halves, the counter an element's index and the op's number.

    The halves are shifted into place with their sign, because a conversion that overflows is undefined in TOSA.
    """
    low, high = (seed << 32) >> 32, seed >> 32
    key = low.to(torch.int32), high.to(torch.int32)
    count = 1
    for length in size:
        count = count * length
    index = torch.arange(count, dtype=torch.int32, device="cpu")
    first, second = threefry2x32(key, (index, number))
    return first.view(size), second.view(size)


def _words(size: Sequence[int]) -> tuple[Tensor, Tensor]:
    drawn: tuple[Tensor, Tensor] = torch.ops.torch2mlir.random_words(list(size))
    return drawn


# uniform numbers

_DIGITS = {torch.float32: 24, torch.float16: 11, torch.bfloat16: 8}
"""Bits of the significand, the leading one included: as many as PyTorch draws."""


def _fraction(words: Tensor, dtype: torch.dtype) -> Tensor:
    """The leading bits of 32 random ones as a multiple of ``2**-digits`` in [0, 1)."""
    digits = _DIGITS[dtype]
    bits = (words >> (32 - digits)) & ((1 << digits) - 1)
    return bits.to(dtype) * 2.0**-digits


def _long_fraction(first: Tensor, second: Tensor) -> Tensor:
    """53 bits of two words as a float64 in [0, 1)."""
    high, low = (first >> 5) & ((1 << 27) - 1), (second >> 6) & ((1 << 26) - 1)
    return (high.to(torch.float64) * 2.0**26 + low.to(torch.float64)) * 2.0**-53


def _uniform(size: Sequence[int], dtype: torch.dtype) -> Tensor:
    """Uniform in [0, 1)."""
    first, second = _words(size)
    if dtype is torch.float64:
        return _long_fraction(first, second)
    return _fraction(first, dtype)


def _wide(dtype: torch.dtype) -> torch.dtype:
    """The dtype that is computed in: tails need more digits than half precision has."""
    return torch.float64 if dtype is torch.float64 else torch.float32


def _log_uniform(size: Sequence[int], dtype: torch.dtype) -> Tensor:
    """Logarithm of a uniform number in (0, 1], at most ``-eps/2``: as in PyTorch it is never zero."""
    logarithm = torch.log(1 - _uniform(size, dtype))
    return logarithm.clamp(max=-torch.finfo(dtype).eps / 2)


def _normal(size: Sequence[int], dtype: torch.dtype) -> Tensor:
    """Standard normal numbers by Box and Muller, "A note on the generation of random normal deviates", 1958."""
    first, second = _words(size)
    if dtype is torch.float64:
        third, fourth = _words(size)
        radius, angle = _long_fraction(first, second), _long_fraction(third, fourth)
    else:
        radius, angle = _fraction(first, torch.float32), _fraction(second, torch.float32)
    drawn = torch.sqrt(-2 * torch.log(1 - radius)) * torch.cos(2 * torch.pi * angle)
    return drawn.to(dtype)


def _exponential(size: Sequence[int], dtype: torch.dtype) -> Tensor:
    """Of rate 1, never zero."""
    return -_log_uniform(size, dtype)


def _complex_normal(size: Sequence[int], dtype: torch.dtype) -> Tensor:
    """Real and imaginary part of variance 1/2 each, as in PyTorch."""
    part = torch.float64 if dtype is torch.complex128 else torch.float32
    return torch.complex(_normal(size, part) * 0.5**0.5, _normal(size, part) * 0.5**0.5)


def _any_uniform(size: Sequence[int], dtype: torch.dtype) -> Tensor:
    if dtype.is_complex:
        part = torch.float64 if dtype is torch.complex128 else torch.float32
        return torch.complex(_uniform(size, part), _uniform(size, part))
    return _uniform(size, dtype)


def _any_normal(size: Sequence[int], dtype: torch.dtype) -> Tensor:
    return _complex_normal(size, dtype) if dtype.is_complex else _normal(size, dtype)


@decomposes(aten.rand.default, aten.rand.generator)
def _rand(size: Sequence[int], *, dtype: torch.dtype | None = None, **_: object) -> Tensor:
    return _any_uniform(size, dtype or torch.get_default_dtype())


@decomposes(aten.rand_like.default, aten.rand_like.generator)
def _rand_like(a: Tensor, *, dtype: torch.dtype | None = None, **_: object) -> Tensor:
    return _any_uniform(a.shape, dtype or a.dtype)


@decomposes(aten.uniform.default)
def _uniform_between(a: Tensor, low: float = 0.0, high: float = 1.0, **_: object) -> Tensor:
    return low + (high - low) * _any_uniform(a.shape, a.dtype)


@decomposes(aten.randn.default, aten.randn.generator)
def _randn(size: Sequence[int], *, dtype: torch.dtype | None = None, **_: object) -> Tensor:
    return _any_normal(size, dtype or torch.get_default_dtype())


@decomposes(aten.randn_like.default, aten.randn_like.generator)
def _randn_like(a: Tensor, *, dtype: torch.dtype | None = None, **_: object) -> Tensor:
    return _any_normal(a.shape, dtype or a.dtype)


# other distributions of real numbers


@decomposes(aten.normal_functional.default)
def _normal_functional(a: Tensor, mean: float = 0.0, std: float = 1.0, **_: object) -> Tensor:
    return _any_normal(a.shape, a.dtype) * std + mean


@decomposes(aten.normal.float_float)
def _normal_numbers(
    mean: float, std: float, size: Sequence[int], *, dtype: torch.dtype | None = None, **_: object
) -> Tensor:
    return _any_normal(size, dtype or torch.get_default_dtype()) * std + mean


@decomposes(aten.normal.Tensor_float)
def _normal_mean(mean: Tensor, std: float = 1.0, **_: object) -> Tensor:
    return _any_normal(mean.shape, mean.dtype) * std + mean


@decomposes(aten.normal.float_Tensor)
def _normal_deviation(mean: float, std: Tensor, **_: object) -> Tensor:
    return _any_normal(std.shape, std.dtype) * std + mean


@decomposes(aten.normal.Tensor_Tensor, gives_dtype=True)
def _normal_both(mean: Tensor, std: Tensor, **_: object) -> Tensor:
    mean, std = torch.broadcast_tensors(mean, std)
    return (_any_normal(mean.shape, mean.dtype) * std + mean).to(mean.dtype)


@decomposes(torch.ops.prims.normal.default)
def _prims_normal(
    size: Sequence[int], *, mean: Number, std: Number, dtype: torch.dtype, **_: object
) -> Tensor:
    return _any_normal(size, dtype) * std + mean


@decomposes(torch.ops.prims.uniform.default)
def _prims_uniform(
    size: Sequence[int], *, low: Number, high: Number, dtype: torch.dtype, **_: object
) -> Tensor:
    return low + (high - low) * _any_uniform(size, dtype)


@decomposes(aten.exponential.default)
def _exponential_of_rate(a: Tensor, rate: float = 1.0, **_: object) -> Tensor:
    return (_exponential(a.shape, _wide(a.dtype)) / rate).to(a.dtype)


@decomposes(aten.cauchy.default)
def _cauchy(a: Tensor, median: float = 0.0, sigma: float = 1.0, **_: object) -> Tensor:
    """The quantile function of a uniform number."""
    angle = torch.pi * (_uniform(a.shape, _wide(a.dtype)) - 0.5)
    return (median + sigma * torch.tan(angle)).to(a.dtype)


@decomposes(aten.log_normal.default)
def _log_normal(a: Tensor, mean: float = 1.0, std: float = 2.0, **_: object) -> Tensor:
    return torch.exp(_normal(a.shape, _wide(a.dtype)) * std + mean).to(a.dtype)


@decomposes(aten.geometric.default)
def _geometric(a: Tensor, p: float, **_: object) -> Tensor:
    """Trials up to and with the first success: an exponential number rounded up.

    Source: Devroye, "Non-uniform random variate generation", 1986, X.2.
    """
    working = _wide(a.dtype) if a.dtype.is_floating_point else torch.float32
    failure = torch.log1p(torch.full((), -p, dtype=working))
    return torch.ceil(_log_uniform(a.shape, working) / failure).to(a.dtype)


# integers


def _integers(size: Sequence[int], low: int, high: int) -> Tensor:
    """Integers in [low, high) as int64.

    A range of less than 31 bits is scaled by the high half of a product (Lemire, "Fast random integer generation in
    an interval", 2019), a larger one is a remainder of 63 bits.
    """
    count = high - low
    first, second = _words(size)
    unsigned = first.to(torch.int64) & 0xFFFFFFFF
    if isinstance(count, int) and count < 1 << 31:
        return ((unsigned * count) >> 32) + low
    long = ((second.to(torch.int64) & 0x7FFFFFFF) << 32) | unsigned
    return torch.remainder(long, count) + low


@decomposes(aten.randint.default, aten.randint.generator)
def _randint(
    high: int, size: Sequence[int], *, dtype: torch.dtype | None = torch.int64, **_: object
) -> Tensor:
    return _integers(size, 0, high).to(dtype or torch.int64)


@decomposes(aten.randint.low, aten.randint.low_generator)
def _randint_low(
    low: int,
    high: int,
    size: Sequence[int],
    *,
    dtype: torch.dtype | None = torch.int64,
    **_: object,
) -> Tensor:
    return _integers(size, low, high).to(dtype or torch.int64)


@decomposes(
    aten.randint_like.default,
    aten.randint_like.generator,
    aten.randint_like.Tensor,
    aten.randint_like.Tensor_generator,
)
def _randint_like(a: Tensor, high: int, *, dtype: torch.dtype | None = None, **_: object) -> Tensor:
    return _integers(a.shape, 0, high).to(dtype or a.dtype)


@decomposes(aten.randint_like.low_dtype, aten.randint_like.low_generator_dtype)
def _randint_like_low(
    a: Tensor, low: int, high: int, *, dtype: torch.dtype | None = None, **_: object
) -> Tensor:
    return _integers(a.shape, low, high).to(dtype or a.dtype)


@decomposes(aten.random.to)
def _random_to(a: Tensor, high: int, **_: object) -> Tensor:
    return _integers(a.shape, 0, high).to(a.dtype)


_WHOLE = {torch.float64: 1 << 53, torch.float32: 1 << 24, torch.float16: 1 << 11}
_WHOLE |= {torch.bfloat16: 1 << 8, torch.bool: 1}


def _largest(dtype: torch.dtype) -> int:
    """The largest integer that ``random_`` draws: up to it a dtype has every integer."""
    return _WHOLE[dtype] if dtype in _WHOLE else torch.iinfo(dtype).max


@decomposes(aten.random.default)
def _random(a: Tensor, **_: object) -> Tensor:
    return _integers(a.shape, 0, _largest(a.dtype) + 1).to(a.dtype)


@decomposes(getattr(aten.random, "from"))
def _random_from(a: Tensor, low: int, high: int | None, **_: object) -> Tensor:
    high = _largest(a.dtype) + 1 if high is None else high
    return _integers(a.shape, low, high).to(a.dtype)


@decomposes(aten.randperm.default, aten.randperm.generator)
def _randperm(n: int, *, dtype: torch.dtype | None = torch.int64, **_: object) -> Tensor:
    """The order of random words."""
    first, _second = _words([n])
    return torch.argsort(first, stable=True).to(dtype or torch.int64)


# choices


def _bernoulli(size: Sequence[int], p: Any, dtype: torch.dtype) -> Tensor:
    working = p.dtype if isinstance(p, Tensor) and p.dtype.is_floating_point else _wide(dtype)
    working = torch.float32 if working in (torch.float16, torch.bfloat16) else working
    return (_uniform(size, working) < p).to(dtype)


@decomposes(aten.bernoulli.default)
def _bernoulli_of(a: Tensor, **_: object) -> Tensor:
    return _bernoulli(a.shape, a, a.dtype)


@decomposes(aten.bernoulli.p)
def _bernoulli_like(a: Tensor, p: float = 0.5, **_: object) -> Tensor:
    return _bernoulli(a.shape, p, a.dtype)


@decomposes(aten.bernoulli.Tensor)
def _bernoulli_of_tensor(a: Tensor, p: Tensor, **_: object) -> Tensor:
    return _bernoulli(a.shape, p, a.dtype)


@decomposes(aten.multinomial.default)
def _multinomial(weights: Tensor, count: int, replacement: bool = False, **_: object) -> Tensor:
    """Indices by their weights.

    With replacement, the index at which the cumulative weight exceeds a uniform share of the total. Without, the
    largest quotients of weight and exponential number (Efraimidis, Spirakis, "Weighted random sampling with a
    reservoir", 2006).
    """
    weights = weights.to(_wide(weights.dtype))
    if not replacement:
        quotient = weights / _exponential(weights.shape, weights.dtype)
        if count == 1:
            return quotient.argmax(-1, keepdim=True)
        return torch.topk(quotient, count, -1).indices
    cumulative = torch.cumsum(weights, -1)
    drawn = _uniform([*weights.shape[:-1], count], weights.dtype) * cumulative[..., -1:]
    passed = cumulative.unsqueeze(-2) <= drawn.unsqueeze(-1)
    return passed.sum(-1).clamp(max=weights.shape[-1] - 1)
