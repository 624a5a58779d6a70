"""Reads and writes by strides, of tensors that lie in memory in every way a program can make."""

from __future__ import annotations

from typing import Any

import torch

from tests.e2e.registry import case, f32

aten = torch.ops.aten
X = f32(4, 4)


def _strided(view: Any, offset: int | None = 1, stride: tuple[int, int] = (2, 1)) -> Any:
    """A program that reads four elements of a view of its input."""
    return lambda x: view(x).as_strided((2, 2), stride, offset)


OF_VIEWS = {
    "alias": lambda x: aten.alias(x[1:]),
    "detach": lambda x: x[1:].detach(),
    "slice": lambda x: x[1:],
    "transposed": lambda x: x.t(),
    "expanded": lambda x: x[1:].expand(3, 3, 4),
    "nested": lambda x: x[1:, 1:].t()[1:],
    "split": lambda x: x.split(2)[1],
    "unbound": lambda x: x.unbind(1)[2],
    "reshaped": lambda x: x.reshape(2, 8)[1],
    "reshaped_copy": lambda x: x.t().reshape(2, 8)[1],
    "sum_of_transposed": lambda x: x.t() + 1,
    "clone_of_transposed": lambda x: x.t().clone(),
    "contiguous": lambda x: x.t().contiguous(),
    "strided": lambda x: x[1:].as_strided((2, 3), (1, 4)),
    "unsafe_view": lambda x: aten._unsafe_view(x[1:], [12]),
}
for _name, _view in OF_VIEWS.items():
    case(f"as_strided_of_{_name}", _strided(_view, 5), X)
    case(f"as_strided_of_{_name}_from_its_start", _strided(_view, None, (1, 2)), X)

case(
    "as_strided_dynamic",
    lambda x: (x.t() + 1).as_strided((2, x.shape[0]), (1, 4)),
    f32("B", 4),
)
case("as_strided_from_a_size", lambda x: x[2:].as_strided((2, 2), (2, 1)), f32("H", 4))


def _after_a_write_through_a_view(x: torch.Tensor) -> torch.Tensor:
    base = x + 1
    view = base[1:]
    view.add_(1)
    return view.as_strided((2, 2), (4, 1), 2)


def _after_a_write_of_the_base(x: torch.Tensor) -> Any:
    base = x.t() + 1
    view = base[1:]
    base.mul_(3)
    return view.as_strided((2, 2), (4, 1), 2), base


def _written(x: torch.Tensor) -> Any:
    base = x.t().clone()
    base.as_strided((2, 2), (2, 1), 1).mul_(2)
    return base


case("as_strided_after_a_write_through_a_view", _after_a_write_through_a_view, X)
case("as_strided_after_a_write_of_the_base", _after_a_write_of_the_base, X)
case("as_strided_written", _written, X)
case(
    "as_strided_scatter_of_transposed",
    lambda x, y: torch.as_strided_scatter(x.t(), y, (2, 2), (2, 1), 1),
    X,
    f32(2, 2),
)
