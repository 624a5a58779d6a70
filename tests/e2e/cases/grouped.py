"""Grouped products: rows in groups, each times its group's matrix.

In bfloat16, the only type that PyTorch's op is captured in.
"""

from __future__ import annotations

from typing import Any

import torch

from tests.e2e.registry import bf16, case

aten = torch.ops.aten

ENDS = {
    "even": (5, 10, 16),
    "empty_groups": (0, 16, 16),
    "all_in_the_last": (0, 0, 16),
    "all_in_the_first": (16, 16, 16),
}


def _ends(values: Any) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int32)


for _name, _values in ENDS.items():
    case(
        f"grouped_rows_{_name}",
        lambda a, b, v=_values: aten._grouped_mm(a, b, _ends(v)),
        bf16(16, 8),
        bf16(3, 8, 8),
        loose=4,
    )
    case(
        f"grouped_shared_{_name}",
        lambda a, b, v=_values: aten._grouped_mm(a, b, _ends(v)),
        bf16(8, 16),
        bf16(16, 8),
        loose=4,
    )
case(
    "grouped_rows_dynamic",
    lambda a, b: aten._grouped_mm(a, b, _ends((1, 1, 3)) + (a.shape[0] - 3)),
    bf16("B", 8),
    bf16(3, 8, 16),
    loose=4,
)
case(
    "grouped_columns",
    lambda a, b: aten._grouped_mm(a, b, _ends((2, 3, 16))),
    bf16(3, 8, 8),
    bf16(8, 16),
    loose=4,
)
case("grouped_both", lambda a, b: aten._grouped_mm(a, b), bf16(3, 8, 8), bf16(3, 8, 16), loose=4)
