"""Grouped products: rows in groups, each times its group's matrix."""

from __future__ import annotations

from typing import Any

import torch

from tests.e2e.registry import bf16, case, f32

aten = torch.ops.aten

ENDS = {
    "even": (2, 4, 6),
    "empty_groups": (0, 6, 6),
    "all_in_the_last": (0, 0, 6),
    "all_in_the_first": (6, 6, 6),
}


def _ends(values: Any) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int32)


for _name, _values in ENDS.items():
    case(
        f"grouped_rows_{_name}",
        lambda a, b, v=_values: aten._grouped_mm(a, b, _ends(v)),
        f32(6, 4),
        f32(3, 4, 8),
        loose=4,
    )
    case(
        f"grouped_shared_{_name}",
        lambda a, b, v=_values: aten._grouped_mm(a, b, _ends(v)),
        f32(4, 6),
        f32(6, 8),
        loose=4,
    )
case(
    "grouped_rows_dynamic",
    lambda a, b: aten._grouped_mm(a, b, _ends((1, 1, 3))[:, None].expand(3, 1)[:, 0] * 1),
    f32("B", 4),
    f32(3, 4, 8),
    loose=4,
)
case(
    "grouped_columns",
    lambda a, b: aten._grouped_mm(a, b, _ends((2, 3, 6))),
    f32(3, 4, 8),
    f32(8, 6),
    loose=4,
)
case("grouped_both", lambda a, b: aten._grouped_mm(a, b), f32(3, 4, 8), f32(3, 8, 4), loose=4)
case(
    "grouped_rows_bf16",
    lambda a, b: aten._grouped_mm(a, b, _ends((1, 5, 8))),
    bf16(8, 16),
    bf16(3, 16, 8),
    loose=4,
)
