"""Example sizes of symbols, for which PyTorch traces ops: such that what is known of a program's sizes holds.

A program may need that one size is not above another (``x[n:]`` of ``n`` rows of another tensor), or that one is even
(``glu``); its ops at other examples are refused, or are other ops.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, permutations

from torch2mlir.program import Decision

LARGE = (2003, 2063, 2129, 2203, 2281, 2371, 2467, 2579, 2687, 2803, 2927, 3061)
"""Distinct primes, so that no test on an example, or on a difference, holds by accident.

They are large, because a size that is made of one by strides is 1 for small ones, and PyTorch then takes it for 1.
"""
MEDIUM = (11, 17, 29, 43, 59, 79, 101, 127, 157, 191, 227, 269)
SMALL = tuple(range(0, 3 * len(LARGE), 3))
"""What is added to the smallest size a symbol may have: such a size is an example too."""
ZEROS, ONES = (0,), (1,)
"""Of sizes that elements decide; the arguments' are as the small ones."""
_ORDERS = 720
"""How many orders of symbols are tried, for one in which everything holds that is known of their sizes."""
_DIVIDES = re.compile("%|//")
_DIVISOR = re.compile(r"(?:%|//) (\d+)")
_MOST = 1 << 12
"""The largest number that sizes are made multiples of."""


def broken(sizes: Mapping[str, int], decisions: Iterable[Decision]) -> int:
    """How much of what is known of the order of sizes does not hold for some."""
    return sum(not each.holds(sizes) for each in decisions if _is_about_order(each))


def _is_about_order(decision: Decision) -> bool:
    """Whether it compares sizes, or says that a slice between them is inside of its tensor."""
    asked = decision.asked
    return len(decision.symbols) > 1 and ("==" not in asked or asked.startswith("len("))


@lru_cache(maxsize=64)
def order_of(names: tuple[str, ...], decisions: tuple[Decision, ...]) -> tuple[str, ...]:
    """The first order of symbols in which everything that is known holds, or the most."""
    best, fewest = names, broken(large(names), decisions)
    for order in islice(permutations(names), _ORDERS if fewest else 0):
        if (left := broken(large(order), decisions)) < fewest:
            best, fewest = order, left
        if not fewest:
            break
    return best


def large(order: Sequence[str]) -> dict[str, int]:
    """A large example for each symbol, if nothing bounds it."""
    return {name: LARGE[place % len(LARGE)] for place, name in enumerate(order)}


def divides(decision: Decision) -> bool:
    """Whether it says what sizes are multiples of."""
    return _DIVIDES.search(decision.asked) is not None


@dataclass(frozen=True)
class Multiple:
    """What a size is a multiple of: a number, and other sizes."""

    number: int = 1
    of: tuple[str, ...] = ()

    def value(self, size_of: Callable[[str], int]) -> int:
        """The number that it comes to."""
        return self.number * math.prod(map(size_of, self.of))


@lru_cache(maxsize=64)
def multiples_of(order: tuple[str, ...], decisions: tuple[Decision, ...]) -> Mapping[str, Multiple]:
    """What sizes are multiples of, by symbol, as few of them as possible: of a product that is even one factor is.

    Args:
        order: of the symbols; the last of several that will do is taken.
        decisions: what is known of their sizes.
    """
    found = dict.fromkeys(order, Multiple())
    base = large(order)

    def fits(decision: Decision, multiples: Mapping[str, Multiple]) -> bool:
        def size_of(name: str) -> int:
            return base[name] * multiples[name].value(size_of)

        return decision.holds({name: size_of(name) for name in base})

    def failing(multiples: Mapping[str, Multiple]) -> list[Decision]:
        return [decision for decision in dividing if not fits(decision, multiples)]

    dividing = [decision for decision in decisions if divides(decision)]
    left = failing(found)
    for decision in left:
        if fits(decision, found):
            continue
        for tried in _candidates(decision, order, found):
            if fits(decision, tried) and len(fewer := failing(tried)) < len(left):
                found, left = tried, fewer
                break
    return found


def _candidates(
    decision: Decision, order: Sequence[str], found: Mapping[str, Multiple]
) -> Iterator[dict[str, Multiple]]:
    """What could be multiples besides, of the numbers and of the sizes that a decision divides by."""
    own = [name for name in reversed(order) if name in decision.symbols]
    numbers = [int(number) for number in _DIVISOR.findall(decision.asked)]
    divisor = math.lcm(*(number for number in numbers if number))
    if 1 < divisor <= _MOST:
        for names in (*([name] for name in own), own):
            more = {
                name: Multiple(math.lcm(found[name].number, divisor), found[name].of)
                for name in names
            }
            if max(each.number for each in more.values()) <= _MOST:
                yield {**found, **more}
    for name, other in permutations(own, 2):
        if name not in _all_of(other, found) and other not in found[name].of:
            yield {**found, name: Multiple(found[name].number, (*found[name].of, other))}


def _all_of(name: str, multiples: Mapping[str, Multiple]) -> set[str]:
    """A symbol and all that it is a multiple of, and these are."""
    return {name}.union(*(_all_of(other, multiples) for other in multiples[name].of))


def suitable(name: str, example: int, low: int, decisions: Iterable[Decision]) -> int:
    """An example, or the largest one below it of a medium size for which everything holds that is known of it alone."""
    about = [decision for decision in decisions if decision.symbols == (name,)]
    tried = (example, *range(min(example - 1, MEDIUM[-1]), low - 1, -1)) if about else ()
    fitting = (size for size in tried if all(each.holds({name: size}) for each in about))
    return next(fitting, example)
