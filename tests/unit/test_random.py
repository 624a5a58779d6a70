"""Random numbers of compiled programs: their distribution, their independence, and what the seed decides."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import torch
from torch import nn
from torch._higher_order_ops.while_loop import while_loop
from torch.nn import functional as F

import torch2mlir
from torch2mlir.errors import BackendContractError
from torch2mlir.program import SeedInput, StateInput
from torch2mlir.transforms.decompositions.random import threefry2x32

COUNT = 20000
LIMIT = 5.0
"""Standard errors that a statistic may be off: the numbers are those of fixed seeds, so it never varies."""

ROADS = (("stablehlo", "xla"), ("linalg-on-tensors", "reference"), ("tosa", "iree"))

X = torch.ones(COUNT)


@cache
def _sample(draw: Callable[..., Any], *args: Any) -> Any:
    torch.manual_seed(7)
    return torch2mlir.compile(lambda x: draw(x, *args), X)(X)


def _normal_cdf(x: torch.Tensor) -> torch.Tensor:
    return 0.5 * (1 + torch.erf(x / math.sqrt(2)))


CONTINUOUS: dict[str, tuple[Callable[..., Any], Callable[[torch.Tensor], torch.Tensor]]] = {
    "rand": (lambda x: torch.rand(x.shape), lambda v: v.clamp(0, 1)),
    "rand_like": (torch.rand_like, lambda v: v.clamp(0, 1)),
    "rand_f64": (lambda x: torch.rand(x.shape, dtype=torch.float64), lambda v: v.clamp(0, 1)),
    "uniform": (lambda x: x.clone().uniform_(-2, 3), lambda v: (v + 2) / 5),
    "randn": (lambda x: torch.randn(x.shape), _normal_cdf),
    "randn_like": (torch.randn_like, _normal_cdf),
    "randn_f64": (lambda x: torch.randn(x.shape, dtype=torch.float64), _normal_cdf),
    "normal_": (lambda x: x.clone().normal_(2, 3), lambda v: _normal_cdf((v - 2) / 3)),
    "normal_of_tensors": (
        lambda x: torch.normal(2 * x, 3 * x),
        lambda v: _normal_cdf((v - 2) / 3),
    ),
    "exponential": (lambda x: x.clone().exponential_(0.5), lambda v: 1 - torch.exp(-v / 2)),
    "cauchy": (
        lambda x: x.clone().cauchy_(1, 2),
        lambda v: 0.5 + torch.atan((v - 1) / 2) / math.pi,
    ),
    "log_normal": (
        lambda x: x.clone().log_normal_(0.5, 0.25),
        lambda v: _normal_cdf((torch.log(v) - 0.5) / 0.25),
    ),
}


@pytest.mark.share(4)
@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous_distributions(name: str) -> None:
    """The Kolmogorov-Smirnov statistic: the largest gap between empirical and true distribution."""
    draw, cdf = CONTINUOUS[name]
    expected = cdf(_sample(draw).double().sort().values)
    steps = torch.arange(COUNT + 1, dtype=torch.float64) / COUNT
    gap = max((expected - steps[:-1]).max(), (steps[1:] - expected).max())
    assert gap * math.sqrt(COUNT) < 1.95  # exceeded once in a thousand samples


WEIGHTS = torch.tensor([1.0, 0.0, 3.0, 6.0])

DISCRETE: dict[str, tuple[Callable[..., Any], dict[float, float]]] = {
    "randint": (lambda x: torch.randint(0, 6, x.shape), {k: 1 / 6 for k in range(6)}),
    "randint_low": (lambda x: torch.randint(-2, 2, x.shape), {k: 1 / 4 for k in range(-2, 2)}),
    "randint_like": (lambda x: torch.randint_like(x, 3), {k: 1 / 3 for k in range(3)}),
    "random_": (lambda x: x.clone().random_(5), {k: 1 / 5 for k in range(5)}),
    "bernoulli_p": (lambda x: torch.bernoulli(x, p=0.3), {0: 0.7, 1: 0.3}),
    "bernoulli": (lambda x: torch.bernoulli(x * 0.8), {0: 0.2, 1: 0.8}),
    "bernoulli_": (lambda x: x.clone().bernoulli_(0.5), {0: 0.5, 1: 0.5}),
    "geometric": (
        lambda x: x.clone().geometric_(0.4),
        {k: 0.4 * 0.6 ** (k - 1) for k in range(1, 8)},
    ),
    "multinomial": (
        lambda x: torch.multinomial(WEIGHTS, x.shape[0], replacement=True),
        {0: 0.1, 1: 0.0, 2: 0.3, 3: 0.6},
    ),
    "multinomial_one": (
        lambda x: torch.multinomial(WEIGHTS.expand(x.shape[0], 4), 1),
        {0: 0.1, 1: 0.0, 2: 0.3, 3: 0.6},
    ),
    "dropout": (lambda x: F.dropout(x, 0.25), {0: 0.25, 4 / 3: 0.75}),
    "feature_dropout": (
        lambda x: F.dropout2d(x.reshape(-1, 2, 1, 1), 0.25),
        {0: 0.25, 4 / 3: 0.75},
    ),
}


@pytest.mark.share(4)
@pytest.mark.parametrize("name", DISCRETE)
def test_discrete_distributions(name: str) -> None:
    draw, probabilities = DISCRETE[name]
    drawn = _sample(draw).double().reshape(-1)
    for value, p in probabilities.items():
        share = torch.isclose(drawn, torch.tensor(value, dtype=torch.float64)).double().mean()
        assert abs(share - p) <= LIMIT * math.sqrt(p * (1 - p) / COUNT), f"{value}: {share}"


def test_large_ranges_are_filled() -> None:
    high = (1 << 62) + 12345
    drawn = _sample(lambda x: torch.randint(0, high, x.shape)).double() / high
    assert drawn.min() >= 0 and drawn.max() < 1
    assert abs(drawn.mean() - 0.5) < LIMIT * math.sqrt(1 / 12 / COUNT)


def test_a_permutation_holds_every_index_once() -> None:
    drawn = _sample(lambda x: torch.randperm(x.shape[0]))
    assert torch.equal(drawn.sort().values, torch.arange(COUNT))
    correlation = torch.corrcoef(torch.stack([drawn.double(), torch.arange(COUNT).double()]))[0, 1]
    assert abs(correlation) < LIMIT / math.sqrt(COUNT)


def test_without_replacement_no_index_comes_twice() -> None:
    drawn = _sample(lambda x: torch.multinomial(WEIGHTS.expand(1000, 4), 3))
    assert drawn.shape == (1000, 3)
    assert all(len(set(row.tolist())) == 3 and 1 not in row for row in drawn)


def test_alpha_dropout_keeps_mean_and_variance() -> None:
    standard = torch.randn(COUNT, generator=torch.Generator().manual_seed(1))
    dropped = torch2mlir.compile(lambda x: F.alpha_dropout(x, 0.2, training=True), standard)(
        standard
    )
    assert abs(dropped.mean()) < 0.05
    assert abs(dropped.std() - 1) < 0.05


def test_rrelu_draws_slopes_of_negative_elements() -> None:
    slopes = _sample(lambda x: F.rrelu(-x, 0.1, 0.3, training=True)).neg()
    assert slopes.min() >= 0.1 and slopes.max() <= 0.3
    assert abs(slopes.mean() - 0.2) < LIMIT * 0.2 / math.sqrt(12 * COUNT)


# what the seed decides


def _two(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(x.shape), torch.randn(x.shape)


def _correlation(a: torch.Tensor, b: torch.Tensor) -> float:
    return abs(float(torch.corrcoef(torch.stack([a.flatten(), b.flatten()]))[0, 1]))


def test_ops_and_calls_are_independent() -> None:
    compiled = torch2mlir.compile(_two, X)
    torch.manual_seed(0)
    drawn = [*compiled(X), *compiled(X)]
    for index, a in enumerate(drawn):
        assert _correlation(a[1:], a[:-1]) < LIMIT / math.sqrt(COUNT)
        for b in drawn[index + 1 :]:
            assert _correlation(a, b) < LIMIT / math.sqrt(COUNT)


def test_manual_seed_makes_calls_repeat() -> None:
    compiled = torch2mlir.compile(_two, X)
    torch.manual_seed(5)
    first, second = compiled(X), compiled(X)
    torch.manual_seed(5)
    again = compiled(X)
    assert torch.equal(first[0], again[0]) and torch.equal(first[1], again[1])
    assert not torch.equal(first[0], second[0])


def test_a_seed_gives_the_same_numbers_on_every_dialect() -> None:
    def draw(x: torch.Tensor) -> Any:
        return torch.randint(0, 1 << 30, (3, 5)), torch.rand(4), torch.bernoulli(x * 0.5)

    x = torch.ones(6)
    results = []
    for output_type, engine in ROADS:
        torch.manual_seed(11)
        results.append(torch2mlir.compile(draw, x, output_type=output_type, engine=engine)(x))
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            assert torch.equal(a, b)


@pytest.mark.share(4)
@pytest.mark.parametrize(("output_type", "engine"), ROADS)
def test_sizes_may_vary(output_type: str, engine: str) -> None:
    dynamic = ({0: torch.export.Dim("B", min=2)},)
    compiled = torch2mlir.compile(
        lambda x: torch.rand_like(x),
        torch.ones(4, 3),
        output_type=output_type,
        engine=engine,
        dynamic_shapes=dynamic,
    )
    torch.manual_seed(2)
    few = compiled(torch.ones(4, 3))
    torch.manual_seed(2)
    many = compiled(torch.ones(9, 3))
    assert many.shape == (9, 3)
    assert torch.equal(few, many[:4])


def test_the_generator_gives_the_published_numbers() -> None:
    """Known answers of Random123's threefry2x32 with 20 rounds."""

    def words(*values: int) -> tuple[torch.Tensor, torch.Tensor]:
        signed = [v - (1 << 32) if v >= 1 << 31 else v for v in values]
        first, second = (torch.tensor(v, dtype=torch.int32) for v in signed)
        return first, second

    def hexadecimal(drawn: tuple[torch.Tensor, torch.Tensor]) -> list[str]:
        return [f"{int(word) & 0xFFFFFFFF:08x}" for word in drawn]

    zero, ones = words(0, 0), words(0xFFFFFFFF, 0xFFFFFFFF)
    assert hexadecimal(threefry2x32(zero, zero)) == ["6b200159", "99ba4efe"]
    assert hexadecimal(threefry2x32(ones, ones)) == ["1cb996fc", "bb002be7"]
    counter, key = words(0x243F6A88, 0x85A308D3), words(0x13198A2E, 0x03707344)
    assert hexadecimal(threefry2x32(key, counter)) == ["c4923a9c", "483df7a0"]


