"""Rotations, windows, diagonals, repetitions, parts and products of positions: elements in other places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional as f

from tests.e2e.registry import b1, bf16, case, f32, f64, i32, i64, u8

OF_A_MATRIX: dict[str, Callable[..., Any]] = {
    "roll_two_axes": lambda x: torch.roll(x, (1, -2), (0, 1)),
    "roll_flat": lambda x: torch.roll(x, 3),
    "rot90": lambda x: (torch.rot90(x), torch.rot90(x, 2), torch.rot90(x, -1)),
    "fliplr_flipud": lambda x: (x.fliplr(), x.flipud()),
    "tril_triu_offsets": lambda x: (x.tril(1), x.triu(-1)),
    "diagonals": lambda x: (x.diagonal(), x.diagonal(1), x.diagonal(-1)),
    "trace": torch.trace,
    "diff_twice": lambda x: torch.diff(x, 2, 1),
    "narrow_copy": lambda x: torch.narrow_copy(x, 1, 1, 2),
    "swapaxes_copy": lambda x: torch.transpose_copy(x, 0, 1) + 0,
}
for name, function in OF_A_MATRIX.items():
    case(name, function, f32("B", "S"))
OF_A_VECTOR: dict[str, Callable[..., Any]] = {
    "diag_of_a_vector": lambda x: (torch.diag(x), torch.diag(x, 1)),
    "diag_embed": lambda x: torch.diag_embed(x, -1),
    "diagflat": lambda x: torch.diagflat(x, 1),
    "unfold_a_line": lambda x: x.unfold(0, 3, 1),
    "atleast": lambda x: (torch.atleast_2d(x), torch.atleast_3d(x)),
}
for name, function in OF_A_VECTOR.items():
    case(name, function, f32("S"))
PARTS: dict[str, Callable[..., Any]] = {
    "tensor_split": lambda x: torch.tensor_split(x, 3, 1),
    "tensor_split_at": lambda x: torch.tensor_split(x, (1, 3), 1),
    "chunk_unevenly": lambda x: x.chunk(3, 1),
    "split_sizes": lambda x: x.split([1, 4, 3], 1),
    "unbind_columns": lambda x: x.unbind(1),
    "hsplit": lambda x: x.hsplit(4),
    "unsafe_parts": lambda x: (*torch.unsafe_chunk(x, 2, 1), *torch.unsafe_split(x, 5, 1)),
    "unfold_with_gaps": lambda x: x.unfold(1, 3, 2),
}
for name, function in PARTS.items():
    case(name, function, f32("B", 8))
PADDINGS: dict[str, Callable[..., Any]] = {
    "pad_reflect_line": lambda x: f.pad(x, (1, 2), mode="reflect"),
    "pad_replicate_line": lambda x: f.pad(x, (1, 2), mode="replicate"),
    "pad_circular_line": lambda x: f.pad(x, (1, 2), mode="circular"),
    "pad_cuts": lambda x: f.pad(x, (-1, 2, 1, -1), value=3.0),
    "pad_replicate_cuts": lambda x: f.pad(x, (-1, 2), mode="replicate"),
}
for name, function in PADDINGS.items():
    case(name, function, f32("B", 2, "S"))
case(
    "pad_replicate_volume",
    lambda x: f.pad(x, (1, 0, 0, 1, 1, 1), mode="replicate"),
    f32(1, 1, 2, 2, "S"),
)
case("pad_circular_image", lambda x: f.pad(x, (1, 1, 0, 2), mode="circular"), f32("B", 2, 3, "S"))
case("diag_of_a_square", lambda x: torch.diag(x), f32("B", "B"))
case("diagonal_scatter", torch.diagonal_scatter, f32("B", "B"), f32("B"))
case(
    "diagonal_scatter_below",
    lambda x, y: x.diagonal_scatter(y, -1, 1, 2),
    i64("B", 4, 6),
    i64("B", 3),
)
case("select_scatter_last", lambda x, y: x.select_scatter(y, 0, -1), f32("S", 8), f32(8))
case("slice_scatter_steps", lambda x, y: x.slice_scatter(y, 1, 1, 7, 2), f32("B", 8), f32("B", 3))
case(
    "slice_scatter_of_none",
    lambda x, y: (x.slice_scatter(y, 1, 0, 0), x.slice_scatter(y, 1, step=2)),
    f32("B", 0),
    f32("B", 0),
)
case(
    "as_strided_scatter",
    lambda x, y: torch.as_strided_scatter(x, y, (2, 2), (1, 2), 1),
    f32("B", 3),
    f32(2, 2),
)
case("as_strided_windows", lambda x: x.as_strided((3, 2), (2, 1)), f32(8))
case("block_diag", lambda x, y: torch.block_diag(x, y), f32("B", 2), f32(3, "S"))
case("kron", torch.kron, f32(4, 2), f32(3, 2))
case("vander", lambda x: torch.vander(x, 4, True), f32(4))
case("cartesian_prod", torch.cartesian_prod, f32("B"), f32("S"))
case(
    "stacks",
    lambda x, y: (torch.dstack([x, y]), torch.column_stack([x, y])),
    f32("B", 3),
    f32("B", 3),
)
case("unravel_index", lambda x: torch.unravel_index(x, (4, 5)), i64("B", 3, low=0, high=20))
case(
    "count_nonzero_integers",
    lambda x: (torch.count_nonzero(x), torch.count_nonzero(x, 1)),
    i64("B", "S", low=-1, high=2),
)
case(
    "segment_reduce",
    lambda x, n: [torch.segment_reduce(x, reduce, lengths=n) for reduce in ("sum", "mean")],
    f32(5, "B"),
    i64(3, values=(2, 0, 3)),
)
case(
    "segment_reduce_extrema",
    lambda x, n: [torch.segment_reduce(x, reduce, offsets=n) for reduce in ("max", "min")],
    f32(5, "B"),
    i64(3, values=(0, 2, 5), fixed=True),
)
case(
    "integer_conversions",
    lambda x: (x.bool(), x.byte(), x.char(), x.short(), x.int(), x.half(), x.bfloat16()),
    i64("B", 6, low=-300, high=300),
)
case(
    "float_conversions",
    lambda x: (x.bool(), x.char(), x.int(), x.long(), x.half()),
    f32("B", 6, low=-100, high=100),
)
case(
    "byte_conversions",
    lambda x: (x.float(), x.long(), x.char(), x.bool()),
    u8("B", 4, low=0, high=256),
)
case("type_as", lambda x, y: (x.type_as(y), y.type_as(x)), b1("B", 3), bf16("B", 3))
case("roll_u8_i32", lambda x, y: (x.roll(1, 0), y.roll(-1, 1)), u8("B", 3), i32("B", 3))
case("fill_and_zero", lambda x: (torch.fill(x, 2.5), x.clone().zero_()), f64(3, 2))
case("resize", lambda x: torch.ops.aten.resize(x, [2, 3]), f32(4, 3))


def _first_and_last(x: torch.Tensor) -> torch.Tensor:
    x = x.clone()
    x[0:3] = x[0:3] * 2
    x[:, -2:] = 3
    return x


case("update_first_and_last", _first_and_last, f32("B", "S"))
