"""A static cache of keys and values on ONNX's engines: written where it lies, and read without its heads repeated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.export import Dim
from torch.testing import assert_close

import torch2mlir

ENGINES = ["onnxruntime", "openvino"]


def at_positions(x: Tensor, at: Tensor, y: Tensor) -> Tensor:
    x = x.clone()
    x[:, :, at] = y
    return x


def one_number(x: Tensor, at: Tensor, y: Tensor) -> Tensor:
    return x.index_fill(2, at, 3.0)


def of_one_row(x: Tensor, at: Tensor, y: Tensor) -> Tensor:
    x = x.clone()
    x[:, :, at] = y[0, 0, 0]
    return x


def of_a_plane(x: Tensor, at: Tensor, y: Tensor) -> Tensor:
    return torch.stack([x, -x]).index_copy(3, at, torch.stack([y, y * 2]))


def narrow_rows(x: Tensor, at: Tensor, y: Tensor) -> Tensor:
    return x[..., :3].index_copy(2, at, y[..., :3])


def in_the_last_dimension(x: Tensor, at: Tensor, y: Tensor) -> Tensor:
    return x.mT.index_copy(3, at, y.mT)


def of_halves(x: Tensor, at: Tensor, y: Tensor) -> Tensor:
    return x.half().index_copy(2, at, y.half())


def of_truths(x: Tensor, at: Tensor, y: Tensor) -> Tensor:
    return (x > 0).index_copy(2, at, y > 0)


WRITES = [
    at_positions,
    one_number,
    of_one_row,
    of_a_plane,
    narrow_rows,
    in_the_last_dimension,
    of_halves,
    of_truths,
    lambda x, at, y: x.index_copy(2, at, y),
    lambda x, at, y: torch.ops.aten.index_put(x, [None, None, at], y),
]


@pytest.mark.share(2)
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("engine", ENGINES)
def test_is_written_where_it_lies(write: Callable[..., Tensor], dynamic: bool, engine: str) -> None:
    pytest.importorskip(engine)
    if engine == "openvino" and write is of_halves:
        pytest.skip(
            "OpenVINO is not asked to compute half floats: test_openvino.py has the refusal"
        )

    def arguments(batch: int, length: int, new: int) -> tuple[Tensor, Tensor, Tensor]:
        at = torch.randperm(length)[:new]
        return torch.randn(batch, 3, length, 16), at, torch.randn(batch, 3, new, 16)

    batch, length, new = Dim("batch", max=9), Dim("length", min=4, max=99), Dim("new", max=4)
    sizes = ({0: batch, 2: length}, {0: new}, {0: batch, 2: new}) if dynamic else None
    compiled = torch2mlir.compile(
        write, *arguments(2, 7, 3), output_type="onnx", engine=engine, dynamic_shapes=sizes
    )
    for each in ((2, 7, 3), (1, 4, 1), (5, 30, 4), (9, 99, 2)) if dynamic else ((2, 7, 3),) * 3:
        given = arguments(*each)
        copies = [x.clone() for x in given]
        assert_close(compiled(*given), write(*copies), rtol=0, atol=0)
        for one, other in zip(given, copies, strict=True):
            assert torch.equal(one, other)


def _repeated(x: Tensor, times: int) -> Tensor:
    batch, heads, length, size = x.shape
    return (
        x[:, :, None]
        .expand(batch, heads, times, length, size)
        .reshape(batch, heads * times, length, size)
    )


def heads_repeated(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, _repeated(k, 2), _repeated(v, 2))


def masked(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    mask = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril(1)
    return F.scaled_dot_product_attention(q, _repeated(k, 2), _repeated(v, 2), mask, scale=0.3)


def mask_of_heads(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    mask = q[..., :1] * k[:, :1, :, 0].unsqueeze(2)
    return F.scaled_dot_product_attention(q, _repeated(k, 2), _repeated(v, 2), mask)


def causal(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, _repeated(k, 2), _repeated(v, 2), is_causal=True)


def interleaved(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k.repeat_interleave(2, 1), v.repeat_interleave(2, 1))


def repeated_as_a_whole(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Head 2 of the queries has head 0 of the keys here."""
    return F.scaled_dot_product_attention(q, k.repeat(1, 2, 1, 1), v.repeat(1, 2, 1, 1))


def keys_only(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, _repeated(k, 2), torch.cat([v, v], 1))


def read_elsewhere(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    k, v = _repeated(k, 2), _repeated(v, 2)
    return F.scaled_dot_product_attention(q, k, v), k + 1


def said_by_pytorch(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, enable_gqa=True)


ATTENTION = [
    heads_repeated,
    masked,
    mask_of_heads,
    causal,
    interleaved,
    repeated_as_a_whole,
    keys_only,
    read_elsewhere,
    said_by_pytorch,
]


@pytest.mark.share(2)
@pytest.mark.parametrize("function", ATTENTION, ids=lambda function: function.__name__)
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("engine", ENGINES)
def test_heads_are_shared(function: Callable[..., Any], dynamic: bool, engine: str) -> None:
    pytest.importorskip(engine)

    def arguments(batch: int, queries: int, keys: int) -> list[Tensor]:
        return [torch.randn(batch, 6, queries, 8), *torch.randn(2, batch, 3, keys, 8)]

    batch, queries, keys = (Dim(name, min=2, max=50) for name in ("batch", "queries", "keys"))
    sizes = ({0: batch, 2: queries}, {0: batch, 2: keys}, {0: batch, 2: keys}) if dynamic else None
    compiled = torch2mlir.compile(
        function, *arguments(2, 4, 7), output_type="onnx", engine=engine, dynamic_shapes=sizes
    )
    for each in ((2, 4, 7), (3, 2, 5), (2, 50, 50), (5, 3, 3)) if dynamic else ((2, 4, 7),) * 3:
        given = arguments(*each)
        assert_close(compiled(*given), function(*given), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("function", [heads_repeated, masked, causal])
def test_no_copy_of_the_heads(function: Callable[..., Any]) -> None:
    q, k = torch.randn(2, 6, 4, 8), torch.randn(2, 3, 7, 8)
    text = str(torch2mlir.export_and_import(function, q, k, k.clone(), output_type="onnx"))
    assert "onnx.Expand" not in text
    assert text.count("tensor<2x6x7x8xf32>") == 0
