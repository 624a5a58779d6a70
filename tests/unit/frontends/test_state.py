"""State that PyTorch's capture does not know: tensors in objects of the model, and several names of one tensor."""

from __future__ import annotations

from copy import deepcopy

import pytest
import torch
from torch import nn

import torch2mlir
from torch2mlir import torchscript
from torch2mlir.errors import CaptureError


class Memory:
    """What a cache object of somebody's looks like."""

    def __init__(self) -> None:
        self.rows = torch.zeros(4, 3)
        self.length = torch.zeros((), dtype=torch.int64)


class Remembers(nn.Module):
    """Writes into an object's tensors; ``registered`` names them as buffers too."""

    def __init__(self, registered: bool) -> None:
        super().__init__()
        self.memory = Memory()
        if registered:
            self.register_buffer("rows", self.memory.rows, persistent=False)
            self.register_buffer("length", self.memory.length, persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.memory.rows.index_copy_(0, self.memory.length.reshape(1), x[None])
        self.memory.length.add_(1)
        return self.memory.rows.sum(0) + self.memory.length


TARGETS = [("stablehlo", "xla"), ("linalg-on-tensors", "iree"), ("tosa", "iree")]


@pytest.mark.share(8)
@pytest.mark.parametrize("registered", [False, True])
@pytest.mark.parametrize("output_type, engine", TARGETS)
def test_tensors_of_an_object_are_state(output_type: str, engine: str, registered: bool) -> None:
    torch.manual_seed(0)
    model = Remembers(registered)
    eager = deepcopy(model)
    compiled = torch2mlir.compile(model, torch.ones(3), output_type=output_type, engine=engine)
    assert not model.memory.rows.any() and not model.memory.length
    for _ in range(3):
        x = torch.randn(3)
        assert torch.allclose(compiled(x), eager(x))
        assert torch.allclose(model.memory.rows, eager.memory.rows)
        assert torch.equal(model.memory.length, eager.memory.length)


class Overlapping(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        whole = torch.zeros(4)
        self.register_buffer("whole", whole)
        self.register_buffer("front", whole[:2])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.whole.add_(x)
        return self.front * 1


def test_state_that_overlaps_in_part_is_refused() -> None:
    with pytest.raises(CaptureError, match="share memory in part"):
        torch2mlir.compile(Overlapping(), torch.ones(4))
    for tracing in (False, True):
        with pytest.raises(CaptureError, match="share memory in part: front, whole"):
            torchscript.capture(Overlapping(), [torch.ones(4)], use_tracing=tracing)


class SparseBuffer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("adjacency", torch.eye(3).to_sparse())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sparse.mm(self.adjacency, x)


def test_a_sparse_buffer_is_refused_by_name() -> None:
    with pytest.raises(CaptureError) as caught:
        torch2mlir.compile(SparseBuffer(), torch.ones(3, 3))
    assert "adjacency" in str(caught.value) and "to_dense" in str(caught.value)


@pytest.mark.share(4)
@pytest.mark.parametrize("output_type, engine", TARGETS)
def test_rows_of_bounded_norm_are_shortened_in_the_weight(output_type: str, engine: str) -> None:
    torch.manual_seed(0)
    model = nn.Embedding(5, 3, max_norm=1.0)
    eager = deepcopy(model)
    with torch.no_grad():
        compiled = torch2mlir.compile(
            model, torch.tensor([0, 1]), output_type=output_type, engine=engine
        )
        for places in ([0, 1], [1, 4], [3, 3]):
            assert torch.allclose(compiled(torch.tensor(places)), eager(torch.tensor(places)))
            assert torch.allclose(model.weight, eager.weight)
