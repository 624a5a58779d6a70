"""Symbolic dimensions: integer expressions over the symbols a program was captured with.

A size in a torch tensor type is an ``int``, a :class:`Dim` (known as an expression of named symbols) or ``None``
(nothing known). Text shows the last two as ``?``; which expression stands behind a ``?`` travels as
``torch.bind_symbolic_shape``. Expressions are kept in one canonical form, so that equal dimensions compare equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import gcd, prod
from typing import Any, TypeGuard

COMMUTATIVE = {"add", "mul", "max", "min"}
INT64_MAX = 2**63 - 1
"""Also what PyTorch writes for an end of a slice that is not given, and for a size without a bound."""


@dataclass(frozen=True, eq=True)
class Dim:
    """An integer expression: ``symbol(name)`` or one of add, mul, floordiv, mod, max, min over ints and dims."""

    op: str
    args: tuple[str | int | Dim, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.op, self.args)))

    def __hash__(self) -> int:
        return self._hash  # type: ignore[attr-defined]

    @property
    def name(self) -> str:
        """The symbol's name; only meaningful when ``op`` is ``symbol``."""
        return str(self.args[0])

    def operands(self) -> tuple[int | Dim, ...]:
        """The operands of a compound expression."""
        return self.args  # type: ignore[return-value]

    def symbols(self) -> Iterator[str]:
        """The names of all symbols in the expression, in order, with repetitions."""
        if self.op == "symbol":
            yield self.name
            return
        for arg in self.operands():
            if isinstance(arg, Dim):
                yield from arg.symbols()

    def __str__(self) -> str:
        if self.op == "symbol":
            return self.name
        texts = [str(a) for a in self.operands()]
        infix = {"add": " + ", "mul": "*", "floordiv": "//", "mod": "%"}.get(self.op)
        if infix is None:
            return f"{self.op}({', '.join(texts)})"
        nested = [
            f"({t})" if isinstance(a, Dim) and a.op != "symbol" and self.op != "add" else t
            for a, t in zip(self.operands(), texts, strict=True)
        ]
        return infix.join(nested)


Size = int | Dim | None
KnownSize = int | Dim
Sizes = Sequence[KnownSize]


def is_static(sizes: Sequence[Size]) -> TypeGuard[Sequence[int]]:
    """Whether every size is a number."""
    return {int}.issuperset(map(type, sizes))


def is_symbol(size: Any) -> TypeGuard[Dim]:
    """Whether a size is a symbol by itself."""
    return isinstance(size, Dim) and size.op == "symbol"


def are_known(sizes: Sequence[Size]) -> TypeGuard[Sequence[KnownSize]]:
    """Whether every size is a number or an expression."""
    return None not in sizes


def symbol(name: str) -> Dim:
    """The dimension named ``name``."""
    return Dim("symbol", (name,))


def _terms(dim: KnownSize) -> Iterator[tuple[int, KnownSize]]:
    """The expression as a sum of ``coefficient * factor``; a constant has the factor 1."""
    if isinstance(dim, int):
        yield dim, 1
    elif dim.op == "add":
        for term in dim.operands():
            yield from _terms(term)
    elif dim.op == "mul" and isinstance(dim.operands()[0], int):
        rest = dim.operands()[1:]
        yield int(dim.operands()[0]), rest[0] if len(rest) == 1 else Dim("mul", rest)  # type: ignore[arg-type]
    else:
        yield 1, dim


def add(*dims: KnownSize) -> KnownSize:
    """The sum, with like terms collected."""
    collected: dict[KnownSize, int] = {}
    for dim in dims:
        for coefficient, factor in _terms(dim):
            collected[factor] = collected.get(factor, 0) + coefficient
    for factor, coefficient in collected.items():
        if not isinstance(factor, Dim) or factor.op != "mod":
            continue
        if (rounded := _rounded_up(factor, coefficient, collected)) is not None:
            return add(*(_scaled(c, f) for f, c in collected.items() if c and f != 1), *rounded)
    constant = collected.pop(1, 0)
    ordered = sorted(collected.items(), key=lambda term: str(term[0]))
    terms = [_scaled(c, f) for f, c in ordered if c != 0]
    if constant or not terms:
        terms.append(constant)
    return terms[0] if len(terms) == 1 else Dim("add", tuple(terms))


