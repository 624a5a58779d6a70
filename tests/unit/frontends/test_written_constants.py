"""Numbers of tensors that a model makes of numbers and writes to through a view, a list or ``.data``."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim

import torch2mlir
from torch2mlir.errors import CaptureError
from torch2mlir.frontends.fx.exported import import_graph_module

TARGET = {"output_type": "linalg-on-tensors", "engine": "reference"}


def _by_a_view(x: Tensor) -> Tensor:
    t = torch.tensor(3.0)
    t.view(1)[0] = x.sum()
    return x * t.item()


def _by_a_slice(x: Tensor) -> Tensor:
    t = torch.tensor([3.0])
    t[:1].copy_(x.sum()[None])
    return x * float(t)


def _by_itself(x: Tensor) -> Tensor:
    t = torch.tensor([3.0])
    v = t.view(1)
    t.add_(x.sum())
    return x * v.item()


def _by_a_list(x: Tensor) -> Tensor:
    t = torch.tensor(3.0)
    torch._foreach_add_([t], [x.sum()])
    return x * t.item()


def _by_a_list_read_as_an_integer(x: Tensor) -> Tensor:
    t = torch.tensor([1.0]) * 2
    torch._foreach_add_([t], [(x > 1).sum().to(torch.float32)])
    return x * int(t[0])


def _by_its_data(x: Tensor) -> Tensor:
    t = torch.tensor(3.0)
    t.data.add_(x.sum())
    return x * t.item()


def _to_what_is_computed(x: Tensor) -> Tensor:
    t = torch.tensor([3.0])
    u = t * 2
    u[:].add_(x.sum())
    return x * u.item() + t.item()


def _by_a_number_of_the_program(x: Tensor) -> Tensor:
    """Its product with such a number was 0."""
    t = torch.tensor(2.0)
    u = torch.tensor(3.0)
    u.mul_(x.sum().item())
    return x * (t * x.sum().item()).item() + u.item()


def _by_a_number_beside_a_write(x: Tensor) -> Tensor:
    """PyTorch's functionalization made NaN of it."""
    t = x * 2
    t[:1].fill_(x[0].sum())
    u = torch.tensor(3) + t.flatten().tolist()[0]
    return x * (u - u.clone().flatten()[0].item() + 1)


def _read_before_and_after(x: Tensor) -> Tensor:
    t = torch.tensor([3.0])
    v = t.view(1)
    v.add_(1)
    number = t.item()
    v.mul_(x.sum())
    return x * number + t.item()


def _of_several(x: Tensor) -> Tensor:
    t = torch.arange(4)
    t.view(2, 2)[0, 1] = x.sum().long()
    return x.sum(dim=torch.arange(1, x.dim()).tolist()) * t.tolist()[1]


def _of_several_read_by_a_view(x: Tensor) -> Tensor:
    t = torch.tensor([0, 1, 2, 3])
    v = t.view(2, 2)
    t[1] = x.sum().long()
    return x.sum(dim=torch.tensor([1]).tolist()) * v[0].tolist()[1]


PROGRAMS = (
    *(_by_a_view, _by_a_slice, _by_itself, _by_a_list, _by_a_list_read_as_an_integer, _by_its_data),
    *(_by_a_number_of_the_program, _by_a_number_beside_a_write, _to_what_is_computed),
    *(_read_before_and_after, _of_several, _of_several_read_by_a_view),
)


@pytest.mark.share(4)
@pytest.mark.parametrize("function", PROGRAMS)
def test_they_are_computed(function: Callable[[Tensor], Tensor]) -> None:
    """``torch.export.export`` goes on with the first number."""
    compiled = torch2mlir.compile(function, torch.rand(4, 3) * 5, **TARGET)
    for _ in range(3):
        x = torch.rand(4, 3) * 5
        torch.testing.assert_close(compiled(x), function(x))


