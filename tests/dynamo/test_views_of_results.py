"""Results of torch.compile that are views: eager's elements, sharing memory as eager's do, at sizes that change."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from tests.dynamo.agreement import compiled

VIEWS: dict[str, Callable[[Tensor], Tensor]] = {
    "from the middle": lambda x: x[x.shape[0] // 2 :],
    "corner": lambda x: x[x.shape[0] // 2 :, x.shape[1] // 2 :],
    "column": lambda x: x[:, x.shape[1] // 2],
    "last row": lambda x: x[x.shape[0] - 1],
    "half of the columns": lambda x: x.chunk(2, 1)[1],
    "rows of a split": lambda x: x.split([x.shape[0] - 2, 2])[1],
    "diagonal": lambda x: x.diagonal(1),
    "transposed part": lambda x: x.T[x.shape[1] // 2 :],
    "flat part": lambda x: x.view(-1)[x.shape[0] :],
    "window": lambda x: x.unfold(0, 2, 2)[1],
    "row of columns": lambda x: x.unbind(1)[2],
}


def _all(x: Tensor) -> list[Tensor]:
    return [view(x) for view in VIEWS.values()]


@pytest.mark.parametrize("is_trained", [False, True])
@pytest.mark.parametrize(
    "program",
    [
        _all,
        lambda x: (y := x * 2, *_all(y)),
        lambda x: _all(x * 2),
        lambda x: _all(x.add_(1)),
    ],
    ids=["of an argument", "of a result", "of what is no result", "of a written argument"],
)
@pytest.mark.share(8)
def test_views_at_sizes_that_change(
    program: Callable[[Tensor], list[Tensor]], is_trained: bool
) -> None:
    other = compiled(program, dynamic=True)
    for shape in ((6, 8), (9, 12), (4, 4)):
        x = torch.randn(shape)
        ours, theirs = (x.clone().requires_grad_(is_trained) for _ in range(2))
        if is_trained:  # an argument that is written to must not be a leaf
            ours, theirs = ours * 1, theirs * 1
        found, expected = other(ours), program(theirs)
        for name, a, b in zip(reversed(VIEWS), reversed(found), reversed(expected), strict=False):
            assert torch.equal(a, b), (name, shape)
        assert _shared(found) == _shared(expected)
        with torch.no_grad():  # seen by whom it is seen in eager
            found[0].mul_(3)
            expected[0].mul_(3)
        for a, b in zip(found, expected, strict=True):
            assert torch.equal(a, b), shape


def _shared(tensors: list[Tensor]) -> list[bool]:
    """Which of the tensors lie in one memory."""
    memory = [tensor.untyped_storage().data_ptr() for tensor in tensors]
    return [one == other for one in memory for other in memory]
