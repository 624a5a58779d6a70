"""A zoo model's inputs at sizes other than those it was exported with."""

from __future__ import annotations

from typing import Any

import torch

from zoo import ZooModel

OTHER_SIZES = {"batch": 3, "sequence": 6, "target": 4}


def other_inputs(entry: ZooModel) -> tuple[list[torch.Tensor], dict[str, Any]]:
    """Arguments of the other sizes, made of the rows of the example ones."""
    args = [
        _resize(value, entry.dims[parameter])
        for parameter, value in zip(entry.dims, entry.args, strict=False)
    ]
    return args, {key: _resize(value, entry.dims[key]) for key, value in entry.kwargs.items()}


def _resize(value: torch.Tensor, dims: dict[int, str]) -> torch.Tensor:
    for axis, name in dims.items():
        indices = torch.arange(OTHER_SIZES[name]) % value.shape[axis]
        value = value.index_select(axis, indices)
    return value
