"""Symbolic dimensions: their canonical form, their text, and that rewriting never changes their value."""

from __future__ import annotations

import ast
import random

import pytest

from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import BUILDERS, Dim, KnownSize, symbol
from torch2mlir.dialects.torch.symbols import from_affine, to_affine

A, B, C = symbol("a"), symbol("b"), symbol("c")
NAMES = ("a", "b", "c")
OPERATORS = {ast.Add: "add", ast.Mult: "mul", ast.FloorDiv: "floordiv", ast.Mod: "mod"}


def parse_dim(text: str) -> KnownSize:
    """An expression is written as Python writes it."""

    def built(node: ast.expr) -> KnownSize:
        match node:
            case ast.Constant(value=int() as value):
                return value
            case ast.Name(id=name):
                return symbol(name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return dims.mul(-1, built(operand))
            case ast.BinOp(left=left, op=ast.Sub(), right=right):
                return dims.sub(built(left), built(right))
            case ast.BinOp(left=left, op=op, right=right):
                return BUILDERS[OPERATORS[type(op)]](built(left), built(right))
            case ast.Call(func=ast.Name(id=name), args=args):
                return BUILDERS[name](*map(built, args))
        raise ValueError(text)

    return built(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize(
    "one, other",
    [
        (dims.add(A, B), dims.add(B, A)),
        (dims.add(A, dims.add(B, C)), dims.add(dims.add(A, B), C)),
        (dims.add(A, A), dims.mul(2, A)),
        (dims.add(A, 3, -3), A),
        (dims.sub(A, A), 0),
        (dims.sub(dims.add(A, B), B), A),
        (dims.mul(A, B), dims.mul(B, A)),
        (dims.mul(2, dims.mul(3, A)), dims.mul(6, A)),
        (dims.mul(A, 0), 0),
        (dims.mul(1, A), A),
        (dims.mul(2, dims.add(A, 1)), dims.add(dims.mul(2, A), 2)),
        (dims.floordiv(dims.mul(4, A), 2), dims.mul(2, A)),
        (dims.floordiv(dims.mul(A, B), A), B),
        (dims.floordiv(dims.add(dims.mul(2, A), 4), 2), dims.add(A, 2)),
        (dims.floordiv(A, 1), A),
        (dims.floordiv(A, A), 1),
        (dims.mod(dims.mul(6, A), 3), 0),
        (dims.mod(A, 1), 0),
        (dims.mod(dims.sub(4, dims.mod(A, 4)), 4), dims.mod(dims.mul(-1, A), 4)),
        (dims.mod(dims.add(A, 9), 4), dims.mod(dims.add(A, 1), 4)),
        (dims.add(A, dims.mod(dims.mul(-1, A), 4)), dims.mul(4, dims.floordiv(dims.add(A, 3), 4))),
        (
            dims.floordiv(dims.add(A, B, dims.mod(dims.mul(-1, dims.add(A, B)), 4)), 4),
            dims.floordiv(dims.add(A, B, 3), 4),
        ),
        (dims.maximum(A, dims.maximum(B, A)), dims.maximum(B, A)),
        (dims.maximum(A, 2, 3), dims.maximum(3, A)),
        (dims.minimum(4, 7), 4),
        (dims.product([2, A, 3]), dims.mul(6, A)),
        (dims.product([2, 3]), 6),
    ],
)
def test_equal_sizes_have_one_form(one: KnownSize, other: KnownSize) -> None:
    assert one == other
    assert hash(one) == hash(other)


@pytest.mark.parametrize("text", ["a", "2*a", "a + b", "a//2", "(a + b)//3", "a%4", "max(2, a)"])
def test_text_is_read_back(text: str) -> None:
    dim = parse_dim(text)
    assert parse_dim(str(dim)) == dim


def expression(generator: random.Random, depth: int) -> KnownSize:
    """A random size; divisors are positive, as sizes are."""
    if depth == 0 or generator.random() < 0.2:
        return generator.choice([A, B, C, generator.randint(1, 6)])
    op = generator.choice(["add", "sub", "mul", "floordiv", "mod", "max", "min"])
    lhs = expression(generator, depth - 1)
    if op in ("floordiv", "mod"):
        return dims.BUILDERS[op](lhs, generator.randint(1, 6))
    rhs = expression(generator, depth - 1)
    return dims.sub(lhs, rhs) if op == "sub" else dims.BUILDERS[op](lhs, rhs)


def value(dim: KnownSize, values: dict[str, int]) -> int:
    """The value, computed by Python from the tree as it is."""
    if isinstance(dim, int):
        return dim
    if dim.op == "symbol":
        return values[dim.name]
    first, *rest = (value(arg, values) for arg in dim.operands())
    for operand in rest:
        match dim.op:
            case "add":
                first += operand
            case "mul":
                first *= operand
            case "floordiv":
                first //= operand
            case "mod":
                first %= operand
            case "max":
                first = max(first, operand)
            case "min":
                first = min(first, operand)
    return first


RANDOM = [expression(random.Random(seed), 4) for seed in range(300)]


def assignments(seed: int) -> dict[str, int]:
    generator = random.Random(1000 + seed)
    return {name: generator.randint(1, 50) for name in NAMES}


def test_text_of_random_sizes_is_read_back() -> None:
    for dim in RANDOM:
        assert parse_dim(str(dim)) == dim, str(dim)


def test_substitution_computes_what_the_expression_says() -> None:
    for seed, dim in enumerate(RANDOM):
        values = assignments(seed)
        assert dims.substitute(dim, values) == value(dim, values), str(dim)


def test_building_from_values_equals_building_from_symbols() -> None:
    for seed in range(300):
        values = assignments(seed)
        dim = expression(random.Random(seed), 4)
        renamed = dims.substitute(dim, {name: symbol(name.upper()) for name in NAMES})
        back = dims.substitute(renamed, {name.upper(): symbol(name) for name in NAMES})
        assert value(back, values) == value(dim, values), str(dim)


def test_symbols_are_all_named() -> None:
    assert sorted(set(dims.add(A, dims.mul(B, dims.floordiv(C, 2))).symbols())) == ["a", "b", "c"]  # type: ignore[union-attr]


def is_affine(dim: KnownSize) -> bool:
    """Whether affine maps have a form for it: no extremes, no products or quotients of symbols."""
    if isinstance(dim, int) or dim.op == "symbol":
        return True
    symbolic = sum(isinstance(arg, Dim) for arg in dim.operands())
    fits = dim.op == "add" or (dim.op not in ("max", "min") and symbolic <= 1)
    return fits and all(map(is_affine, dim.operands()))


def test_affine_maps_keep_the_value() -> None:
    positions = {name: index for index, name in enumerate(NAMES)}
    names = {index: name for name, index in positions.items()}
    for seed, dim in enumerate(RANDOM):
        affine = to_affine(dim, positions)
        if affine is None:
            assert not is_affine(dim)
            continue
        values = assignments(seed)
        assert dims.substitute(from_affine(affine, names), values) == value(dim, values), str(dim)


def test_nothing_is_larger_than_the_end_of_a_slice() -> None:
    assert dims.minimum(A, dims.INT64_MAX) == A
    assert dims.minimum(dims.INT64_MAX) == dims.INT64_MAX
    assert dims.minimum(A, dims.INT64_MAX, 7) == dims.minimum(A, 7)
