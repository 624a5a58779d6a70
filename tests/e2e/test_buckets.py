"""Sizes rounded up: the results are eager's in the real sizes, from few programs; what cannot be shown is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import transformers
from torch import nn
from torch.export import Dim

import torch2mlir
from torch2mlir.errors import ArtefactError, BackendContractError, InputError
from torch2mlir.runtime.compiled import CompiledFunction

F = nn.functional
BATCH, LENGTH = Dim("batch", max=64), Dim("length", min=3, max=64)
DIMS = {"B": BATCH, "T": LENGTH}


def bucketed(function: Callable[..., Any], shapes: list[str], buckets: Any = True) -> Any:
    """A function of tensors of shapes like ``"B T 4"``, compiled with buckets."""
    sizes = [shape.split() for shape in shapes]
    examples = [tensor(each, B=3, T=5) for each in sizes]
    varying = tuple({i: DIMS[s] for i, s in enumerate(each) if s in DIMS} for each in sizes)
    return torch2mlir.compile(function, *examples, dynamic_shapes=varying, buckets=buckets)


def tensor(sizes: list[str], **values: int) -> torch.Tensor:
    return torch.randn([values[s] if s in values else int(s) for s in sizes])


def same(compiled: CompiledFunction, function: Callable[..., Any], shapes: list[str]) -> None:
    """As eager for sizes below, at and above buckets, twice each with other values."""
    for batch, length in ((3, 5), (2, 7), (4, 8), (3, 9), (7, 6), (3, 5)):
        args = [tensor(shape.split(), B=batch, T=length) for shape in shapes]
        actual, expected = compiled(*args), function(*args)
        torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-5)


class Block(nn.Module):
    """What a layer of a transformer does, written out."""

    def __init__(self) -> None:
        super().__init__()
        self.into, self.out = nn.Linear(8, 24), nn.Linear(8, 8)
        self.norm = nn.LayerNorm(8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.into(self.norm(x)).view(*x.shape[:2], 3, 2, 4).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=False)
        return x + self.out(y.transpose(1, 2).reshape(x.shape))


torch.manual_seed(0)
BLOCK = Block().eval().requires_grad_(False)
NET = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 3), nn.Softmax(-1))
NET.eval().requires_grad_(False)
CONV = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1, stride=2), nn.BatchNorm2d(4), nn.ReLU())
CONV.eval().requires_grad_(False)
CONV1 = nn.Conv1d(3, 4, 3, padding=2, stride=2).requires_grad_(False)
UP = nn.ConvTranspose1d(3, 4, 4, stride=2, padding=1).requires_grad_(False)

RIGHT: list[tuple[str, Callable[..., Any], list[str]]] = [
    ("rows", NET, ["B 4"]),
    ("images", lambda x: CONV(x).flatten(1), ["B 3 8 8"]),
    ("attention", BLOCK, ["B T 8"]),
    ("softmax", lambda x: x.softmax(-1), ["B T"]),
    ("log_softmax", lambda x: x.log_softmax(1), ["B T 3"]),
    ("sums", lambda x: (x.sum(1), x.sum(), x.exp().sum((0, 1), keepdim=True)), ["B T 3"]),
    ("means", lambda x: (x.mean(1), x.mean(), x.mean((1, 2))), ["B T 3"]),
    ("extrema", lambda x: (x.amax(1), x.amin(0), x.max(1), x.argmin(1)), ["B T 3"]),
    ("products", lambda x: (1 + x / 9).prod(1), ["B T"]),
    ("any_all", lambda x: ((x > 1).any(1), (x < 1).all(1), (x > 9).any()), ["B T"]),
    ("norm", lambda x: (x.norm(dim=1), x.std(1), x.logsumexp(1)), ["B T 3"]),
    ("zeros_become_infinite", lambda x: (1 / x).sum(1), ["B T"]),
    ("contraction", lambda x, y: torch.einsum("btk,btl->bkl", x, y), ["B T 3", "B T 4"]),
    ("product_of_both", lambda x, y: x @ y, ["B T", "T 4"]),
    ("gram", lambda x: (x @ x.transpose(1, 2)).sum(-1), ["B T 3"]),
    ("running", lambda x: x.cumsum(1), ["B T 3"]),
    ("positions", lambda x: x + torch.arange(x.shape[1]).unsqueeze(-1), ["B T 3"]),
    ("sizes_as_numbers", lambda x: (x / x.shape[1] + x.shape[0]) * (x > x.shape[1]), ["B T"]),
    ("places", lambda x: x[torch.arange(x.shape[0])[:, None], torch.arange(x.shape[1])], ["B T"]),
    ("causal", lambda x: x.tril().softmax(-1), ["B T T"]),
    ("beginning", lambda x: (x[:, 1:], x[:, :-1], x[:, 0], x[:, ::2]), ["B T 3"]),
    ("place_in_all", lambda x: x.unsqueeze(0).argmin(), ["B 3"]),
    ("windows", lambda x: CONV1(x), ["B 3 T"]),
    ("transposed_convolution", lambda x: UP(x), ["B 3 T"]),
    ("more_at_the_end", lambda x: F.pad(x, (0, 0, 1, 2), value=3.0), ["B T 3"]),
    ("behind", lambda x, y: torch.cat([x, y], 1), ["B 2 3", "B T 3"]),
    ("after_nothing", lambda x: torch.cat([torch.tensor([]), x], -1), ["B T 3"]),
    ("full", lambda x: torch.full((x.shape[0], 2), 3.0) + x[:, :2], ["B 4"]),
    ("outer_batch", lambda x: x.reshape(-1, 3).softmax(-1).view(x.shape), ["B 4 3"]),
    ("embedding", lambda x: F.embedding((x > 0).long(), torch.ones(2, 5)).sum(1), ["B T"]),
]


@pytest.mark.parametrize("function, shapes", [c[1:] for c in RIGHT], ids=[c[0] for c in RIGHT])
@pytest.mark.share(16)
def test_padding_changes_nothing(function: Callable[..., Any], shapes: list[str]) -> None:
    compiled = bucketed(function, shapes)
    same(compiled, function, shapes)
    values = [set(found.values()) for found in compiled.shapes]
    assert set().union(*values) <= {2, 4, 8, 16} and len(values) <= 5


REFUSED: list[tuple[str, Callable[..., Any], list[str], str]] = [
    ("flip", lambda x: x.flip(1), ["B T"], "padding would come first"),
    ("sort", lambda x: x.sort(1)[0], ["B T"], "sorted in"),
    ("place_in_all", lambda x: x.argmax(), ["B T"], "counts the padding of its lines"),
    ("last", lambda x: x[:, -1], ["B T"], "moves with a size|counts from the end"),
    ("size_as_number", lambda x: x.clamp(max=x.shape[1]), ["B T"], "used as a number"),
    ("size_as_result", lambda x: (x, x.shape[0] * 2), ["B T"], "is a result"),
    ("joined", lambda x: x.reshape(-1, 3).sum(0), ["B T 3"], "joins a dimension"),
    ("in_front", lambda x, y: torch.cat([x, y], 1), ["B T", "B 4"], "behind its padding"),
    ("mask", lambda x: x[x > 0], ["B T"], "nobody has shown|not known|joins"),
    ("roll", lambda x: x.roll(1, 1), ["B T"], "count from|moves with|behind its|as a number"),
    (
        "first_ten",
        lambda x: x[:, torch.arange(10) % 9],
        ["B T"],
        "as a number|behind its real size",
    ),
    ("chosen", lambda x: x.gather(1, (x > 0).long()), ["B T"], "as a number|behind its real size"),
    (
        "write",
        lambda x: x.index_add(1, torch.tensor([0]), x[:, :1]),
        ["B T"],
        "nobody has|as a number",
    ),
]


@pytest.mark.share(4)
@pytest.mark.parametrize(
    "function, shapes, reason", [c[1:] for c in REFUSED], ids=[c[0] for c in REFUSED]
)
def test_what_cannot_be_shown_is_refused(
    function: Callable[..., Any], shapes: list[str], reason: str
) -> None:
    with pytest.raises(BackendContractError, match=reason) as caught:
        bucketed(function, shapes)
    assert "sizes cannot be rounded up" in str(caught.value) and "next:" in str(caught.value)
    if "result" not in reason:
        assert caught.value.op and "test_buckets.py" in str(caught.value.location)


def test_what_is_refused_for_one_size_is_bucketed_for_the_other() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x.flip(1).softmax(1)

    compiled = bucketed(function, ["B T"], {"batch": [4, 8]})
    for batch, length in ((3, 5), (4, 5), (2, 5), (6, 5), (2, 6), (9, 6)):
        x = torch.randn(batch, length)
        torch.testing.assert_close(compiled(x), function(x))
    found = [tuple(shape.values()) for shape in compiled.shapes]
    assert sorted(map(sorted, found)) == [[4, 5], [4, 6], [5, 8], [6, 9]]


def test_bert_answers_requests_of_any_size_from_a_few_programs() -> None:
    config = transformers.BertConfig(num_hidden_layers=2, hidden_size=24, intermediate_size=48)

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bert = transformers.BertModel(config).eval()

        def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> Any:
            found = self.bert(ids, attention_mask=mask)
            return found.last_hidden_state, found.pooler_output

    model = Model().eval()

    def request(batch: int, length: int) -> tuple[torch.Tensor, torch.Tensor]:
        mask = torch.ones(batch, length, dtype=torch.long)
        mask[-1, length // 2 + 1 :] = 0
        return torch.randint(1, 1000, (batch, length)), mask

    sizes = {0: Dim("batch", max=8), 1: Dim("length", max=512)}
    compiled = torch2mlir.compile(
        model,
        *request(2, 9),
        dynamic_shapes=(sizes, sizes),
        buckets={"batch": [1, 4, 8], "length": [16, 64]},
        engine="auto",
    )
    assert (compiled.engine.name, compiled.chosen_by) == ("xla", "varying sizes in a few buckets")
    with torch.no_grad():
        for batch, length in ((2, 9), (1, 16), (3, 3), (4, 12), (2, 17), (1, 5), (3, 40)):
            ids, mask = request(batch, length)
            torch.testing.assert_close(compiled(ids, mask), model(ids, mask), rtol=1e-4, atol=1e-4)
    assert len(compiled.shapes) == 3


def test_names_of_sizes_of_starred_arguments() -> None:
    class Model(nn.Module):
        def forward(self, *args: torch.Tensor) -> torch.Tensor:
            return args[0] @ args[1]

    x, y = torch.randn(3, 4), torch.randn(4, 5)
    compiled = torch2mlir.compile(
        Model(), x, y, dynamic_shapes={"args": ({0: BATCH}, {})}, buckets={"batch": [8]}
    )
    for rows in (3, 5, 2):
        x = torch.randn(rows, 4)
        torch.testing.assert_close(compiled(x, y), x @ y)
    assert len(compiled.shapes) == 1


def test_buffers_keep_what_they_count() -> None:
    class Counting(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("total", torch.zeros(3))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.total += x.sum(0)
            return x * 2

    model, twin = Counting(), Counting()
    compiled = bucketed(model, ["B 3"])
    for rows in (3, 5, 2):
        x = torch.randn(rows, 3)
        torch.testing.assert_close(compiled(x), twin(x))
        torch.testing.assert_close(model.total, twin.total)


@pytest.mark.parametrize("size", [6, 1 << 18], ids=["copied", "lent"])
def test_an_argument_of_fixed_size_is_written_in_place(size: int) -> None:
    """Beside a buffer; small arguments are copied to the engine, large ones lent to it."""

    class Counting(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("total", torch.zeros(4))

        def forward(self, x: torch.Tensor, written: torch.Tensor) -> Any:
            self.total.add_(1)
            written.add_(x.sum())
            return x * 2 + self.total.sum() + written[0], written + 1

    model, twin = Counting(), Counting()
    compiled = torch2mlir.compile(
        model,
        torch.randn(3, 4),
        torch.zeros(size),
        dynamic_shapes=({0: BATCH}, None),
        buckets={"batch": [4, 8]},
        engine="xla",
    )
    written, expected = torch.zeros(size), torch.zeros(size)
    for rows in (3, 5, 4, 3, 7, 12):
        x = torch.randn(rows, 4)
        torch.testing.assert_close(compiled(x, written), twin(x, expected))
        torch.testing.assert_close(written, expected)
        assert torch.equal(model.total, twin.total)
    assert len(compiled.shapes) == 3


def test_indices_are_looked_at_in_their_real_sizes() -> None:
    """Padding is no index out of range, though the table may have no row for it; an index that is, is refused."""
    table = torch.randn(5, 3)

    def function(i: torch.Tensor, j: torch.Tensor) -> torch.Tensor:
        return F.embedding(i - 1, table).sum(1) + F.embedding(j, table)[:, 0]

    def indices(low: int, rows: int, length: int) -> torch.Tensor:
        return torch.randint(low, low + 5, (rows, length))

    sizes = {0: BATCH, 1: LENGTH}
    compiled = torch2mlir.compile(
        function,
        indices(1, 3, 5),
        indices(0, 3, 5),
        dynamic_shapes=(sizes, sizes),
        buckets=True,
        engine="xla",
    )
    for rows, length in ((3, 5), (2, 7), (4, 8), (3, 5)):
        i, j = indices(1, rows, length), indices(0, rows, length)
        torch.testing.assert_close(compiled(i, j), function(i, j))
    for wrong in (0, 1):
        args = [indices(1, 3, 5), indices(0, 3, 5)]
        args[wrong][1, 2] = 6 - wrong
        with pytest.raises(InputError, match="out of range"):
            compiled(*args)


def test_an_argument_that_is_written_to_is_not_padded() -> None:
    with pytest.raises(BackendContractError, match="the input 'x' is written to"):
        bucketed(lambda x: x.add_(1), ["B 3"])


def test_what_buckets_are_for() -> None:
    x, sizes = torch.randn(3, 4), ({0: BATCH},)
    with pytest.raises(InputError, match="none does"):
        torch2mlir.compile(NET, x, buckets=True)
    with pytest.raises(InputError, match="'rows', and no size has that name"):
        torch2mlir.compile(NET, x, dynamic_shapes=sizes, buckets={"rows": [4]})
    with pytest.raises(InputError, match="sizes of 1 and more"):
        torch2mlir.compile(NET, x, dynamic_shapes=sizes, buckets={"batch": [0, 4]})
    with pytest.raises(InputError, match="has no use for buckets"):
        torch2mlir.compile(
            NET, x, dynamic_shapes=sizes, buckets=True, engine="onnxruntime", output_type="onnx"
        )


def test_functions_with_masks_are_not_saved(tmp_path: Any) -> None:
    compiled = bucketed(lambda x: x.sum(0), ["B 3"])
    compiled(torch.randn(3, 3))
    with pytest.raises(ArtefactError, match="buckets cannot be saved"):
        torch2mlir.save(compiled, tmp_path / "model")
