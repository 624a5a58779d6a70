"""Positions read from tensors: right within the tensor, an error of ours outside of it, as in eager PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import torch2mlir
from torch2mlir.errors import InputError

DIALECTS = ("stablehlo", "linalg-on-tensors", "tosa")
Program = Callable[..., torch.Tensor]


def _written(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[i.item()] = 7.0
    return y


def _written_at_tensor(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[i] = 7.0
    y[i, 1:] *= 2.0
    return y


def _column_written(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[:, i] = y[:, 0] + 1
    y[..., None, i] = y[1:2, i].exp()
    return y


def _beside_a_mask(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[i, x[0] > 0.5] = 7.0
    y[(x > 2.5)[:, 0], ..., i - 1] += 1.0
    y[i, [2, 0]] *= 2.0
    return y


def _checked(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    n = i.item()
    torch._check(n < 3)
    return x * n


PROGRAMS: dict[str, Program] = {
    "row": lambda x, i: x[i.item()] + 0,
    "row_by_tensor": lambda x, i: x[i] * 2,
    "column": lambda x, i: x.select(-1, i.item()) * 2,
    "computed": lambda x, i: x[i.item() * 2 - 1] + 0,
    "window": lambda x, i: x.narrow(0, i.item(), 2) * 2,
    "window_by_tensor": lambda x, i: torch.narrow(x, 0, i, 2) * 2,
    "written": _written,
    "written_at_tensor": _written_at_tensor,
    "column_written": _column_written,
    "beside_a_mask": _beside_a_mask,
    "beside_positions": lambda x, i: x[i, torch.tensor([2, 0]), None] + x[[0, 2], :][:, i - 1],
    "beside_a_list": lambda x, i: x[None, :, None].expand(2, 4, 3, 3)[:, i, ..., [1, 0, 1]],
    "checked": _checked,
}


def _x() -> torch.Tensor:
    return torch.arange(12.0).reshape(4, 3) + torch.rand(4, 3)


def _agrees(compiled: Program, eager: Program, x: torch.Tensor, place: int) -> bool:
    """Whether eager PyTorch takes the place; the compiled program does or does not as it."""
    i = torch.tensor(place)
    try:
        expected = eager(x, i)
    except (IndexError, RuntimeError):
        with pytest.raises(InputError) as error:
            compiled(x, i)
        assert error.value.location is not None
        assert "test_positions_from_data.py" in error.value.location
        return False
    torch.testing.assert_close(compiled(x, i), expected)
    return True


def _together(arguments: dict[str, tuple[torch.Tensor, torch.Tensor]]) -> dict[str, torch.Tensor]:
    """All programs as one, each with arguments of its own: of this file, which errors are to name."""
    return {name: program(*arguments[name]) for name, program in PROGRAMS.items()}


def _arguments(place: int = 1) -> dict[str, tuple[torch.Tensor, torch.Tensor]]:
    return {name: (_x(), torch.tensor(place)) for name in PROGRAMS}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.share(3)
def test_a_position_outside_of_the_tensor_is_an_error(dialect: str) -> None:
    """Those that take a place are compared in one call; of the others each is alone in refusing it in a call."""
    compiled: Any = torch2mlir.compile(_together, _arguments(), output_type=dialect)
    taken = {name: list[bool]() for name in PROGRAMS}
    for place in (1, -5, 0, -1, 4, 2, 3, -4, 7, 1):
        taking = _arguments()
        for name, program in PROGRAMS.items():
            given = _x(), torch.tensor(place)
            taken[name].append(_takes(program, *given))
            if taken[name][-1]:
                taking[name] = given
                continue
            try:
                compiled(_arguments() | {name: given})
            except InputError as error:
                assert "test_positions_from_data.py" in (error.location or ""), name
            else:
                pytest.fail(f"{name} takes {place}")
        torch.testing.assert_close(compiled(taking), _together(taking))
    for name, answers in taken.items():
        assert set(answers) == {True, False}, name


def _takes(program: Program, x: torch.Tensor, i: torch.Tensor) -> bool:
    try:
        program(x, i)
    except (IndexError, RuntimeError):
        return False
    return True


class Ring(torch.nn.Module):
    """The last rows it was given, by a state that counts."""

    rows: torch.Tensor
    count: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("rows", torch.zeros(4, 3))
        self.register_buffer("count", torch.tensor(0))

    def forward(self, *rows: torch.Tensor) -> torch.Tensor:
        for row in rows:
            self.rows[self.count % 4] = row
            self.count += 1
        return self.rows.sum(0) / self.count.clamp(max=4) + self.rows[(self.count - 1) % 4]


@pytest.mark.share(4)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_ring_buffer_is_written_at_the_place_that_its_state_says(dialect: str) -> None:
    ring, eager = Ring(), Ring()
    compiled = torch2mlir.compile(ring, torch.ones(3), torch.ones(3), output_type=dialect)
    for _ in range(4):
        rows = torch.randn(3), torch.randn(3)
        torch.testing.assert_close(compiled(*rows), eager(*rows))
        torch.testing.assert_close(ring.rows, eager.rows)
        assert ring.count == eager.count


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.share(2)
def test_a_position_outside_of_a_size_that_varies_is_an_error(dialect: str) -> None:
    eager = PROGRAMS["row"]
    shapes = ({0: torch.export.Dim("rows", min=2, max=9)}, None)
    compiled = torch2mlir.compile(
        eager, _x(), torch.tensor(1), output_type=dialect, dynamic_shapes=shapes
    )
    for rows in (4, 2, 9):
        x = torch.rand(rows, 3)
        taken = [
            _agrees(compiled, eager, x, place) for place in (0, rows - 1, rows, -rows, -rows - 1)
        ]
        assert taken == [True, True, False, True, False]


class _OfRow(torch.nn.Module):
    """A position in a branch and in a loop, scripted."""

    def forward(self, x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        total = torch.zeros(3)
        if i.sum().item() > 0:
            total = total + x[int(i[0].item())]
        for turn in range(i.shape[0]):
            total = total + x[int(i[turn].item())]
        return total


@pytest.mark.share(4)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_positions_in_branches_and_loops_are_checked(dialect: str) -> None:
    model = _OfRow()
    x = _x()
    compiled: Any = torch2mlir.compile(
        torch.jit.script(model), x, torch.tensor([1, 2, 0]), output_type=dialect
    )
    for places in ([1, 2, 0], [3, 0, -1], [0, 0, -4]):
        torch.testing.assert_close(
            compiled(x, torch.tensor(places)), model(x, torch.tensor(places))
        )
    for places in ([4, 0, 1], [1, 4, 0], [0, 1, -5], [-9, 0, 0]):
        with pytest.raises(InputError, match="outside of the dimension"):
            compiled(x, torch.tensor(places))


@pytest.mark.share(4)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_torch_compile_checks_positions(dialect: str) -> None:
    def select(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        return x[i.item()] * 2

    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        compiled = torch.compile(
            select, backend="torch2mlir", fullgraph=True, options={"output_type": dialect}
        )
        x = _x()
        for place in (0, 3, -1):
            torch.testing.assert_close(compiled(x, torch.tensor(place)), x[place] * 2)
        for place in (4, -5):
            with pytest.raises((InputError, IndexError, RuntimeError)):
                compiled(x, torch.tensor(place))
        torch.testing.assert_close(compiled(x, torch.tensor(2)), x[2] * 2)


def test_an_artefact_checks_positions(tmp_path: Any) -> None:
    eager = PROGRAMS["row"]
    compiled = torch2mlir.compile(eager, _x(), torch.tensor(1))
    torch2mlir.save(compiled, tmp_path / "artefact")
    loaded: Any = torch2mlir.load(tmp_path / "artefact")
    assert _agrees(loaded, eager, _x(), 3)
    assert not _agrees(loaded, eager, _x(), 4)
    assert _agrees(loaded, eager, _x(), -2)
