"""Products of chunks of a length that varies, as state space models have: a single chunk is another program."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.export import Dim

import torch2mlir
from tests.e2e.agreement import assert_agrees
from tests.e2e.configurations import TARGETS, require

CHUNK = 4


def of_chunks(x: Tensor, weight: Tensor) -> Tensor:
    x = F.pad(x, (0, 0, 0, -x.shape[1] % CHUNK))
    chunks = x.reshape(x.shape[0], -1, CHUNK, x.shape[-1])
    return torch.einsum("bcld,bcle->bcde", chunks, chunks * weight)


@pytest.mark.share(6)
@pytest.mark.parametrize("output_type, engine", TARGETS)
def test_one_chunk_and_several(output_type: str, engine: str) -> None:
    require(engine)
    x, weight = torch.randn(2, 9, 3), torch.randn(3)
    shapes = ({0: Dim.AUTO, 1: Dim.AUTO}, None)
    compiled = torch2mlir.compile(
        of_chunks, x, weight, dynamic_shapes=shapes, output_type=output_type, engine=engine
    )
    for sizes in ((2, 9), (3, 5), (1, 8), (2, 4), (2, 3), (5, 1), (1, 1), (2, 16)):
        x = torch.randn(*sizes, 3)
        assert_agrees(compiled(x, weight), of_chunks(x, weight), loose=4)
