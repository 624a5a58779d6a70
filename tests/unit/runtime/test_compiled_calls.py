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