# the program


def test_the_seed_is_the_last_argument() -> None:
    module = torch2mlir.export_and_import(
        nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5)), torch.ones(2, 3), weights="arguments"
    )
    inputs = module.program.signature.inputs
    assert [type(i) for i in inputs[1:]] == [StateInput, StateInput, SeedInput]
    first_lines = "\n".join(str(module).splitlines()[:2])
    assert "%seed: !torch.vtensor<[],si64>)" in first_lines


def test_programs_that_draw_nothing_have_no_seed() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5)).eval()
    module = torch2mlir.export_and_import(model, torch.ones(2, 3))
    assert "seed" not in str(module)
    assert len(module.program.signature.inputs) == 1


def test_each_branch_draws_its_own_numbers() -> None:
    def program(which: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(which, lambda x: torch.rand_like(x), lambda x: torch.rand_like(x), (x,))

    x = torch.ones(1000)
    compiled = torch2mlir.compile(program, torch.tensor(True), x)
    drawn = []
    for which in (True, False):
        torch.manual_seed(4)
        drawn.append(compiled(torch.tensor(which), x))
    assert _correlation(*drawn) < LIMIT / math.sqrt(1000)


def test_numbers_in_a_loop_are_refused() -> None:
    def program(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return while_loop(
            lambda i, x: i < 3,
            lambda i, x: (i + 1, x + torch.rand_like(x)),
            (torch.tensor(0), x),
        )

    with pytest.raises(BackendContractError, match="random numbers are drawn in a loop"):
        torch2mlir.export_and_import(program, torch.ones(3))


def test_rejection_sampling_is_refused_by_name() -> None:
    with pytest.raises(BackendContractError, match=r"torch\.aten\._standard_gamma"):
        torch2mlir.export_and_import(torch._standard_gamma, torch.ones(3))