def _rounded_up(
    remainder: Dim, coefficient: int, collected: dict[KnownSize, int]
) -> Sequence[KnownSize] | None:
    """``x + -x % 4``, with such a remainder, as four times a quotient, or None; it takes the terms out.

    As a sum nobody would see that it is a multiple of four.
    """
    negative, divisor = remainder.operands()
    if not isinstance(divisor, int) or divisor < 1 or not coefficient:
        return None
    terms = list(_terms(negative))
    if any(f == 1 or c >= 0 or collected.get(f) != -c * coefficient for c, f in terms):
        return None
    for _, each in terms:
        del collected[each]
    del collected[remainder]
    size = add(*(_scaled(-c, f) for c, f in terms))
    multiple = mul(coefficient, divisor, floordiv(add(size, divisor - 1), divisor))
    return [multiple, collected.get(1, 0)]


def _scaled(coefficient: int, factor: KnownSize) -> KnownSize:
    if coefficient == 1:
        return factor
    if isinstance(factor, Dim) and factor.op == "mul":
        return Dim("mul", (coefficient, *factor.operands()))
    return Dim("mul", (coefficient, factor))


def mul(*dims: KnownSize) -> KnownSize:
    """The product; sums are multiplied out by constants only, and longer products take their constants out."""
    constant, factors = 1, list[Dim]()
    for dim in dims:
        if isinstance(dim, int):
            constant *= dim
        elif dim.op == "mul":
            for factor in dim.operands():
                if isinstance(factor, int):
                    constant *= factor
                else:
                    factors.append(factor)
        else:
            factors.append(dim)
    if constant == 0 or not factors:
        return constant
    if len(factors) == 1 and factors[0].op == "add":
        return add(*(mul(constant, term) for term in factors[0].operands()))
    for index, factor in enumerate(factors):
        if factor.op == "add" and (content := _content(factor)) != 1:
            constant *= content
            terms = (
                _scaled(c // content, f) if f != 1 else c // content for c, f in _terms(factor)
            )
            factors[index] = add(*terms)  # type: ignore[assignment]
    factors.sort(key=str)
    body: KnownSize = factors[0] if len(factors) == 1 else Dim("mul", tuple(factors))
    return _scaled(constant, body)


def _content(total: Dim) -> int:
    """The largest integer that divides every term of a sum, with the sign of its first term."""
    coefficients = [coefficient for coefficient, _ in _terms(total)]
    return gcd(*coefficients) * (-1 if coefficients[0] < 0 else 1)


def sub(lhs: KnownSize, rhs: KnownSize) -> KnownSize:
    """``lhs - rhs``."""
    return add(lhs, mul(-1, rhs))


def floordiv(lhs: KnownSize, rhs: KnownSize) -> KnownSize:
    """``lhs // rhs``, rounding toward minus infinity; exact factors cancel. A divisor of 0 counts as 1."""
    if isinstance(lhs, int) and isinstance(rhs, int):
        return lhs // (rhs or 1)
    if rhs in (0, 1):
        return lhs
    if lhs == rhs:
        return 1
    quotient = _cancel(lhs, rhs)
    return Dim("floordiv", (lhs, rhs)) if quotient is None else quotient


def _cancel(lhs: KnownSize, rhs: KnownSize) -> KnownSize | None:
    """``lhs / rhs`` when every factor of ``rhs`` is one of every term of ``lhs``, else None."""
    if isinstance(lhs, Dim) and lhs.op == "add":
        quotients = [_cancel(term, rhs) for term in lhs.operands()]
        return add(*quotients) if are_known(quotients) else None
    numerator = list(lhs.operands()) if isinstance(lhs, Dim) and lhs.op == "mul" else [lhs]
    denominator = rhs.operands() if isinstance(rhs, Dim) and rhs.op == "mul" else (rhs,)
    for factor in denominator:
        if factor in numerator:
            numerator.remove(factor)
        elif isinstance(factor, int):
            constants = [n for n in numerator if isinstance(n, int)]
            if not constants or constants[0] % factor:
                return None
            numerator[numerator.index(constants[0])] = constants[0] // factor
        else:
            return None
    return mul(*numerator)


def mod(lhs: KnownSize, rhs: KnownSize) -> KnownSize:
    """``lhs % rhs`` with the sign of ``rhs``, as Python. A divisor of 0 counts as 1."""
    if isinstance(lhs, int) and isinstance(rhs, int):
        return lhs % (rhs or 1)
    if isinstance(rhs, int) and rhs > 1 and (less := _congruent(lhs, rhs)) != lhs:
        return mod(less, rhs)
    return 0 if rhs == 1 or _cancel(lhs, rhs) is not None else Dim("mod", (lhs, rhs))


def _congruent(dim: KnownSize, divisor: int) -> KnownSize:
    """What has the same remainder: ``-n`` for ``4 - n % 4``."""
    terms = list[KnownSize]()
    for coefficient, factor in _terms(dim):
        if factor == 1:
            terms.append(coefficient % divisor)
        elif isinstance(factor, Dim) and factor.op == "mod" and factor.operands()[1] == divisor:
            terms.append(mul(coefficient, factor.operands()[0]))
        else:
            terms.append(_scaled(coefficient, factor))
    return add(*terms)


def operands_to_compute(dim: Dim) -> list[KnownSize]:
    """The operands of an expression that is computed when a program runs, where nothing may divide by 0.

    A size that is divided by may be 0: then there are no elements that the quotient could matter for.
    """
    first, *rest = dim.operands()
    if dim.op in ("floordiv", "mod"):
        rest = [maximum(divisor, 1) if isinstance(divisor, Dim) else divisor for divisor in rest]
    return [first, *rest]


def _extremum(op: str, dims: tuple[KnownSize, ...]) -> KnownSize:
    pick = max if op == "max" else min
    flat: list[KnownSize] = []
    for dim in dims:
        flat.extend(dim.operands() if isinstance(dim, Dim) and dim.op == op else (dim,))
    constants = [d for d in flat if isinstance(d, int)]
    rest: list[KnownSize] = sorted({d for d in flat if isinstance(d, Dim)}, key=str)
    if constants:
        rest.append(pick(constants))
    return rest[0] if len(rest) == 1 else Dim(op, tuple(rest))


def maximum(*dims: KnownSize) -> KnownSize:
    """The largest of the dimensions."""
    return _extremum("max", dims)


def minimum(*dims: KnownSize) -> KnownSize:
    """The smallest of the dimensions; none is larger than what stands for the end of a slice."""
    bounded = tuple(dim for dim in dims if dim != INT64_MAX)
    return _extremum("min", bounded) if bounded else INT64_MAX


def is_size(dim: KnownSize) -> bool:
    """Whether an expression cannot be negative, symbols being sizes."""
    if isinstance(dim, int):
        return dim >= 0
    if dim.op in ("floordiv", "mod"):
        divisor = dim.operands()[1]
        return isinstance(divisor, int) and divisor > 0 and is_size(dim.operands()[0])
    return dim.op == "symbol" or all(is_size(operand) for operand in dim.operands())


BUILDERS: dict[str, Callable[..., KnownSize]] = {
    "add": add,
    "mul": mul,
    "floordiv": floordiv,
    "mod": mod,
    "max": maximum,
    "min": minimum,
}


def substitute(dim: KnownSize, values: Mapping[str, KnownSize]) -> KnownSize:
    """The expression with symbols replaced; symbols not in ``values`` stay."""
    if isinstance(dim, int):
        return dim
    if dim.op == "symbol":
        return values.get(dim.name, dim)
    return BUILDERS[dim.op](*(substitute(arg, values) for arg in dim.operands()))


def product(sizes: Sequence[KnownSize]) -> KnownSize:
    """The number of elements of a shape."""
    if is_static(sizes):
        return prod(sizes)
    return mul(*sizes)
