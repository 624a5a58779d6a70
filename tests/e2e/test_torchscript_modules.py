"""Modules as people script them, on XLA, against eager PyTorch: two calls, with what they leave in buffers."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

import torch2mlir
from tests.e2e.agreement import assert_agrees
from torch2mlir import torchscript
from torch2mlir.torchscript import TensorPlaceholder

Tensor = torch.Tensor


class Called(nn.Module):
    """A module of ``torch.nn`` that takes one tensor."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, x):
        return self.module(x)


class Itself(nn.Module):
    """Attention of a sequence to itself, in training or with need of no weights."""

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True, **options)

    def forward(self, x):
        return self.attention(x, x, x), self.attention(x, x, x, need_weights=False)[0]


class Masked(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True)

    def forward(self, x, padding):
        return self.layer(x, src_key_padding_mask=padding)


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.gru = nn.LSTM(4, 5, batch_first=True), nn.GRU(5, 3, bidirectional=True)

    def forward(self, x, h, c):
        first, (h, c) = self.lstm(x, (h, c))
        return self.gru(first), self.lstm(x)[0], h, c


class Block(nn.Module):
    def __init__(self, channels: int, out: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(channels, out, 3, padding=1), nn.BatchNorm2d(out), nn.ReLU(inplace=True)
        )

    def forward(self, x):
        return self.layers(x)


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down, self.middle, self.pool = Block(3, 4), Block(4, 8), nn.MaxPool2d(2)
        self.up, self.out = nn.ConvTranspose2d(8, 4, 2, stride=2), Block(8, 2)

    def forward(self, x):
        skipped = self.down(x)
        x = self.up(self.middle(self.pool(skipped)))
        if x.size(2) != skipped.size(2):
            size = [skipped.size(2), skipped.size(3)]
            x = functional.interpolate(x, size=size, mode="bilinear", align_corners=False)
        return self.out(torch.cat([skipped, x], 1))


class Cache(nn.Module):
    """Rows of a buffer written at a place, a counter, and a buffer that comes to be another tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("keys", torch.zeros(1, 6, 4))
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))
        self.register_buffer("average", torch.ones(4))

    def forward(self, x, position):
        self.keys[:, position] = x
        self.keys[:, 0:1].mul_(2)
        if x.size(0) == 1:
            self.count += 1
        for i in range(2):
            self.average = self.average * 0.5 + x[0] * i
        return self.keys.sum(1) + self.count, self.average


class Grown(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(1, 4))

    def forward(self, x):
        self.seen = torch.cat([self.seen, x])
        return self.seen.sum()


class Steps(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.steps = 0

    def forward(self, x):
        self.steps += 1
        return x * self.steps


def writes(x: Tensor, y: Tensor):
    x[0].add_(y[0])
    return [x, {"sum": x.sum() + y}], (None, "text", [1, 2])


def left_out(x: Tensor, scale: float = 2.0, other: Tensor | None = None):
    return x * scale if other is None else other


X, IMAGE, WORDS = torch.randn(2, 4), torch.randn(1, 3, 9, 9), torch.randn(2, 3, 8)


def evaluated(make: Callable[[], nn.Module]) -> Callable[[], nn.Module]:
    return lambda: make().eval()


def frozen(make: Callable[[], nn.Module]) -> Callable[[], torch.jit.ScriptModule]:
    return lambda: torch.jit.freeze(torch.jit.script(make().eval()))


CASES: dict[str, tuple[Callable[[], Any], list[Tensor]]] = {
    "attention": (Itself, [WORDS]),
    "attention_in_inference": (evaluated(Itself), [WORDS]),
    "encoder": (lambda: nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0), [WORDS]),
    "encoder_in_inference": (
        evaluated(lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)),
        [WORDS],
    ),
    "encoder_masked": (
        evaluated(Masked),
        [WORDS, torch.tensor([[False] * 3, [False, True, True]])],
    ),
    "recurrent": (Recurrent, [torch.randn(2, 3, 4), torch.randn(1, 2, 5), torch.randn(1, 2, 5)]),
    "bag": (lambda: Called(nn.EmbeddingBag(9, 4, mode="mean")), [torch.tensor([[1, 2, 8]])]),
    "unet": (evaluated(UNet), [IMAGE]),
    "unet_in_training": (UNet, [IMAGE]),
    "unet_frozen": (frozen(UNet), [IMAGE]),
    "encoder_frozen": (
        frozen(lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)),
        [WORDS],
    ),
    "cache": (Cache, [torch.randn(1, 4), torch.tensor(3)]),
    "writes": (lambda: writes, [X, X + 1]),
    "left_out": (lambda: left_out, [X]),
}


def scripted(model: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.jit.script(model)


ALIKE = {"attention_in_inference", "encoder_frozen", "encoder_masked"}
"""What others here have most of: with ``--full``."""


@pytest.mark.share(6)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.full("others are alike") if name in ALIKE else ())
        for name in CASES
    ],
)
def test_agrees_with_eager(name: str) -> None:
    torch.manual_seed(0)
    make, inputs = CASES[name]
    eager = make()
    script = scripted(copy.deepcopy(eager))
    program = torchscript.capture(script, inputs)
    compiled = torch2mlir.compile(program, output_type="stablehlo", engine="xla")
    for _ in range(2):
        ours, theirs = ([x.clone() for x in inputs] for _ in range(2))
        with torch.no_grad():
            assert_agrees(compiled(*ours), eager(*theirs), loose=10)
        torch.testing.assert_close(ours, theirs)
        if isinstance(eager, nn.Module):
            torch.testing.assert_close(dict(script.named_buffers()), dict(eager.named_buffers()))


@pytest.mark.parametrize(
    ("module", "message"),
    [(Grown, "the buffer 'seen' is a .*1,4.* before a call"), (Steps, "slots @steps")],
)
def test_state_that_cannot_be_kept_is_refused(module: Any, message: str) -> None:
    with pytest.raises(torch2mlir.BackendContractError, match=message):
        torchscript.compile(module(), X)


def test_buffers_that_are_written_are_results() -> None:
    text = str(torchscript.compile(Cache(), [torch.randn(1, 4), torch.tensor(3)]))
    assert "%keys: !torch.vtensor<[1,6,4],f32>, %count: !torch.vtensor<[],si64>" in text
    assert (
        "-> (!torch.vtensor<[1,6,4],f32>, !torch.vtensor<[],si64>, !torch.vtensor<[4],f32>," in text
    )


def test_sizes_that_vary() -> None:
    model = UNet().eval()
    program = torchscript.capture(model, TensorPlaceholder.like(IMAGE, [0]))
    compiled = torch2mlir.compile(program, output_type="stablehlo", engine="xla")
    images = torch.randn(3, 3, 9, 9)
    with torch.no_grad():
        torch.testing.assert_close(compiled(images), model(images), rtol=1e-4, atol=1e-5)
