"""Lists of parts of a tensor whose sizes vary, on every dialect, and the programs for other numbers of parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.export import Dim

import torch2mlir
from tests.e2e.agreement import assert_agrees

ENGINES = {
    "stablehlo": "xla",
    "linalg-on-tensors": "iree",
    "tosa": "iree",
    "onnx": "onnxruntime",
}


def _reversed(parts: Sequence[Tensor], dim: int = 0) -> Tensor:
    return torch.cat([part * (1 + number) for number, part in enumerate(parts)][::-1], dim)


PROGRAMS: dict[str, Callable[[Tensor], Any]] = {
    "chunk": lambda x: _reversed(x.chunk(3)),
    "chunk_of_columns": lambda x: _reversed(x.mT.chunk(4, -1), -1),
    "split_in_halves": lambda x: x.split((x.shape[0] + 1) // 2),
    "split_with_sizes": lambda x: x.split_with_sizes([2, x.shape[0] - 3, 1]),
    "tensor_split": lambda x: torch.tensor_split(x, 2),
    "tensor_split_at_places": lambda x: x.tensor_split((1, x.shape[0] // 2)),
    "unsafe_chunk": lambda x: _reversed(x.unsafe_chunk(3)),
    "parts_of_sums": lambda x: _reversed((x.cumsum(0) + 1).chunk(3)),
}


@pytest.mark.parametrize("dialect", ENGINES)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.share(32)
def test_parts_of_sizes_that_vary(name: str, dialect: str) -> None:
    program = PROGRAMS[name]
    ours = torch2mlir.compile(
        program, torch.randn(8, 3), output_type=dialect, dynamic_shapes=({0: Dim.AUTO},)
    )
    assert ours.program.signature.ranges
    sizes = (8, 14, 8, 20) if dialect != "stablehlo" else (8, 14, 7, 4, 5)
    for size in sizes:
        x = torch.randn(size, 3)
        assert_agrees(ours(x), program(x))


def test_a_call_that_makes_fewer_parts_gets_a_program_of_its_own() -> None:
    """Eight rows are three parts and four rows two."""
    ours = torch2mlir.compile(PROGRAMS["chunk"], torch.randn(8, 2), dynamic_shapes=({0: Dim.AUTO},))
    for size in (8, 4, 9, 4, 2, 1):
        x = torch.randn(size, 2)
        assert_agrees(ours(x), PROGRAMS["chunk"](x))
    assert len(ours.others) > 0


@pytest.mark.parametrize("example", [2, 5])
@pytest.mark.parametrize("chunk", [torch.chunk, torch.unsafe_chunk])
def test_nothing_is_as_many_parts_as_are_asked_for(chunk: Any, example: int) -> None:
    """A call of size 0 went to the program of two parts."""

    def program(x: Tensor) -> Any:
        return chunk(x, 3)

    ours = torch2mlir.compile(
        program, torch.randn(example), dynamic_shapes=({0: Dim.AUTO},), output_type="onnx"
    )
    for size in (example, 2, 0, 3, 0, 1):
        x = torch.randn(size)
        assert_agrees(ours(x), program(x))


AS_MANY: dict[str, Callable[[Tensor], Tensor]] = {
    "elements": lambda x: torch.stack(list(x.flatten())[::-1]),
    "numbers": lambda x: x * x.flatten().tolist()[4],
    "rows": lambda x: torch.mul(*x.reshape(2, -1)),
    "sum": lambda x: sum((v * v for v in x.flatten().unbind()), torch.zeros(())),
}


@pytest.mark.parametrize("dialect", ENGINES)
@pytest.mark.parametrize("name", AS_MANY)
@pytest.mark.share(4)
@pytest.mark.parametrize("way", ["compile", "optimize"])
def test_as_many_elements_in_other_sizes(name: str, dialect: str, way: str) -> None:
    """They were looked for one by one among as many as a size that varies is taken to have, for hours."""
    program, x = AS_MANY[name], torch.randn(2, 3)
    ours: Callable[..., Any]
    if way == "compile":
        sizes = ({0: Dim.AUTO, 1: Dim.AUTO},)
        ours = torch2mlir.compile(program, x, output_type=dialect, dynamic_shapes=sizes)
    else:
        ours = torch2mlir.optimize(
            program, model_inputs=(x,), output_type=dialect, min_cluster_size=1
        )
    for shape in ((2, 3), (3, 2), (3, 4), (2, 3)):
        x = torch.randn(shape)
        assert_agrees(ours(x), program(x))
