"""Tensors out of nothing: filled, counted, like another, constants of the program."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any

import torch

from tests.e2e.registry import case, f16, f32, i64

FROM_A_TENSOR: dict[str, Callable[..., Any]] = {
    "zeros_like": torch.zeros_like,
    "ones_like_i64": lambda x: torch.ones_like(x, dtype=torch.int64),
    "full_like": lambda x: torch.full_like(x, 2.5),
    "new_zeros": lambda x: x.new_zeros(x.shape[0], 2),
    "new_full": lambda x: x.new_full((2, x.shape[0]), -1.5),
    "zeros": lambda x: x + torch.zeros(x.shape[0], 1),
    "ones_bool": lambda x: torch.ones(x.shape, dtype=torch.bool),
    "full_infinite": lambda x: (torch.full((x.shape[0],), -inf), torch.full((2,), nan)),
    "full_integers": lambda x: torch.full((x.shape[0], 2), 7),
    "full_bool": lambda x: torch.full((x.shape[0], 2), True),
    "full_half": lambda x: torch.full((x.shape[0], 2), 0.1, dtype=torch.float16),
    "full_f64": lambda x: torch.full((x.shape[0], 2), 0.1, dtype=torch.float64),
    "scalar_tensor": lambda x: (torch.scalar_tensor(3.5), x + torch.scalar_tensor(2.0)),
    "tensor_constant": lambda x: x * torch.tensor([1.0, 2.0, 3.0, 4.0]),
    "integer_constant": lambda x: torch.tensor([[1, 2], [3, 4]]) + x.shape[1],
    "number_constant": lambda x: x * torch.tensor(2.5),
    "arange": lambda x: torch.arange(x.shape[0]),
    "arange_start": lambda x: torch.arange(2, x.shape[0] + 2),
    "arange_step": lambda x: (torch.arange(1, 10, 3), torch.arange(5, -5, -2)),
    "arange_float": lambda x: (torch.arange(4.0), torch.arange(0.5, 3.0, 0.5)),
    "arange_to_dtype": lambda x: torch.arange(x.shape[0], dtype=torch.float32) / 2,
    "arange_i32": lambda x: torch.arange(x.shape[0], dtype=torch.int32),
    "arange_f16": lambda x: torch.arange(4, dtype=torch.float16),
    "arange_empty": lambda x: torch.arange(0),
    "linspace": lambda x: torch.linspace(-1.0, 2.0, 7),
    "linspace_of_integers": lambda x: torch.linspace(0, 10, 4, dtype=torch.int64),
    "logspace": lambda x: torch.logspace(-1.5, 2.0, 6) * x.shape[0],
    "logspace_of_integers": lambda x: torch.logspace(0, 3, 4, dtype=torch.int64),
    "tril_indices": lambda x: (torch.tril_indices(4, 3, -1), torch.tril_indices(3, 5, 1)),
    "triu_indices": lambda x: (torch.triu_indices(4, 3, -1), torch.triu_indices(2, 2, 3)),
    "eye": lambda x: torch.eye(x.shape[0]),
    "eye_wide": lambda x: torch.eye(3, 5),
    "position_ids": lambda x: torch.arange(x.shape[0]).unsqueeze(0).expand(2, -1),
    "causal_mask": lambda x: torch.full((x.shape[0], x.shape[0]), -inf).triu(1),
    "empty_filled": lambda x: torch.empty(x.shape[0], 2).fill_(3.0),
    "sizes_as_tensor": lambda x: torch.tensor([1.0]) * x.shape[0],
    "tri_mask": lambda x: torch.arange(x.shape[0])[None, :] <= torch.arange(x.shape[0])[:, None],
}
for name, function in FROM_A_TENSOR.items():
    case(name, function, f32("B", 4))

case("zeros_like_integers", torch.zeros_like, i64("B", 4))
case("ones_like_half", torch.ones_like, f16("B", 4))
case("no_inputs", lambda: torch.arange(6).reshape(2, 3) * 2)
