"""Hashes of tensors, exact to the bit; PyTorch exports only static ones."""

from __future__ import annotations

import torch

from tests.e2e.registry import case, f32, i64

case("hash_integers", torch.hash_tensor, i64(3, 5, low=-(1 << 62), high=1 << 62))
case("hash_rows", lambda x: torch.hash_tensor(x, 1, keepdim=True), i64(3, 5))
case("hash_floats", torch.hash_tensor, f32(3, 5))
