"""Sums of products with a row or a column that is repeated, of sizes that IREE's contractions do not divide."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from repeated_calls import Together
from torch.export import Dim

import torch2mlir

Function = Callable[..., torch.Tensor]

PROGRAMS: dict[str, tuple[Function, tuple[tuple[int, ...], ...]]] = {
    "row": (lambda x, w: (x * w).sum(), ((3, 4), (4,))),
    "column": (lambda x, w: (x * w).sum(), ((3, 4), (3, 1))),
    "first": (lambda x, w: (w * x).mean(), ((5, 7), (7,))),
    "line of three dimensions": (lambda x, w: (x * w).sum(), ((2, 3, 5), (5,))),
    "matrix": (lambda x, w: (x * w).sum(), ((2, 3, 5), (3, 5))),
    "kept between": (lambda x, w: (x * w).sum((0, 2)), ((2, 3, 5), (5,))),
    "channels": (lambda x, w: (x * w.view(1, -1, 1, 1)).mean((0, 1)), ((2, 3, 5, 5), (3,))),
    "mask": (lambda x, w: (x * w[..., None]).sum((0, 1)) / w.sum(), ((2, 5, 3), (2, 5))),
    "computed": (lambda x, w: (x.exp() * w.exp()).sum(), ((3, 5), (5,))),
    "twice": (lambda x, w: (x * w).sum() * w.sum() + (x * w).amax(), ((3, 5), (5,))),
    "squares": (lambda x, w: (w * (x - x.mean()) ** 2).mean(), ((7, 9), (9,))),
    "large": (lambda x, w: (x * w).sum(), ((16, 256), (256,))),
}


@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "stablehlo", "tosa"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.share(4)
def test_of_known_sizes(output_type: str, dtype: torch.dtype) -> None:
    if output_type == "tosa" and dtype is torch.float64:
        pytest.skip("TOSA has no 64-bit floats")
    functions = {name: function for name, (function, _) in PROGRAMS.items()}

    def drawn() -> dict[str, tuple[torch.Tensor, ...]]:
        return {
            name: tuple(torch.randn(shape, dtype=dtype) for shape in shapes)
            for name, (_, shapes) in PROGRAMS.items()
        }

    together = Together(functions)
    compiled = torch2mlir.compile(together, drawn(), output_type=output_type, engine="iree")
    for _ in range(3):
        given = drawn()
        torch.testing.assert_close(compiled(given), together(given), rtol=1e-5, atol=1e-5)


def test_of_unknown_sizes() -> None:
    rows, columns = Dim("rows"), Dim("columns")
    example = (torch.randn(3, 5), torch.randn(5))
    compiled = torch2mlir.compile(
        lambda x, w: (x * w).sum(),
        *example,
        engine="iree",
        dynamic_shapes=({0: rows, 1: columns}, {0: columns}),
    )
    for shape in ((3, 5), (2, 7), (16, 32)):
        x, w = torch.randn(shape), torch.randn(shape[1])
        torch.testing.assert_close(compiled(x, w), (x * w).sum(), rtol=1e-5, atol=1e-5)
