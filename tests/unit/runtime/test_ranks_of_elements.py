"""One element beside a neutral one of more dimensions: OpenVINO took its rank for that of the result."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from repeated_calls import agrees_with_eager
from torch.export import Dim

PROGRAMS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "added": lambda x: x.sum() + torch.zeros(1, 1, 1),
    "multiplied": lambda x: torch.ones(1, 1) * x.sum(),
    "divided": lambda x: x.sum() / torch.ones(1, 1),
    "subtracted": lambda x: x.amax(0, keepdim=True) - torch.zeros(1, 1),
    "chosen": lambda x: torch.where(torch.ones(1, 1, dtype=torch.bool), x.sum(), 2.0),
    "read_by_others": lambda x: (x.sum() + torch.zeros(1, 1)) * x,
    "summed": lambda x: ((x.sum() + torch.zeros(1, 1)) * x).sum(0) + x,
    "concatenated": lambda x: torch.cat([(x.sum() + torch.zeros(1, 1)) * x, x[None]]),
}


@pytest.mark.parametrize("engine", ["onnxruntime", "openvino"])
def test_an_argument_of_rank_0_gets_dimensions(engine: str) -> None:
    pytest.importorskip(engine)
    agrees_with_eager(
        lambda x: (x * torch.ones(1, 1)) @ torch.ones(1, 3),
        lambda: (torch.randn(()),),
        engine=engine,
        output_type="onnx",
    )


@pytest.mark.share(4)
@pytest.mark.parametrize("engine", ["onnxruntime", "openvino"])
@pytest.mark.parametrize("length", ["fixed", "any"])
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_an_element_gets_dimensions(
    program: Callable[[torch.Tensor], torch.Tensor], length: str, engine: str
) -> None:
    pytest.importorskip(engine)
    sizes = ({0: Dim("n", min=2, max=9)},) if length == "any" else None
    agrees_with_eager(
        program, lambda: (torch.randn(4),), engine=engine, output_type="onnx", dynamic_shapes=sizes
    )
