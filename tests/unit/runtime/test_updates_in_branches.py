"""What a branch updates, and others read behind it: IREE updated it where it lies (see docs/engines.md)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from repeated_calls import Together, agrees_with_eager
from torch import Tensor
from torch.export import Dim

FIRST = torch.tensor([0])
Update = Callable[[Tensor, Tensor], Tensor]
UPDATES: dict[str, Update] = {
    "index_copy": lambda p, q: q.index_copy(0, FIRST, p[-1:]),
    "index_add": lambda p, q: q.index_add(0, FIRST, p[-1:]),
    "index_put": lambda p, q: q.index_put((FIRST,), p[:1]),
    "scatter": lambda p, q: q.scatter(0, FIRST, p[:1]),
    "slice_scatter": lambda p, q: q.slice_scatter(p[:1], 0, 0, 1),
}


def _program(update: Update) -> Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]:
    def program(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        is_zero = (y == 0).all()
        q = x + 1
        return q, torch.cond(is_zero, lambda p, q: q - p, update, (x, q)) * 2

    return program


@pytest.mark.share(4)
@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo"])
@pytest.mark.parametrize("size", [1, 3, None])
def test_it_is_as_it_was(output_type: str, size: int | None) -> None:
    if size is None and output_type == "stablehlo":
        pytest.skip("IREE takes no branches with StableHLO of unknown sizes")
    together = Together({name: _program(update) for name, update in UPDATES.items()})

    def arguments() -> tuple[dict[str, tuple[Tensor, Tensor]]]:
        count = size or int(torch.randint(1, 5, ()))
        pair = lambda: (torch.randn(count), torch.full((count,), float(torch.randint(2, ()))))  # noqa: E731
        return ({name: pair() for name in UPDATES},)

    sizes = ({name: ({0: Dim.AUTO}, {0: Dim.AUTO}) for name in UPDATES},) if size is None else None
    agrees_with_eager(
        together, arguments, calls=6, output_type=output_type, engine="iree", dynamic_shapes=sizes
    )
