"""Sizes that come by way of a float are what Python makes of them, or nothing is said."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from torch2mlir.dialects.torch import dims, quotients
from torch2mlir.dialects.torch.dims import KnownSize, substitute, symbol
from torch2mlir.dialects.torch.quotients import Quotient

SIZES = [*range(300), 999, 1000, 4095, 10_000, 2**20 - 1, 2**20, 30_000_000, 2**31 - 1, 2**32]
ROUNDINGS: list[tuple[Callable[[Quotient], KnownSize | None], Callable[[float], int]]] = [
    (Quotient.floor, math.floor),
    (Quotient.ceil, math.ceil),
    (Quotient.trunc, int),
    (Quotient.round, round),
]
NUMBERS = [
    0.5,
    1.5,
    -0.5,
    0.6,
    1.3,
    1 / 3,
    16 / 7,
    0.7,
    1.4,
    0.35,
    0.1,
    3.0,
    0.0625,
    2.2,
    0.99,
    7 / 900,
]


def _assert_is(size: KnownSize | None, compute: Callable[[int], int]) -> None:
    if size is not None:
        for value in SIZES:
            assert substitute(size, {"n": value}) == compute(value), value


@pytest.mark.parametrize("number", NUMBERS)
def test_a_size_times_a_number(number: float) -> None:
    product = quotients.product([quotients.constant(number), Quotient(symbol("n"))])
    assert product is not None
    for ours, pythons in ROUNDINGS:
        _assert_is(ours(product), lambda n, round=pythons: round(number * n))


@pytest.mark.parametrize("number", [0.5, 1.5, 0.25, 0.6, 1.3, 0.1, 1 / 3])
def test_usual_factors_are_known(number: float) -> None:
    product = quotients.product([quotients.constant(number), Quotient(symbol("n"))])
    assert product is not None
    assert product.floor() is not None


def test_a_factor_that_f64_rounds_below_whole_numbers_is_not() -> None:
    product = quotients.product([quotients.constant(0.7), Quotient(symbol("n"))])
    assert product is not None
    assert math.floor(0.7 * 90) == 62  # and 63 is seven tenths
    assert product.floor() is None


@pytest.mark.parametrize("divisor", [1, 2, 3, 7, 32, 49, 1000])
def test_a_quotient_of_sizes(divisor: int) -> None:
    quotient = quotients.divided(dims.add(symbol("n"), 5), divisor)
    assert quotient is not None
    for ours, pythons in ROUNDINGS:
        _assert_is(ours(quotient), lambda n, round=pythons: round((n + 5) / divisor))
    assert quotient.floor() is not None
    assert quotient.ceil() is not None
    assert quotient.round() is not None


def test_differences_are_rounded_toward_zero() -> None:
    quotient = quotients.divided(dims.add(symbol("n"), -7), 2)
    assert quotient is not None
    assert quotient.trunc() is not None
    _assert_is(quotient.trunc(), lambda n: int((n - 7) / 2))


def test_sums_of_exact_numbers() -> None:
    half = quotients.product([quotients.constant(0.5), Quotient(symbol("n"))])
    total = quotients.total([half, quotients.constant(1.25)])
    assert total is not None
    assert total.floor() is not None
    _assert_is(total.floor(), lambda n: math.floor(0.5 * n + 1.25))


def test_nothing_is_said_of_what_is_rounded_twice() -> None:
    third = quotients.divided(symbol("n"), 49)
    assert quotients.product([third, Quotient(49)]) is None
    assert quotients.total([third, Quotient(1)]) is None
    assert quotients.product([quotients.constant(0.6), Quotient(symbol("n")), Quotient(3)]) is None
    assert quotients.constant(math.pi) is None
    assert quotients.divided(4, symbol("n")) is None  # which may be 0
