"""Sizes that vary where a dialect has attributes: a clear refusal, or what eager mode computes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.export import Dim
from torch.nn import functional

import torch2mlir
from torch2mlir.errors import UnsupportedOpError

WEIGHT = torch.rand(3, 4, 2, 2)
PROGRAMS: dict[str, Callable[[Tensor], Tensor]] = {
    "stride": lambda x: functional.conv2d(x, WEIGHT, stride=(x.shape[2], 1)),
    "padding": lambda x: functional.conv2d(x, WEIGHT, padding=(x.shape[2], 1)),
    "dilation": lambda x: functional.conv2d(x, WEIGHT, dilation=(x.shape[2] - 1, 1)),
    "transposed": lambda x: functional.conv_transpose2d(
        x, WEIGHT.movedim(0, 1), stride=(x.shape[2], 1)
    ),
    "slope": lambda x: functional.leaky_relu(x - 0.5, x.shape[2]),
}


@pytest.mark.share(4)
@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo", "onnx"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_an_argument_that_varies(name: str, output_type: str) -> None:
    program, shapes = PROGRAMS[name], ({2: Dim.AUTO},)

    def sized(size: int) -> Tensor:
        return torch.rand(2, 4, size, 6)

    try:
        torch2mlir.export_and_import(
            program, sized(4), output_type=output_type, dynamic_shapes=shapes
        )
    except UnsupportedOpError as error:
        assert "constant" in error.message and error.hint and error.location
        return
    compiled = torch2mlir.compile(program, sized(4), output_type=output_type, dynamic_shapes=shapes)
    for size in (4, 7, 5):
        x = sized(size)
        torch.testing.assert_close(compiled(x), program(x))


@pytest.mark.parametrize("output_type", ["tosa", "stablehlo", "onnx"])
def test_groups_that_vary_are_refused(output_type: str) -> None:
    def convolved(x: Tensor, kernels: Tensor) -> Tensor:
        return functional.conv2d(x, kernels, groups=kernels.shape[0])

    batch = Dim("batch", min=1, max=8)
    with pytest.raises(UnsupportedOpError, match="constant"):
        torch2mlir.export_and_import(
            convolved,
            torch.randn(2, 3, 9, 11),
            torch.randn(3, 1, 3, 5),
            output_type=output_type,
            dynamic_shapes=({1: batch}, {0: batch}),
        )
