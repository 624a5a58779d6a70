"""Example sizes of products that are equal, as the rows of ``h.view(-1, n)`` and the elements of ``y.view(-1)`` may be.

Each size is a product of numbers, every one of which is in one size of either side: the products are equal, and no two
of the sizes, so that nothing else holds by accident.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from torch2mlir.program import Decision
from torch2mlir.transforms.semantics.examples import LARGE, MEDIUM

_OF_LARGE = MEDIUM
_OF_MEDIUM = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
_OF_OTHERS = _OF_MEDIUM[::-1]
"""The numbers that sizes are products of; what is the larger size of two is the smaller one in another world."""


@dataclass(frozen=True)
class Factors:
    """Of which numbers a size is the product, and by how much it is larger.

    Attributes:
        places: of the numbers.
        more: as 1 where the product has ``n - 1`` for a factor.
    """

    places: tuple[int, ...]
    more: int

    def example(self, hints: Sequence[int]) -> int:
        """The size, in a world of such hints."""
        numbers = _OF_LARGE if hints is LARGE else _OF_MEDIUM if hints is MEDIUM else _OF_OTHERS
        return math.prod(numbers[place % len(numbers)] for place in self.places) + self.more


@lru_cache(maxsize=64)
def factors_of(decisions: tuple[Decision, ...]) -> Mapping[str, Factors]:
    """The factors of symbols that are in a product which equals another; of several such products the first."""
    equations = [sides for sides in map(_sides, decisions) if sides is not None]
    same = _same_symbols(equations)
    found, used = dict[str, Factors](), 0
    for left, right in equations:
        if len(left) + len(right) == 2:
            continue
        one, other = (
            [(same.get(name, name), more) for name, more in side] for side in (left, right)
        )
        common = [factor for factor in one if factor in other]
        for factor in common:
            one.remove(factor)
            other.remove(factor)
        names = [name for name, _ in (*one, *other)]
        if not (one and other) or len({*names}) < len(names) or not found.keys().isdisjoint(names):
            continue
        found.update(_with_factors(one, other, used))
        used += len(one) * len(other)
        for name, _ in common:
            if name in same.values() and name not in found:
                found[name] = Factors((used,), 0)
                used += 1
    return found | {name: found[other] for name, other in same.items() if other in found}


def _with_factors(one: _Product, other: _Product, used: int) -> Iterator[tuple[str, Factors]]:
    """The symbols of two products, which have a number in common for each pair of them.

    Args:
        one: a product.
        other: another one.
        used: how many numbers others have.
    """
    count = len(one) * len(other)
    for place, (name, more) in enumerate(one):
        first = used + place * len(other)
        yield name, Factors(tuple(range(first, first + len(other))), more)
    for place, (name, more) in enumerate(other):
        yield name, Factors(tuple(range(used + place, used + count, len(other))), more)


_Product = Sequence[tuple[str, int]]
"""The symbols that are multiplied, and how much is subtracted from each."""


def _same_symbols(equations: Iterable[tuple[_Product, _Product]]) -> dict[str, str]:
    """One of the symbols that are equal, by each other one."""
    same = dict[str, str]()
    for left, right in equations:
        match (*left, *right):
            case ((one, 0), (other, 0)):
                one, other = same.get(one, one), same.get(other, other)
                if one != other:
                    same = {name: one if to == other else to for name, to in same.items()}
                    same[other] = one
    return same


def _sides(decision: Decision) -> tuple[_Product, _Product] | None:
    """The two products of an equation; None for other decisions."""
    if not decision.answer:
        return None
    match ast.parse(decision.asked, mode="eval").body:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            try:
                return [*_product(left)], [*_product(right)]
            except ValueError:
                return None
    return None


def _product(factor: ast.expr) -> Iterator[tuple[str, int]]:
    """The factors of a product of symbols and of sums of a symbol and a number."""
    match factor:
        case ast.Name(id=name):
            yield name, 0
        case ast.BinOp(left=one, op=ast.Mult(), right=other):
            yield from _product(one)
            yield from _product(other)
        case ast.BinOp(left=number, op=ast.Add(), right=ast.Name(id=name)):
            yield name, -ast.literal_eval(number)
        case _:
            raise ValueError(ast.unparse(factor))


def failing(sizes: Mapping[str, int], decisions: Iterable[Decision]) -> int:
    """How much of what is known does not hold for some sizes."""
    return sum(not decision.holds(sizes) for decision in decisions)
