"""Inputs that lie in memory in many ways, of programs that read memory by strides."""

from __future__ import annotations

import pytest
import torch

import torch2mlir
from torch2mlir.errors import CaptureError, InputError

TARGETS = [("stablehlo", "xla"), ("linalg-on-tensors", "iree"), ("tosa", "iree")]
LAYOUTS = {
    "transposed": lambda: torch.randn(5, 4).t(),
    "with_gaps": lambda: torch.randn(4, 8)[:, ::2],
    "in_the_middle": lambda: torch.randn(6, 4)[2:],
    "channels_last": lambda: torch.randn(1, 2, 4, 4).to(memory_format=torch.channels_last),
}


@pytest.mark.parametrize("output_type, engine", TARGETS)
@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.share(12)
def test_inputs_are_read_as_they_lie(name: str, output_type: str, engine: str) -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return x.as_strided((2, 2), (4, 2))

    compiled = torch2mlir.compile(program, LAYOUTS[name](), output_type=output_type, engine=engine)
    for _ in range(3):
        x = LAYOUTS[name]()
        assert torch.equal(compiled(x), program(x))


def test_another_layout_than_at_capture_is_refused() -> None:
    compiled = torch2mlir.compile(lambda x: (x + 1).as_strided((2, 2), (2, 1)), torch.ones(4, 4))
    with pytest.raises(InputError, match=r"input 'x' has the strides \[1, 4\], and \[4, 1\]"):
        compiled(torch.ones(4, 4).t())
    compiled = torch2mlir.compile(lambda x: x.as_strided((2, 2), (2, 1), 1), torch.ones(4, 4))
    with pytest.raises(InputError, match="starts at place 4 of its storage"):
        compiled(torch.ones(5, 4)[1:])


def test_elements_that_the_program_does_not_have_are_refused() -> None:
    with pytest.raises(CaptureError, match="reads elements that the tensor does not have"):
        torch2mlir.compile(lambda x: x.as_strided((2, 2), (9, 9)), torch.ones(4, 4)[:2])
