"""The table of ``ops.py``: one row an op, its inputs, and where such sizes come from.

Sizes are those of models that people run: BERT-base (128 tokens, 768 and 3072 wide, 12 heads, a vocabulary of 30522),
ViT-B (197 tokens), ResNet-50 (64 to 512 channels), recommendation (rows of 64 in tables of thousands), sampling from
a vocabulary. Large enough that the op and not the call is what is measured, small enough for one second a row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

aten = torch.ops.aten
Make = Callable[[], torch.Tensor]


@dataclass(frozen=True)
class Row:
    """One op to be measured.

    Attributes:
        name: what ``--only`` looks for; begins with the name of the op.
        call: the op, of the inputs.
        inputs: make the inputs.
        why: where an op of this size is found.
    """

    name: str
    call: Callable[..., Any]
    inputs: Sequence[Make]
    why: str


def _f32(*sizes: int, low: float = 0.1, high: float = 0.9) -> Make:
    return lambda: torch.rand(*sizes) * (high - low) + low


def _signed(*sizes: int) -> Make:
    return lambda: torch.randn(*sizes)


def _i64(*sizes: int, high: int = 1000, low: int = 0) -> Make:
    return lambda: torch.randint(low, high, sizes)


def _mask(*sizes: int) -> Make:
    return lambda: torch.rand(*sizes) > 0.5


def _grouped(count: int, groups: int) -> Make:
    """Positions of which each comes as often as any other, in a random order."""
    return lambda: torch.randperm(count) % groups


HIDDEN = (128, 3072)
"""The widest activations of BERT-base."""
_WHY_HIDDEN = "the widest activations of BERT-base"


def _elementwise() -> list[Row]:
    def row(name: str, inputs: Sequence[Make], *numbers: Any) -> Row:
        op = getattr(aten, name.split(" ")[0])
        return Row(name, lambda *tensors: op(*tensors, *numbers), inputs, _WHY_HIDDEN)

    x, y, i, m = _f32(*HIDDEN), _f32(*HIDDEN), _i64(*HIDDEN), _mask(*HIDDEN)
    unary = (
        "abs acos asin asinh atan atanh ceil cos cosh erf exp expm1 floor isinf isnan log log10 log1p log2 neg"
        " reciprocal relu round rsqrt sigmoid sign signbit sin sinh sqrt tan tanh trunc"
    )
    binary = "add sub mul div remainder fmod eq ne lt le gt ge pow atan2 maximum minimum"
    integer = "bitwise_and bitwise_or bitwise_xor"
    rows = [row(name, [x]) for name in unary.split()]
    rows += [row("acosh", [_f32(*HIDDEN, low=1, high=9)]), row("bitwise_not", [i])]
    rows += [row("logical_not", [m])]
    rows += [row(name, [x, y]) for name in binary.split()]
    rows += [row(f"{name} of i64", [i, i]) for name in f"add mul {integer}".split()]
    rows += [row("remainder of i64", [i, _i64(*HIDDEN, low=1)])]
    rows += [row(name, [m, m]) for name in ["logical_and", "logical_or", "logical_xor"]]
    rows += [row(f"bitwise_{side}_shift", [i, _i64(*HIDDEN, high=8)]) for side in ("left", "right")]
    rows += [row("pow of a number", [x], 3), row("clamp", [x], 0.2, 0.5), row("where", [m, x, y])]
    rows += [row("gelu", [_signed(*HIDDEN)]), row("silu", [_signed(*HIDDEN)])]
    rows += [
        Row("convert_element_type to f16", lambda x: x.half(), [x], _WHY_HIDDEN),
        Row("convert_element_type to i64", lambda x: x.long(), [x], _WHY_HIDDEN),
        Row("add of a row", torch.add, [x, _f32(3072)], "a bias"),
        Row("add of a column", torch.add, [x, _f32(128, 1)], "a factor for each token"),
    ]
    return rows


def _reductions() -> list[Row]:
    x, why = _signed(*HIDDEN), "over the features of tokens"
    images, pooled = _signed(1, 256, 56, 56), "over the places of an image, ResNet-50's first stage"
    rows = [
        Row("sum", partial(torch.sum, dim=-1), [x], why),
        Row("sum of columns", partial(torch.sum, dim=0), [x], "the gradient of a bias"),
        Row("sum of all", torch.sum, [x], "a loss"),
        Row("mean", partial(torch.mean, dim=(2, 3)), [images], pooled),
        Row("prod", partial(torch.prod, dim=-1), [_f32(*HIDDEN)], why),
        Row("amax", partial(torch.amax, dim=-1), [x], why),
        Row("amin", partial(torch.amin, dim=-1), [x], why),
        Row("any", partial(torch.any, dim=-1), [_mask(*HIDDEN)], why),
        Row("all", partial(torch.all, dim=-1), [_mask(*HIDDEN)], why),
        Row("max with places", partial(torch.max, dim=-1), [x], why),
        Row("min with places", partial(torch.min, dim=-1), [x], why),
        Row("argmax", partial(torch.argmax, dim=-1), [_signed(8, 30522)], "greedy decoding"),
        Row("argmin", partial(torch.argmin, dim=-1), [_signed(8, 30522)], "greedy decoding"),
        Row("var", partial(torch.var, dim=-1), [x], why),
    ]
    line, why = _f32(8, 4096), "probabilities of a vocabulary, positions of long texts"
    rows += [
        Row(name, partial(getattr(torch, name), dim=-1), [line], why)
        for name in ("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp")
    ]
    rows += [
        Row("cumsum of a row of 128", partial(torch.cumsum, dim=-1), [_f32(512, 128)], "positions"),
        Row("cumsum of columns", partial(torch.cumsum, dim=0), [_f32(4096, 64)], "prefix sums"),
        Row("cumsum of i64", partial(torch.cumsum, dim=-1), [_i64(64, 1024)], "positions by mask"),
        Row("softmax", partial(torch.softmax, dim=-1), [_signed(12, 128, 128)], "BERT's attention"),
        Row("softmax of 197", partial(torch.softmax, dim=-1), [_signed(12, 197, 197)], "ViT's"),
        Row(
            "log_softmax", partial(torch.log_softmax, dim=-1), [_signed(128, 30522)], "a vocabulary"
        ),
        Row(
            "layer_norm",
            lambda x, w, b: torch.nn.functional.layer_norm(x, (768,), w, b),
            [_signed(128, 768), _signed(768), _signed(768)],
            "BERT-base",
        ),
    ]
    return rows


def _products() -> list[Row]:
    linear, conv = torch.nn.functional.linear, torch.nn.functional.conv2d

    def layer(rows: int, inner: int, outer: int, why: str) -> Row:
        inputs = [_signed(rows, inner), _signed(outer, inner), _signed(outer)]
        return Row(f"linear {rows}x{inner}x{outer}", linear, inputs, why)

    def heads(tokens: int, why: str) -> list[Row]:
        query, scores = _signed(12, tokens, 64), _signed(12, tokens, tokens)
        return [
            Row(f"bmm of scores, {tokens}", torch.bmm, [query, _signed(12, 64, tokens)], why),
            Row(f"bmm of values, {tokens}", torch.bmm, [scores, query], why),
        ]

    def window(
        channels: int, size: int, filters: int, kernel: int, why: str, **options: int
    ) -> Row:
        inputs = [
            _signed(1, channels, size, size),
            _signed(filters, channels // options.get("groups", 1), kernel, kernel),
        ]
        name = f"convolution {kernel}x{kernel} of {channels}x{size}"
        call = partial(conv, padding=kernel // 2, **options)
        return Row(f"{name}, {options}" if options else name, call, inputs, why)

    return [
        layer(128, 768, 768, "BERT-base"),
        layer(128, 768, 3072, "BERT-base"),
        layer(197, 768, 768, "ViT-B"),
        layer(197, 768, 3072, "ViT-B"),
        layer(197, 3072, 768, "ViT-B"),
        layer(1, 1024, 4096, "one token of a Llama of 1024"),
        *heads(128, "BERT-base"),
        *heads(197, "ViT-B"),
        Row("mm", torch.mm, [_signed(512, 512), _signed(512, 512)], "a square"),
        Row(
            "addmm",
            torch.addmm,
            [_signed(768), _signed(128, 768), _signed(768, 768)],
            "GPT-2's Conv1D",
        ),
        window(64, 56, 64, 3, "ResNet-50"),
        window(256, 56, 64, 1, "ResNet-50"),
        window(3, 224, 64, 7, "ResNet-50's first", stride=2),
        window(96, 56, 96, 3, "MobileNet's depthwise", groups=96),
        window(96, 56, 96, 7, "ConvNeXt's depthwise", groups=96),
    ]


def _windows_and_movement() -> list[Row]:
    images, x = _signed(1, 64, 112, 112), _signed(128, 3072)
    pool, functional = "ResNet-50's first", torch.nn.functional
    return [
        Row("max_pool2d", partial(functional.max_pool2d, kernel_size=3, stride=2), [images], pool),
        Row(
            "max_pool2d with places",
            partial(functional.max_pool2d, kernel_size=3, stride=2, padding=1, return_indices=True),
            [images],
            pool,
        ),
        Row("avg_pool2d", partial(functional.avg_pool2d, kernel_size=3, stride=2), [images], pool),
        Row(
            "interpolate",
            partial(functional.interpolate, scale_factor=2, mode="bilinear"),
            [_signed(1, 64, 56, 56)],
            "a segmentation head",
        ),
        Row("permute", lambda x: x.permute(1, 0).clone(), [x], "rows to columns"),
        Row(
            "permute of heads",
            lambda x: x.permute(1, 0, 2).contiguous(),
            [_signed(128, 12, 64)],
            "BERT",
        ),
        Row("expand", lambda x: x.expand(128, 3072) + 0, [_signed(128, 1)], "a mask"),
        Row("repeat", lambda x: x.repeat(4, 1), [_signed(128, 768)], "beams"),
        Row(
            "cat",
            lambda x, y: torch.cat([x, y], 1),
            [_signed(8, 512, 64), _signed(8, 1, 64)],
            "a cache",
        ),
        Row("flip", lambda x: x.flip(-1), [x], "a reversed sequence"),
        Row(
            "constant_pad_nd",
            lambda x: functional.pad(x, (1, 1, 1, 1)),
            [_signed(1, 64, 112, 112)],
            "a window's border",
        ),
        Row("slice", lambda x: x[:, 1::2].clone(), [x], "every other feature"),
        Row("select", lambda x: x[:, 0].clone(), [_signed(64, 197, 768)], "ViT's class token"),
        Row("arange", lambda x: torch.arange(100_000) + x, [_i64(1)], "positions"),
        Row("full", lambda x: torch.full((512, 512), 2.0) + x, [_signed(1)], "a mask"),
    ]


def _indexing() -> list[Row]:
    table, rows = _signed(8000, 64), _signed(512, 64)
    at, words = _i64(512, high=8000), _i64(128, high=30522)
    why = "512 rows of a table of 8000, recommendation"
    spread = _i64(512, 64, high=8000)

    def gradient(grad: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        return aten.embedding_dense_backward(grad, words, 30522, -1, False)

    return [
        Row("embedding", aten.embedding, [_signed(30522, 768), words], "BERT-base"),
        Row(
            "embedding_dense_backward", gradient, [_signed(128, 768), words], "BERT-base's gradient"
        ),
        Row("gather", lambda x, i: x.gather(0, i), [table, spread], why),
        Row("index_select", lambda x, i: x.index_select(0, i), [table, at], why),
        Row("index", lambda x, i: x[i], [table, at], why),
        Row(
            "index of pairs",
            lambda x, i, j: x[i, j],
            [table, at, _i64(512, high=64)],
            "picked elements",
        ),
        Row("index_add", lambda x, i, y: x.index_add(0, i, y), [table, at, rows], why),
        Row(
            "index_put",
            lambda x, i, y: x.index_put((i,), y),
            [table, lambda: torch.randperm(8000)[:512], rows],
            why,
        ),
        Row(
            "index_put, accumulate",
            lambda x, i, y: x.index_put((i,), y, accumulate=True),
            [table, at, rows],
            why,
        ),
        Row(
            "index_add of a graph",
            lambda x, i, y: x.index_add(0, i, y),
            [_signed(2708, 64), _grouped(10556, 2708), _signed(10556, 64)],
            "messages along the edges of Cora",
        ),
        Row("scatter", lambda x, i, y: x.scatter(0, i, y), [table, spread, rows], why),
        Row("scatter of a number", lambda x, i: x.scatter(0, i, 1.0), [table, spread], why),
        Row("scatter_add", lambda x, i, y: x.scatter_add(0, i, y), [table, spread, rows], why),
        Row(
            "scatter_reduce",
            lambda x, i, y: x.scatter_reduce(0, i, y, "amax"),
            [table, spread, rows],
            why,
        ),
        Row(
            "index_copy of a cache",
            lambda x, i, y: x.index_copy(2, i, y),
            [_signed(1, 16, 512, 64), _i64(1, high=512), _signed(1, 16, 1, 64)],
            "one token into a static cache",
        ),
        Row(
            "one_hot",
            lambda i: torch.nn.functional.one_hot(i, 64),
            [_i64(2048, high=64)],
            "experts",
        ),
        Row("bincount", lambda i: torch.bincount(i, minlength=64), [_i64(2048, high=64)], "counts"),
    ]


def _ordering() -> list[Row]:
    line = _signed(8, 30522)

    def top(k: int) -> Callable[[torch.Tensor], Any]:
        return lambda x: x.topk(k, -1)

    return [
        Row("topk 1", top(1), [line], "greedy decoding of a batch of 8"),
        Row("topk 5", top(5), [line], "beams"),
        Row("topk 50", top(50), [line], "sampling"),
        Row("topk 2 of 64", top(2), [_signed(2048, 64)], "experts of 2048 tokens"),
        Row("topk 100 of 8400", top(100), [_signed(1, 8400)], "a detector's boxes"),
        Row("sort", lambda x: x.sort(-1), [_signed(8, 4096)], "nucleus sampling"),
        Row("sort of a vocabulary", lambda x: x.sort(-1), [_signed(1, 30522)], "nucleus sampling"),
        Row("sort of 64", lambda x: x.sort(-1), [_signed(512, 64)], "short lines"),
        Row("argsort of i64", lambda x: x.argsort(-1), [_i64(4096)], "tokens by expert"),
        Row("median", lambda x: x.median(-1), [_signed(128, 512)], "a filter"),
        Row(
            "searchsorted",
            torch.searchsorted,
            [lambda: torch.linspace(0, 1, 1024), _f32(8192)],
            "buckets",
        ),
    ]


def all_rows() -> list[Row]:
    """Every row."""
    return [
        *_elementwise(),
        *_reductions(),
        *_products(),
        *_windows_and_movement(),
        *_indexing(),
        *_ordering(),
    ]
