"""How a compiled function takes its arguments."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

import torch2mlir
from torch2mlir.errors import InputError


class Named(nn.Module):
    """Takes tensors by position and by name."""

    def forward(self, x: torch.Tensor, *, b: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
        return x + 2 * b - a


def test_names_may_come_in_any_order_but_not_be_others() -> None:
    x, a, b = torch.rand(3, 3).unbind()
    run = torch2mlir.compile(
        Named(), x, b=b, a=a, engine="reference", output_type="linalg-on-tensors"
    )
    torch.testing.assert_close(run(x, a=a, b=b), x + 2 * b - a)
    torch.testing.assert_close(run(x, b=b, a=a), x + 2 * b - a)
    wrong: list[dict[str, Any]] = [{"b": b}, {"b": b, "c": a}, {"a": a, "b": 2.0}]
    for arguments in wrong:
        with pytest.raises(InputError):
            run(x, **arguments)


@pytest.mark.parametrize("container", [tuple, list])
def test_results_keep_their_container_and_dtypes(container: type) -> None:
    def function(x: torch.Tensor) -> Any:
        return container([x.to(torch.uint8), x > 1, x * 2])

    run = torch2mlir.compile(function, torch.zeros(3))
    for x in (torch.arange(3.0), torch.ones(3), torch.full((3,), 200.0)):
        got, expected = run(x), function(x)
        assert type(got) is container
        assert all(torch.equal(a, b) and a.dtype is b.dtype for a, b in zip(got, expected))


def test_sizes_that_were_right_once_do_not_excuse_others() -> None:
    batch = torch.export.Dim("batch", min=2, max=8)
    x = torch.rand(3, 4)
    run = torch2mlir.compile(lambda x: x.sum(1), x, dynamic_shapes=({0: batch},))
    for rows in (3, 2, 3, 8):
        value = torch.rand(rows, 4)
        torch.testing.assert_close(run(value), value.sum(1))
        for wrong in (torch.rand(9, 4), torch.rand(3, 5), value.double(), value[0]):
            with pytest.raises(InputError):
                run(wrong)