def test_views_of_sizes_that_vary() -> None:
    def function(x: Tensor) -> Tensor:
        t = torch.tensor([3.0])
        t[: x.shape[0]].add_(x.sum())
        t[None, : x.shape[0]].mul_(2)
        return x * t.item()

    compiled = torch2mlir.compile(
        function, torch.rand(4, 3), dynamic_shapes=({0: Dim.DYNAMIC},), **TARGET
    )
    for size in (4, 2, 7):
        x = torch.rand(size, 3)
        torch.testing.assert_close(compiled(x), function(x))


def test_numbers_that_nothing_of_the_input_is_written_to() -> None:
    def function(x: Tensor) -> Tensor:
        t = torch.tensor([0])
        t.view(1).add_(2)
        return x[:, : t.item()]  # type: ignore[misc]

    compiled = torch2mlir.compile(function, torch.rand(4, 3), output_type="stablehlo", engine="xla")
    for _ in range(3):
        assert compiled(torch.rand(4, 3)).shape == (4, 2)


class Data(nn.Module):
    """State of all kinds, changed and read by ``.data``."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))
        self.weight = nn.Parameter(torch.ones(3))
        self.plain = torch.ones(3)

    def forward(self, x: Tensor) -> Tensor:
        self.mean.data.copy_(self.mean.data * 0.9 + x * 0.1)  # type: ignore[operator,union-attr]
        self.weight.data[0] = x.sum()
        self.plain.data.mul_(2)
        y = x + 1
        y.data.add_(self.mean.data)  # type: ignore[arg-type]
        return y * self.weight.data * self.plain


def test_data_is_a_view() -> None:
    """``.data`` of anything was refused: PyTorch's capture takes what it gives for a constant."""
    model, eager, x = Data(), Data(), torch.rand(3)
    compiled = torch2mlir.compile(model, x, **TARGET)
    for _ in range(3):
        x = torch.rand(3)
        with torch.no_grad():
            torch.testing.assert_close(compiled(x), eager(x))
        for name in ("mean", "weight", "plain"):
            torch.testing.assert_close(getattr(model, name), getattr(eager, name))


def _other_data(x: Tensor) -> Tensor:
    t = torch.ones(3)
    t.data = x[0]
    return x * t


class Calls(nn.Module):
    """Calls a function."""

    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x)


def test_other_memory_is_refused() -> None:
    """Of ``t.data = x[0]`` PyTorch's capture kept the question whether it may be, and ones."""
    with pytest.raises(CaptureError, match=r"other memory[\s\S]*copy_"):
        torch2mlir.compile(_other_data, torch.rand(4, 3), **TARGET)
    with pytest.raises(CaptureError, match="other memory"):
        import_graph_module(
            torch.export.export(Calls(_other_data), (torch.rand(4, 3),)).graph_module
        )
    optimized, x = (
        torch2mlir.optimize(_other_data, model_inputs=(torch.ones(4, 3),)),
        torch.rand(4, 3),
    )
    torch.testing.assert_close(optimized(x), _other_data(x))


def test_an_operator_that_writes_to_a_list() -> None:
    """PyTorch's functionalization went on with the number of before."""

    @torch.library.custom_op("torch2mlir_written::add", mutates_args=("into",))
    def add(into: list[Tensor], x: Tensor) -> None:
        into[0].add_(x.sum())

    add.register_fake(lambda into, x: None)

    def function(x: Tensor) -> Tensor:
        t = torch.tensor(3.0)
        add([t], x)
        return x * t.item()

    with pytest.raises(CaptureError, match=r"written\.add.*writes to its arguments"):
        torch2mlir.compile(function, torch.rand(4, 3), **TARGET)
    optimized = torch2mlir.optimize(deepcopy(function), model_inputs=(torch.rand(4, 3),))
    for _ in range(2):
        x = torch.rand(4, 3)
        torch.testing.assert_close(optimized(x), function(x))
