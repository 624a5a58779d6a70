"""Parts of a tensor whose lengths elements decide, as models with several images or sequences in a batch take them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.export import Dim
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence
from torch.utils import _pytree as pytree

import torch2mlir
from torch2mlir.errors import InputError

ENGINES = [("onnx", "onnxruntime"), ("linalg-on-tensors", "iree")]
LENGTHS = [[3, 2, 1], [1, 2, 3], [2, 0, 4], [6, 0, 0]]


def _means(x: Tensor, lengths: Tensor) -> Tensor:
    return torch.stack([part.sum(0) for part in x.split(lengths.tolist())])


def _of_those_chosen(x: Tensor, lengths: Tensor) -> Tensor:
    chosen = x[torch.arange(6) < lengths.sum()]
    return torch.cat([part.softmax(0) for part in chosen.split(lengths.tolist())])


def _along_columns(x: Tensor, lengths: Tensor) -> list[Tensor]:
    return [part * 2 for part in torch.split(x.T, lengths.tolist(), dim=1)]


def _padded(x: Tensor, lengths: Tensor) -> Tensor:
    return pad_sequence(x.split(lengths.tolist()), batch_first=True, padding_value=-1.0)


def _padded_before(x: Tensor, lengths: Tensor) -> Tensor:
    return pad_sequence(x.split(lengths.tolist()), padding_side="left")


def _narrowed(x: Tensor, lengths: Tensor) -> Tensor:
    first, second, _ = lengths.tolist()
    return x.narrow(0, first, second).sin()


def _by_sums(x: Tensor, lengths: Tensor) -> Tensor:
    ends = F.pad(lengths.cumsum(0), (1, 0)).tolist()
    return torch.cat([x[start:end].tanh() for start, end in zip(ends[:-1], ends[1:], strict=True)])


def _rest(x: Tensor, lengths: Tensor) -> tuple[Tensor, ...]:
    """What is left of a known size, and it is written to."""
    count = lengths[0].item()
    torch._check(count >= 1)
    torch._check(count <= 6)
    written = x.clone()
    written[:count] = 1.0
    head, tail = x.split([count, 6 - count])
    return head.sum(), tail.sum(0), written, torch.cat([x[:count], x[count:] * 2])


@pytest.mark.parametrize(("output_type", "engine"), ENGINES)
@pytest.mark.parametrize(
    "function",
    [_means, _of_those_chosen, _along_columns, _padded, _padded_before, _narrowed, _by_sums, _rest],
)
@pytest.mark.share(16)
def test_parts(function: Callable[[Tensor, Tensor], Any], output_type: str, engine: str) -> None:
    example = torch.randn(6, 4), torch.tensor(LENGTHS[0])
    compiled = torch2mlir.compile(function, *example, output_type=output_type, engine=engine)
    for each in LENGTHS:
        x, lengths = torch.randn(6, 4), torch.tensor(each)
        found, wanted = (pytree.tree_leaves(f(x, lengths)) for f in (compiled, function))
        torch.testing.assert_close(found, wanted)


def test_parts_that_are_not_the_whole_are_an_error() -> None:
    compiled = torch2mlir.compile(
        _means, torch.randn(6, 4), torch.tensor([3, 2, 1]), output_type="onnx"
    )
    for lengths in ([3, 2, 2], [1, 1, 1], [7, -1, 0]):
        with pytest.raises(InputError):
            compiled(torch.randn(6, 4), torch.tensor(lengths))
    with pytest.raises(InputError):
        torch2mlir.compile(
            _narrowed, torch.randn(6, 4), torch.tensor([3, 2, 1]), output_type="onnx"
        )(torch.randn(6, 4), torch.tensor([4, 3, 0]))


@pytest.mark.parametrize(("output_type", "engine"), ENGINES)
def test_a_mask_of_its_own_size(output_type: str, engine: str) -> None:
    """The capture does not say that it is as long as what it chooses from."""

    def chosen(x: Tensor, lengths: Tensor) -> Tensor:
        return x.masked_select(torch.arange(4)[None] < lengths[:, None])

    sizes = ({0: Dim.AUTO}, {0: Dim.AUTO})
    example = torch.randn(3, 4), torch.tensor([1, 2, 3])
    compiled = torch2mlir.compile(
        chosen, *example, output_type=output_type, engine=engine, dynamic_shapes=sizes
    )
    for rows in (3, 5, 1):
        x, lengths = torch.randn(rows, 4), torch.randint(0, 5, (rows,))
        assert compiled(x, lengths).equal(chosen(x, lengths))
    with pytest.raises(InputError, match="input 'lengths' should have size"):
        compiled(torch.randn(3, 4), torch.tensor([1, 2]))


def test_sequences_of_lengths_that_vary() -> None:
    """Which of them is the longest is another one in each call."""

    def padded(x: Tensor, y: Tensor) -> Tensor:
        return pad_sequence([x, y], batch_first=True)

    sizes = ({0: Dim.AUTO}, {0: Dim.AUTO})
    example = torch.randn(3, 2), torch.randn(5, 2)
    for output_type in ("tosa", "onnx"):
        compiled = torch2mlir.compile(
            padded, *example, output_type=output_type, dynamic_shapes=sizes
        )
        for one, other in ((3, 5), (5, 3), (4, 4), (1, 7)):
            x, y = torch.randn(one, 2), torch.randn(other, 2)
            assert compiled(x, y).equal(padded(x, y))
