"""Elements of a part of a tensor that are read by position.

Where the sizes of the tensor are known at run time only, IREE took the elements of the part to follow each other in
memory: every element of ``x[:, 0][i]`` was the first. Where they are known, it refused parts with elements left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
import torch
from repeated_calls import Together, agrees_with_eager
from torch import Tensor
from torch.export import Dim


def _rows(x: Tensor) -> Tensor:
    return torch.arange(x.shape[0])


def _with_every_other_doubled(x: Tensor, i: Tensor) -> Tensor:
    line = x.clone().view(-1)
    line[::2] *= 2
    return line[i]


PROGRAMS: dict[str, Callable[[Tensor, Tensor], object]] = {
    "column": lambda x, i: x[:, 1][i],
    "one_of_each_row": lambda x, i: (x[_rows(x), 0], x[_rows(x), i % x.shape[1]]),
    "of_a_column_of_columns": lambda x, i: x[:, 0:2][_rows(x), 1],
    "last_column": lambda x, i: x[:, -1][_rows(x)],
    "every_other_column": lambda x, i: x[:, ::2][i, i * 0 + 1],
    "some_of_rows_and_columns": lambda x, i: x[:2, 1:3][i % 2, i % 2],
    "transposed": lambda x, i: x.t()[0][_rows(x)],
    "next": lambda x, i: x[:, 0][(_rows(x) + 1) % x.shape[0]],
    "constants": lambda x, i: x[:, 1][torch.tensor([1, 0, 1])],
    "index_select": lambda x, i: x[:, 0].index_select(0, i),
    "gather": lambda x, i: (x[:, 0].gather(0, i), torch.gather(x[:, :2], 1, (i % 2)[:, None])),
    "take": lambda x, i: x[:, 1].take(i),
    "flip": lambda x, i: (x[:, 1].flip(0), x[:, :2].flip(1), x[:, 1].roll(1, 0)),
    "of_a_function": lambda x, i: (x[:, 1] * 2)[_rows(x)],
    "sorted": lambda x, i: x[:, 1].sort()[0],
    "masked_scatter": lambda x, i: x[:, :1].masked_scatter(x[:, 1:2] > 0, x[:, 0].clone()),
    "window": lambda x, i: x.unfold(1, 2, 1)[:, 0][i],
    "every_other_changed": _with_every_other_doubled,
}
OF_THREE: dict[str, Callable[[Tensor, Tensor], object]] = {
    "first_of_two": lambda x, i: x[:, 0, 0][i],
    "first_of_last": lambda x, i: (x[:, :, 0][i], x[:, :, 1:2][i]),
    "last_position": lambda x, i: x[:, -1].index_select(1, torch.arange(x.shape[2])),
    "of_each_sequence": lambda x, i: x[_rows(x), i % x.shape[1]],
    "flip": lambda x, i: (x[:, :2].flip(2), x[..., 0].flip(1), x[..., :1].roll(1, 1)),
    "transposed": lambda x, i: x.transpose(1, 2)[:, :, 1][i],
}
SIZES = ((3, 6, 5), (2, 9, 3), (5, 4, 7), (17, 5, 18))
DIALECTS = ("linalg-on-tensors", "tosa")


@pytest.mark.parametrize("output_type", DIALECTS)
@pytest.mark.full("what has three dimensions runs")
def test_of_a_matrix(output_type: str) -> None:
    _check(PROGRAMS, 2, output_type)


@pytest.mark.share(2)
@pytest.mark.parametrize("output_type", DIALECTS)
def test_of_three_dimensions(output_type: str) -> None:
    _check(OF_THREE, 3, output_type)


def _check(
    programs: Mapping[str, Callable[[Tensor, Tensor], object]], rank: int, output_type: str
) -> None:
    sizes = ({axis: Dim.AUTO for axis in range(rank)}, {0: Dim.AUTO})
    shapes = iter([SIZES[0], *SIZES])

    def arguments() -> tuple[dict[str, tuple[Tensor, Tensor]]]:
        shape = next(shapes)[:rank]
        return ({name: _arguments(shape) for name in programs},)

    agrees_with_eager(
        Together(programs),
        arguments,
        calls=len(SIZES),
        tolerance=0,
        output_type=output_type,
        engine="iree",
        dynamic_shapes=({name: sizes for name in programs},),
    )


def _arguments(shape: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    return torch.randn(shape), torch.randint(0, shape[0], (shape[0],))


OF_KNOWN_SIZES: dict[str, Callable[[Tensor], object]] = {
    "every_other_column": lambda x: x[:, ::2].flip(1),
    "every_other_row": lambda x: x[::2].flip(0),
    "diagonal": lambda x: (x.diagonal().flip(0), x[:, :2].diagonal(-1).flip(-1)),
    "places_of_the_diagonal": lambda x: x.diagonal()[torch.tensor([2, 1])],
    "rolled": lambda x: (x[:, ::3].roll(1, 1), x.diagonal(1).roll(1)),
}


@pytest.mark.share(3)
@pytest.mark.parametrize("output_type", [*DIALECTS, "stablehlo"])
def test_of_known_sizes(output_type: str) -> None:
    agrees_with_eager(
        Together(OF_KNOWN_SIZES),
        lambda: ({name: (torch.randn(3, 5),) for name in OF_KNOWN_SIZES},),
        tolerance=0,
        output_type=output_type,
        engine="iree",
    )


@pytest.mark.share(4)
@pytest.mark.parametrize("output_type", [*DIALECTS, "stablehlo"])
def test_a_column_of_three_dimensions(output_type: str) -> None:
    agrees_with_eager(
        lambda x: (x[:, :, 2].flip(0), x[:, :, 1].flip(1) * x[:, :, 0]),
        lambda: (torch.randn(2, 3, 4),),
        tolerance=0,
        output_type=output_type,
        engine="iree",
    )


@pytest.mark.share(4)
@pytest.mark.parametrize("output_type", [*DIALECTS, "stablehlo"])
def test_a_column_that_is_multiplied(output_type: str) -> None:
    agrees_with_eager(
        lambda x, m: (x[:, 2] @ m, x[:, 1:2].t() @ m, torch.nn.functional.linear(x[:, 0], m)),
        lambda: (torch.randn(3, 8), torch.randn(3, 3)),
        tolerance=1e-5,
        output_type=output_type,
        engine="iree",
    )


def _columns_at(y: Tensor, i: Tensor) -> tuple[Tensor, Tensor]:
    return y[:, 0][i], y[:, 1][i]


OF_COMPUTED: dict[str, Callable[[Tensor, Tensor], object]] = {
    "stacked": lambda x, i: _columns_at(torch.stack([x[:, 0] * 2, x[:, 1] + 1], 1), i),
    "sorted": lambda x, i: _columns_at(x.sort(0).values, i),
    "added_up": lambda x, i: _columns_at(x.cumsum(1), i),
    "written_to": lambda x, i: _columns_at(
        torch.index_put(x, (torch.tensor([1]),), torch.tensor([5.0])), i
    ),
}


@pytest.mark.share(3)
@pytest.mark.parametrize("output_type", [*DIALECTS, "stablehlo"])
def test_columns_of_what_is_computed(output_type: str) -> None:
    """Two columns of one matrix were refused: "unrealized_conversion_cast"."""
    agrees_with_eager(
        Together(OF_COMPUTED),
        lambda: ({name: (torch.randn(6, 2), torch.randint(0, 6, (4,))) for name in OF_COMPUTED},),
        tolerance=0,
        output_type=output_type,
        engine="iree",
    )


def _channel(x: Tensor) -> Tensor:
    """One of three colours, of which the last dimension in memory is made."""
    return torch.matmul(x.permute(0, 2, 3, 1), torch.eye(3) * 2).permute(0, 3, 1, 2)[:, :1]


OF_CHANNELS: dict[str, Callable[[Tensor, Tensor], object]] = {
    "rows": lambda x, i: _channel(x)[:, 0][:, i],
    "windows": lambda x, i: torch.nn.functional.unfold(_channel(x), 4, stride=4),
    "turned": lambda x, i: _channel(x).flip(3),
}


@pytest.mark.share(3)
@pytest.mark.parametrize("output_type", [*DIALECTS, "stablehlo"])
def test_a_channel_of_what_is_computed(output_type: str) -> None:
    """A column of a product is a plane of its transposition, and was refused like a column."""
    agrees_with_eager(
        Together(OF_CHANNELS),
        lambda: (
            {name: (torch.randn(1, 3, 8, 8), torch.randint(0, 8, (4,))) for name in OF_CHANNELS},
        ),
        tolerance=1e-6,
        output_type=output_type,
        engine="iree",
    )


def test_columns_of_positions_that_elements_decide() -> None:
    def program(x: Tensor) -> tuple[Tensor, Tensor]:
        i, j = torch.where(x > 0)
        chosen = i > j
        return i[chosen], j[chosen]

    agrees_with_eager(program, lambda: (torch.randn(4, 5),), tolerance=0, engine="iree")
