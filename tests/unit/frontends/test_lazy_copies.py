"""On the lazy device, too, a view is copied where its strides in eager mode allow no view."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from torch2mlir import lazy

VIEWS: dict[str, Callable[[Tensor], Tensor]] = {
    "itself": lambda x: x,
    "rows": lambda x: x[1:],
    "column": lambda x: x[:, 0],
    "every_second": lambda x: x[:, ::2],
    "transposed": lambda x: x.transpose(0, 2),
    "part": lambda x: x.split([1, 3], 2)[1],
    "diagonal": lambda x: x.diagonal(0, 1, 2),
    "matrix": lambda x: x.view(6, 4).t(),
    "detached": lambda x: x.mT.detach()[:, 1:],
    "turned_back": lambda x: x.mT.detach().detach().mT,
}
MAY_COPY: dict[str, Callable[[Tensor], Tensor]] = {
    "contiguous": lambda x: x.contiguous(),
    "flatten": lambda x: torch.flatten(input=x),
    "reshape_as": lambda x: x.reshape_as(torch.ones_like(x)),
    "to": lambda x: x.to(memory_format=torch.contiguous_format),
    "to_dtype": lambda x: x.to(torch.float32, memory_format=torch.contiguous_format),
    "channels_last": lambda x: x[(None,) * (4 - x.dim())].contiguous(
        memory_format=torch.channels_last
    ),
}


def written(x: Tensor) -> list[Tensor]:
    """Two tensors for each view and function, after a write to one of them or to the other."""
    found = list[Tensor]()
    for view in VIEWS.values():
        for may_copy in MAY_COPY.values():
            source = x + 1
            result = may_copy(view(source))
            result.add_(100)
            found += [source + 0, result + 0]
            source.mul_(2)
            found += [source, result]
    return found


def test_writes_reach_what_they_reach_in_eager_mode() -> None:
    for start in (0, 7, -3):
        x = torch.arange(24.0).view(2, 3, 4) + start
        with lazy.device(engine="xla") as device:
            found = [tensor.cpu() for tensor in written(x.to(device))]
        torch.testing.assert_close(found, written(x))


@pytest.mark.parametrize("turn", [lambda x: x.t(), lambda x: x])
def test_gradients_go_through_the_copy(turn: Callable[[Tensor], Tensor]) -> None:
    def gradient(x: Tensor) -> Tensor:
        x.requires_grad_()
        y = turn(x * 2).contiguous()
        y.mul_(x.detach().clone())
        y.sum().backward()
        assert x.grad is not None
        return x.grad

    x = torch.arange(9.0).view(3, 3)
    with lazy.device(engine="xla") as device:
        found = gradient(x.clone().to(device)).cpu()
    torch.testing.assert_close(found, gradient(x.clone()))
