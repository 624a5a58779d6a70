"""Equal tensors that read no memory, each updated where it lies: IREE takes them for one (see docs/engines.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from repeated_calls import Together, agrees_with_eager

PLACES = torch.tensor([1, 0, 3, 2])
Tensors = Sequence[torch.Tensor]


def padded(x: torch.Tensor, y: torch.Tensor) -> Tensors:
    return F.pad(x, (1, 2), value=-7), F.pad(y, (1, 2), value=-7)


def filled(x: torch.Tensor, y: torch.Tensor) -> Tensors:
    threes = torch.full((6,), 3)
    return threes.scatter(0, PLACES, x), threes.scatter(0, PLACES, y), threes


def argument_filled(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x.fill_(3).scatter(0, PLACES, y)


def accumulated(x: torch.Tensor, y: torch.Tensor) -> Tensors:
    threes = torch.full((6,), 3)
    summed = threes.index_put((PLACES,), x, accumulate=True)
    return summed, threes.index_add(0, PLACES, y), threes


def cumulated(x: torch.Tensor, y: torch.Tensor) -> Tensors:
    threes = torch.full((4,), 3)
    return threes.cumsum(0) + x, threes, torch.full((4,), 3).index_fill(0, PLACES[:1], 5) + y


def counted(x: torch.Tensor, y: torch.Tensor) -> Tensors:
    counts = torch.arange(6)
    return counts.scatter(0, PLACES, x), counts.scatter(0, PLACES, y), counts


def sorted_places(x: torch.Tensor, y: torch.Tensor) -> Tensors:
    places = torch.arange(6).float()
    return places.sort().values, places * 1, places.flip(0).sort().values


def of_itself(x: torch.Tensor, y: torch.Tensor) -> Tensors:
    """What is put into a tensor is a part of it."""
    return x.index_add(0, PLACES[:3], x[:3]), x.scatter(0, PLACES[:3], x[1:]), x + 1


def part_of_itself_after_others(x: torch.Tensor, y: torch.Tensor) -> Tensors:
    """A barrier alone does not keep a part from what updates its whole."""
    y = y + 1
    return tuple(
        each
        for z in (x, y)
        for each in (
            z.index_fill(0, PLACES[:3], 9),
            z.index_add(0, PLACES[:3], z[:3]),
            z.scatter(0, PLACES[:3], z[:3]),
            z.index_copy(0, PLACES[:3], z[:3]),
        )
    )


def all_of_itself(x: torch.Tensor, y: torch.Tensor) -> Tensors:
    return x.scatter(0, PLACES, x), (y * 2).index_add(0, PLACES, y * 2), x.clone()


def folded(x: torch.Tensor, y: torch.Tensor) -> Tensors:
    """Numbers to IREE, though not to us."""
    nothing, zeros = x != x, x - x
    updated = nothing.scatter(0, PLACES, y > 0), zeros.scatter(0, PLACES, y)
    return *updated, nothing, zeros, (x ^ x).roll(1).index_put((PLACES[:1],), y[:1]), x ^ x


def pooled(x: torch.Tensor, y: torch.Tensor) -> Tensors:
    return tuple(
        each for z in (x, y) for each in F.max_pool1d(z[None].float(), 3, 1, 1, return_indices=True)
    )


def pooled_doubles(x: torch.Tensor, y: torch.Tensor) -> Tensors:
    return tuple(F.max_pool1d(z[None].double(), 3, 1, 1) for z in (x, y))


def padded_doubles(x: torch.Tensor, y: torch.Tensor) -> Tensors:
    return tuple(F.pad(z.double(), (2, 1), value=float("-inf")) for z in (x, y))


def counted_bytes(x: torch.Tensor, y: torch.Tensor) -> Tensors:
    counts = torch.arange(6, dtype=torch.uint8)
    updates = [z.to(torch.uint8) for z in (x, y)]
    return *(counts.scatter(0, PLACES, each) for each in updates), counts


def sorted_bytes(x: torch.Tensor, y: torch.Tensor) -> Tensors:
    places = torch.arange(6, dtype=torch.uint8)
    return places.sort().values, places + x[:1].to(torch.uint8), places


def padded_unsigned(x: torch.Tensor, y: torch.Tensor) -> Tensors:
    return tuple(F.pad(z.to(torch.uint64), (1, 2), value=7).to(torch.int64) for z in (x, y))


INTEGERS: dict[str, Callable[..., Any]] = {
    each.__name__: each
    for each in (
        *(padded, filled, argument_filled, accumulated, cumulated, counted, sorted_places),
        *(of_itself, all_of_itself, part_of_itself_after_others, folded, pooled),
        *(counted_bytes, sorted_bytes),
    )
}
NOT_OF_TOSA: dict[str, Callable[..., Any]] = {
    each.__name__: each for each in (pooled_doubles, padded_doubles, padded_unsigned)
}


@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo"])
@pytest.mark.share(3)
def test_each_is_updated_alone(output_type: str) -> None:
    programs = INTEGERS if output_type == "tosa" else INTEGERS | NOT_OF_TOSA
    agrees_with_eager(
        Together(programs),
        lambda: ({name: (integers(4), integers(4)) for name in programs},),
        output_type=output_type,
        engine="iree",
    )


@pytest.mark.share(4)
@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo"])
def test_of_any_size(output_type: str) -> None:
    def program(x: torch.Tensor, y: torch.Tensor) -> Tensors:
        both = F.pad(x, (1, 2), value=-7), F.pad(y, (1, 2), value=-7)
        counts = torch.arange(x.shape[0])
        updated = [counts.index_put((PLACES[:2],), z[:2]) for z in (x, y)]
        return *both, *updated, counts

    agrees_in_any_size(program, output_type)


FILLED: dict[torch.dtype, Any] = {
    torch.int64: (0, -1, 3),
    torch.float64: (0.0, 1.5),
    torch.int32: (0, 3),
    torch.float32: (0.0, 1.5),
}
ZEROS: dict[torch.dtype, Any] = {torch.float16: (0.0,), torch.int8: (0,), torch.bool: (False,)}
"""Apart from the wide ones: behind an odd number of bytes IREE fills with nothing else (docs/engines.md)."""


@pytest.mark.parametrize("filled", [FILLED, ZEROS], ids=["wide", "narrow"])
@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo"])
@pytest.mark.share(6)
def test_of_any_size_filled(output_type: str, filled: dict[torch.dtype, Any]) -> None:
    """Two tensors of one number, which the program fills without a look at memory, however many there are."""
    dtypes = [each for each in filled if output_type != "tosa" or each is not torch.float64]

    def program(x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
        results = []
        for dtype in dtypes:
            for number in filled[dtype]:
                first, second, third = (
                    torch.full((x.shape[0],), number, dtype=dtype) for _ in range(3)
                )
                first[PLACES[:3]] = x[:3].to(dtype)
                second.scatter_(0, PLACES[1:3], y[:2].to(dtype))
                results += [first, second]
                if not number:  # others IREE fills at multiples of 4 bytes only
                    third[1:3] = x[:2].to(dtype)
                    results += [third, torch.full_like(first, number)]
        return results

    agrees_in_any_size(program, output_type)


@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "stablehlo"])
@pytest.mark.share(2)
def test_greatest_of_the_greatest(output_type: str) -> None:
    """Two ``chlo.top_k`` of one unknown shape were one to IREE."""

    def program(x: torch.Tensor) -> Tensors:
        greatest, places = x.topk(3, -1)
        return *greatest.topk(3, -1, largest=False), greatest, places

    sizes = iter([4, 5, 1, 17])
    agrees_with_eager(
        program,
        lambda: (torch.randn(next(sizes), 3),),
        output_type=output_type,
        engine="iree",
        dynamic_shapes=({0: torch.export.Dim("n", min=0, max=64)},),
    )


@pytest.mark.share(2)
@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "stablehlo"])
def test_of_a_size_that_elements_decide(output_type: str) -> None:
    def program(x: torch.Tensor, y: torch.Tensor) -> Tensors:
        counts = torch.bincount(x, minlength=5)
        zeros = torch.zeros_like(counts)
        again = zeros.scatter_add(0, y, torch.ones_like(y))
        return counts, again, counts.gather(0, zeros), zeros

    agrees_with_eager(
        program,
        lambda: (torch.randint(0, 9, (6,)), torch.randint(0, 5, (6,))),
        output_type=output_type,
        engine="iree",
    )


def agrees_in_any_size(program: Callable[..., Any], output_type: str) -> None:
    """Compiles a program of two vectors of one size, 4 or more, and calls it."""
    size = torch.export.Dim("n", min=4, max=64)
    sizes = iter([4, 5, 4, 17])

    def arguments() -> tuple[Any, ...]:
        n = next(sizes)
        return integers(n), integers(n)

    agrees_with_eager(
        program,
        arguments,
        output_type=output_type,
        engine="iree",
        dynamic_shapes=({0: size}, {0: size}),
    )


def integers(size: int) -> torch.Tensor:
    return torch.randint(-9, 9, (size,))


@pytest.mark.share(4)
@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo"])
def test_half_floats_of_any_size(output_type: str) -> None:
    """IREE fills with such numbers at multiples of 4 bytes only."""

    def program(x: torch.Tensor) -> Tensors:
        first = torch.full((x.shape[0],), 1.5, dtype=torch.float16)
        second = torch.full((x.shape[0],), 1.5, dtype=torch.float16)
        first[PLACES[:3]] = x[:3].half()
        return first, second.scatter(0, PLACES[1:3], x[:2].half())

    sizes = iter([4, 5, 4, 7])
    agrees_with_eager(
        program,
        lambda: (integers(next(sizes)),),
        output_type=output_type,
        engine="iree",
        dynamic_shapes=({0: torch.export.Dim("n", min=4, max=64)},),
    )
