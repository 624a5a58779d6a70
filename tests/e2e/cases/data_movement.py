"""Views, transposes, concatenations, slices, padding: nothing is computed, everything moves."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import torch
from torch.nn import functional as f

from tests.e2e.registry import b1, bf16, case, f32, f64, i64, u8

VIEWS: dict[str, Callable[..., Any]] = {
    "view_merge_leading": lambda x: x.view(-1, 4),
    "view_merge_trailing": lambda x: x.view(x.shape[0], -1),
    "view_flat": lambda x: x.reshape(-1),
    "view_split": lambda x: x.view(x.shape[0], x.shape[1], 2, 2),
    "view_split_and_merge": lambda x: x.view(x.shape[0], x.shape[1] * 2, 2),
    "view_of_transposed": lambda x: x.transpose(0, 1).reshape(x.shape[1], -1),
    "flatten": lambda x: torch.flatten(x, 1),
    "unflatten": lambda x: x.unflatten(2, (2, 2)),
    "permute": lambda x: x.permute(2, 0, 1),
    "permute_back": lambda x: x.permute(2, 0, 1).permute(1, 2, 0),
    "transpose": lambda x: x.transpose(0, -1),
    "transpose_last": lambda x: x.mT,
    "movedim": lambda x: torch.movedim(x, 0, -1),
    "unsqueeze": lambda x: (x.unsqueeze(0), x.unsqueeze(-1), x.unsqueeze(1)),
    "squeeze_nothing": lambda x: x.squeeze(-1),
    "expand": lambda x: x[:, :1].expand(-1, 5, -1),
    "expand_new_axis": lambda x: x.expand(2, *x.shape),
    "repeat": lambda x: x.repeat(2, 1, 3),
    "repeat_new_axis": lambda x: x.repeat(2, 1, 1, 1),
    "tile": lambda x: torch.tile(x, (2,)),
    "flip": lambda x: (x.flip(0), x.flip(1, 2)),
    "roll": lambda x: (x.roll(1, 2), x.roll(-1, 0)),
    "roll_two": lambda x: x.roll((1, 2), (0, 2)),
    "slice": lambda x: (x[1:], x[:, :2], x[..., 1:3]),
    "slice_negative": lambda x: (x[-2:], x[:, :-1], x[..., -3:-1]),
    "slice_step": lambda x: (x[..., ::2], x[..., 1::3]),
    "slice_step_over_a_dynamic_axis": lambda x: x[::2],
    "slice_beyond_the_end": lambda x: (x[..., 2:100], x[..., -100:2]),
    "slice_nothing": lambda x: x[..., 2:2],
    "select": lambda x: (x[0], x[:, 1], x[..., -1]),
    "narrow": lambda x: x.narrow(2, 1, 2),
    "split": lambda x: x.split(2, dim=2),
    "split_uneven": lambda x: x.split([1, 3], dim=-1),
    "chunk": lambda x: x.chunk(2, dim=2),
    "unbind": lambda x: x.unbind(2),
    "pad": lambda x: f.pad(x, (1, 2)),
    "pad_value": lambda x: f.pad(x, (1, 0, 0, 2), value=-inf),
    "pad_negative": lambda x: f.pad(x, (-1, 1)),
    "pad_negative_only": lambda x: f.pad(x, (-1, -1, 1, 0)),
    "pad_reflect": lambda x: f.pad(x, (1, 1), mode="reflect"),
    "pad_replicate": lambda x: f.pad(x, (2, 1), mode="replicate"),
    "pad_circular": lambda x: f.pad(x, (1, 1), mode="circular"),
    "cat_first": lambda x: torch.cat([x, x, x]),
    "cat_last": lambda x: torch.cat([x, x[..., :1]], -1),
    "stack": lambda x: (torch.stack([x, x]), torch.stack([x, x], -1)),
    "repeat_interleave": lambda x: x.repeat_interleave(2, dim=1),
    "triangles": lambda x: (x.tril(), x.triu(1)),
    "diagonal": lambda x: x.diagonal(dim1=1, dim2=2),
    "contiguous_and_clone": lambda x: (x.contiguous(), x.clone(), x.detach()),
    "identity": lambda x: x,
    "same_twice": lambda x: (x * 2,) * 2,
    "pixel_layout": lambda x: x.unsqueeze(1).repeat(1, 4, 1, 1),
}
for name, function in VIEWS.items():
    case(name, function, f32("B", 3, 4))

DYNAMIC_MIDDLE: dict[str, Callable[..., Any]] = {
    "heads_split": lambda x: x.view(x.shape[0], x.shape[1], 2, 4).transpose(1, 2),
    "heads_merged": lambda x: (
        x.view(x.shape[0], x.shape[1], 2, 4)
        .transpose(1, 2)
        .transpose(1, 2)
        .reshape(x.shape[0], x.shape[1], 8)
    ),
    "rows_merged": lambda x: x.reshape(-1, 8),
    "last_position": lambda x: x[:, -1],
    "without_last_position": lambda x: x[:, :-1],
    "shifted": lambda x: torch.cat([x[:, 1:], x[:, :1]], 1),
    "cat_dynamic": lambda x: torch.cat([x, x * 2, x[:, :1]], 1),
    "repeat_dynamic": lambda x: x.repeat(1, 2, 1),
    "flip_dynamic": lambda x: x.flip(1),
    "pad_dynamic": lambda x: f.pad(x, (0, 0, 1, 2)),
    "first_positions": lambda x: x[:, :3],
    "causal_triangle": lambda x: torch.tril(torch.ones(x.shape[1], x.shape[1])),
}
for name, function in DYNAMIC_MIDDLE.items():
    case(name, function, f32("B", "S", 8))

case("squeeze", lambda x: (x.squeeze(), x.squeeze(1), x.squeeze((1, 3))), f32("B", 1, 3, 1))
case("squeeze_to_zero_rank", torch.squeeze, f32(1, 1))
case("unsqueeze_zero_rank", lambda x: (x.unsqueeze(0), x.reshape(1, 1)), f32())
case("expand_zero_rank", lambda x, y: x.expand(y.shape[0], 3), f32(), f32("B"))
case("expand_as", lambda x, y: x.expand_as(y), f32("B", 1), f32("B", 4))
case("broadcast_tensors", lambda x, y: torch.broadcast_tensors(x, y), f32("B", 1), f32(4))
case("view_integers", lambda x: (x.view(-1), x.t(), x[1:]), i64("B", 4))
case("view_bools", lambda x: (x.view(-1), x.t(), torch.cat([x, x])), b1("B", 4))
case("view_u8", lambda x: (x.view(-1), x.flip(1), f.pad(x, (1, 1))), u8("B", 4))
case("view_half", lambda x: (x.view(-1), x.t(), torch.cat([x, x])), bf16("B", 4))
case("view_f64", lambda x: (x.view(-1), x.t(), f.pad(x, (1, 1), value=2.0)), f64("B", 4))
case(
    "view_with_sizes_of_another",
    lambda x, y: x.view(y.shape[0], -1),
    f32(("B", lambda b: 4 * b)),
    f32("B", 4),
)
case("cat_promotes", lambda x, y: torch.cat([x, y]), i64("B", 3), f32(2, 3))
case("cat_two_dynamic", lambda x, y: torch.cat([x, y]), f32("B", 3), f32("S", 3))
case("cat_skips_empty", lambda x, y: torch.cat([x, y]), f32("B", 3), f32(0))
case(
    "hstack_vstack",
    lambda x, y: (torch.hstack([x, y]), torch.vstack([x, y])),
    f32("B", 3),
    f32("B", 3),
)
case("constant_pad_integers", lambda x: f.pad(x, (1, 1), value=7), i64("B", 3))
case("constant_pad_2d", lambda x: f.pad(x, (1, 2, 0, 1)), f32("B", 2, 3, 3))
case("pad_reflect_2d", lambda x: f.pad(x, (1, 1, 2, 1), mode="reflect"), f32("B", 2, 4, 4))
case("pixel_shuffle", lambda x: f.pixel_shuffle(x, 2), f32("B", 4, 3, 3))
case("pixel_unshuffle", lambda x: f.pixel_unshuffle(x, 2), f32("B", 1, 4, 4))
case("channel_shuffle", lambda x: f.channel_shuffle(x, 2), f32("B", 4, 3, 3))
case("unfold_windows", lambda x: f.unfold(x, 2, stride=2), f32("B", 2, 4, 4))
case("meshgrid", lambda x, y: torch.meshgrid(x, y, indexing="ij"), f32("B"), f32("S"))
case(
    "upsample_nearest",
    lambda x: f.interpolate(x, scale_factor=2, mode="nearest"),
    f32("B", 2, 3, 4),
)
case(
    "upsample_bilinear", lambda x: f.interpolate(x, size=(5, 6), mode="bilinear"), f32("B", 2, 3, 4)
)
