"""What a loop or branch reads is not written before: IREE puts a scatter where it takes a value to be read last."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch._higher_order_ops.while_loop import while_loop

import torch2mlir


def branch(x: Tensor, n: Tensor) -> Tensor:
    return torch.cond(n > 2, lambda a: a.abs(), lambda a: a.flip(0), (x,))


def loop(x: Tensor, n: Tensor) -> Tensor:
    start = (torch.tensor(0), torch.zeros_like(x))
    return while_loop(lambda i, _: i < n, lambda i, sum: (i + 1, sum + x.flip(0)), start)[1]


def expected_branch(x: Tensor, n: Tensor) -> Tensor:
    return x.abs() if n > 2 else x.flip(0)


def expected_loop(x: Tensor, n: Tensor) -> Tensor:
    return int(n) * x.flip(0)


READS = {"branch": (branch, expected_branch), "loop": (loop, expected_loop)}
WRITES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "index_put": lambda x, i: x.index_put((i,), torch.ones(7)),
    "index_add": lambda x, i: x.index_add(0, i, x[:2]),
    "scatter": lambda x, i: x.scatter(0, i[None], x[:1, :2]),  # with a weight, which is prepared
    "scatter_reduce": lambda x, i: x.scatter_reduce(0, i[None], x[:1, :2], "amax"),
}


@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa"])
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("read", READS)
@torch.no_grad()
@pytest.mark.share(24)
def test_read_before_written(read: str, write: str, output_type: str) -> None:
    reads, expected = READS[read]

    def program(x: Tensor, n: Tensor, i: Tensor) -> tuple[Tensor, Tensor]:
        y = x * 3 - 1
        return reads(y, n), WRITES[write](y, i)

    x, i = torch.randn(5, 7), torch.tensor([4, 3])
    compiled = torch2mlir.compile(program, x, torch.tensor(3), i, output_type=output_type)
    for count in (3, 2, 1):
        x, n = torch.randn(5, 7), torch.tensor(count)
        found, written = compiled(x, n, i)
        torch.testing.assert_close(found, expected(x * 3 - 1, n))
        torch.testing.assert_close(written, WRITES[write](x * 3 - 1, i))


@torch.no_grad()
def test_an_argument_written_behind_a_branch() -> None:
    def program(x: Tensor, n: Tensor, i: Tensor) -> Tensor:
        read = branch(x, n)
        x[i] = 2
        return read

    i = torch.tensor([4, 3])
    compiled = torch2mlir.compile(
        program, torch.zeros(5, 7), torch.tensor(3), i, output_type="tosa"
    )
    for count in (3, 2, 3):
        x, n = torch.randn(5, 7), torch.tensor(count)
        before = x.clone()
        torch.testing.assert_close(compiled(x, n, i), expected_branch(before, n))
        before[i] = 2
        torch.testing.assert_close(x, before)
