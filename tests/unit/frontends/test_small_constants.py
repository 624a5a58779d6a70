"""Elements of tensors that depend on no input, asked for as Python numbers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim

import torch2mlir
from torch2mlir.errors import CaptureError

TARGET = {"output_type": "linalg-on-tensors", "engine": "reference"}


def _changed(x: Tensor) -> Tensor:
    places = torch.arange(4)
    places[1] = 2
    return x.sum(places.tolist()[1])


def _written_from_an_input(x: Tensor) -> Tensor:
    numbers = torch.arange(4)
    numbers[0] = x.sum().long()
    return x * numbers.tolist()[0] + numbers.tolist()[3]


def _sorted(x: Tensor) -> Tensor:
    times = torch.linspace(0, 1, 4)
    if len(times) > 1 and times[0] > times[1]:
        return x
    return x * 2


PROGRAMS: dict[str, Callable[[Tensor], Tensor]] = {
    "list of a literal": lambda x: x.sum(dim=torch.tensor([1, 2]).tolist()),
    "list of a range": lambda x: x.sum(dim=torch.arange(1, x.dim()).tolist()),
    "computed": lambda x: x.permute(torch.arange(3).flip(0).tolist()),
    "number": lambda x: x[:, :: torch.tensor([2, 1]).prod().item()],  # type: ignore[misc]
    "element": lambda x: x.select(2, int(torch.full((3,), 2)[1])),
    "written": _changed,
    "written from an input": _written_from_an_input,
    "compared": _sorted,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_they_are_numbers(name: str) -> None:
    function = PROGRAMS[name]
    compiled = torch2mlir.compile(function, torch.rand(2, 3, 4), **TARGET)
    for _ in range(3):
        x = torch.rand(2, 3, 4) * 5
        torch.testing.assert_close(compiled(x), function(x))


def test_sizes_go_on_varying() -> None:
    def function(x: Tensor) -> tuple[Tensor, Tensor]:
        return x.sum(dim=torch.arange(1, x.dim()).tolist()), torch.arange(x.shape[0]) * 2

    compiled = torch2mlir.compile(
        function, torch.rand(3, 4, 5), dynamic_shapes=({0: Dim.DYNAMIC},), **TARGET
    )
    for size in (3, 1, 7):
        x = torch.rand(size, 4, 5)
        torch.testing.assert_close(compiled(x), function(x))


class Holds(nn.Module):
    """A buffer, which may be another at each call, and a tensor that is none."""

    dims: Tensor

    def __init__(self, is_buffer: bool) -> None:
        super().__init__()
        self.register_buffer("dims", torch.tensor([1, 2])) if is_buffer else None
        if not is_buffer:
            self.dims = torch.tensor([1, 2])

    def forward(self, x: Tensor) -> Tensor:
        return x.sum(dim=self.dims.tolist())


def test_state_is_no_constant() -> None:
    with pytest.raises(CaptureError):
        torch2mlir.compile(Holds(is_buffer=True), torch.rand(2, 3, 4), **TARGET)
    model, x = Holds(is_buffer=False), torch.rand(2, 3, 4)
    compiled = torch2mlir.compile(model, x, **TARGET)
    torch.testing.assert_close(compiled(x), model(x))
    model.dims.copy_(torch.tensor([0, 1]))
    with pytest.warns(UserWarning, match="has been written"):
        compiled(x)


def test_random_numbers_are_drawn_anew() -> None:
    def function(x: Tensor) -> Tensor:
        return x * torch.rand(3).tolist()[0] * torch.tensor([1, 2]).tolist()[1]

    compiled = torch2mlir.compile(function, torch.ones(2), **TARGET)
    assert len({compiled(torch.ones(2))[0].item() for _ in range(3)}) == 3
