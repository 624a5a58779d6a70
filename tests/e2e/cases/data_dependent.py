"""Results whose size depends on elements."""

from __future__ import annotations

from math import nan

import torch

from tests.e2e.registry import b1, case, f32, i32, i64, u8

case("sized_nonzero", lambda x: torch.nonzero(x > 0), f32("B", 3, 2))
case("sized_nonzero_of_a_row", lambda x: torch.nonzero(x), i64("B", low=0, high=2))
case("sized_nonzero_of_nothing", lambda x: torch.nonzero(x != x), f32("B", 3))
case("sized_nonzero_of_a_number", lambda x: torch.nonzero(x.sum()), f32("B"))
case("sized_where_true", lambda x: torch.where(x > 0), f32("B", 4))
case("sized_argwhere_scaled", lambda x: torch.argwhere(x > 0) * 2, f32("B", 4))
case("sized_masked_select", lambda x, m: torch.masked_select(x, m), f32("B", 4), b1(4))
case(
    "sized_masked_select_reduced",
    lambda x, m: x - torch.masked_select(x, m).sum(),
    f32("B", 4),
    b1(4),
)
case("sized_index_by_mask", lambda x, m: x[m] + 1, f32("B", 4), b1("B", 4))
case("sized_index_by_mask_of_rows", lambda x, m: x[m].mean(1), f32("B", 4), b1("B"))
case("sized_two_sizes_from_data", lambda x: (torch.nonzero(x > 0), torch.nonzero(x > 1)), f32("B"))
case(
    "sized_unique",
    lambda x: torch.unique(x, return_inverse=True, return_counts=True),
    i64("B", 3, low=-2, high=2),
)
case(
    "sized_unique_only_values",
    lambda x: torch.unique(x),
    f32("B", values=(1.0, nan, -2.0, 1.0, nan, 0.0)),
)
case(
    "sized_unique_rows",
    lambda x: torch.unique(x, dim=0, return_inverse=True),
    i64("B", 2, low=0, high=1),
)
case(
    "sized_unique_consecutive",
    lambda x: torch.unique_consecutive(x, return_inverse=True, return_counts=True),
    i64("B", low=0, high=1),
)
case(
    "sized_unique_consecutive_columns",
    lambda x: torch.unique_consecutive(x, dim=1, return_counts=True),
    i64(2, "B", low=0, high=1),
)
case("sized_unique_of_selected", lambda x: torch.unique(x[x > 0]), i64("B", low=-3, high=3))
case("sized_bincount_of_bytes", lambda x: torch.bincount(x), u8("B", high=5))
case("sized_bincount", lambda x: torch.bincount(x), i64("B", low=0, high=5))
case(
    "sized_bincount_weights",
    lambda x, w: torch.bincount(x, w, minlength=9),
    i64("B", low=0, high=5),
    f32("B"),
)
case(
    "sized_repeat_interleave_counts",
    lambda x, r: torch.repeat_interleave(x, r, dim=0),
    f32("B", 2),
    i64("B", low=0, high=3),
)
case(
    "sized_tensor_split",
    lambda x, i: tuple(part * 2 for part in torch.tensor_split(x, i, 1)),
    f32("B", 7),
    i64(3, values=(2, -3, 6)),
)
case("sized_repeat_interleave_i32", torch.repeat_interleave, i32("B", low=0, high=3))
case("sized_repeat_interleave_one_i32", torch.repeat_interleave, i32(1, low=1, high=6))
