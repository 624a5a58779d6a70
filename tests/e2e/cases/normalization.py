"""Normalisation layers."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional as f

from tests.e2e.registry import bf16, case, f16, f32, f64


def _enlivened(layer: type[nn.Module]) -> type[nn.Module]:
    """The layer with parameters and statistics away from their neutral values."""

    class Enlivened(layer):  # type: ignore[valid-type,misc]
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            for parameter in self.parameters():
                nn.init.uniform_(parameter, 0.5, 1.5)
            for buffer in self.buffers():
                if buffer.is_floating_point():
                    nn.init.uniform_(buffer, 0.5, 1.5)

    return Enlivened


IMAGE = f32("B", 4, "H", 5)

case("layer_norm", _enlivened(nn.LayerNorm), f32("B", "S", 8), init=(8,), loose=5)
case("layer_norm_two_axes", _enlivened(nn.LayerNorm), f32("B", 3, 4), init=((3, 4),), loose=5)
case("layer_norm_no_affine", lambda x: f.layer_norm(x, (8,)), f32("B", 8), loose=5)
case("layer_norm_large_eps", lambda x: f.layer_norm(x, (8,), eps=0.5), f32("B", 8), loose=5)
case("layer_norm_f64", lambda x, w, b: f.layer_norm(x, (8,), w, b), f64("B", 8), f64(8), f64(8))
case(
    "layer_norm_f16",
    lambda x, w, b: f.layer_norm(x, (8,), w, b),
    f16("B", 8),
    f16(8),
    f16(8),
    loose=4,
)
case(
    "layer_norm_bf16",
    lambda x, w, b: f.layer_norm(x, (8,), w, b),
    bf16("B", 8),
    bf16(8),
    bf16(8),
    loose=4,
)
case("group_norm", _enlivened(nn.GroupNorm), IMAGE, init=(2, 4), loose=5)
case("group_norm_rank_2", _enlivened(nn.GroupNorm), f32("B", 4), init=(2, 4), loose=5)
case(
    "group_norm_of_a_large_mean",
    nn.GroupNorm,
    f32("B", 4, 6, low=29, high=31),
    init=(2, 4),
    loose=10,
)
case("layer_norm_of_a_large_mean", nn.LayerNorm, f32("B", 6, low=29, high=31), init=(6,), loose=10)
# means that are rounded by more than tolerances of what is left of numbers far from zero, or of equal ones
for name, normalized in {
    "layer_norm": lambda x: f.layer_norm(x, (768,)),
    "group_norm": lambda x: f.group_norm(x.view(-1, 4, 24, 8), 2),
    "instance_norm": lambda x: f.instance_norm(x.view(-1, 3, 16, 16)),
    "var_mean": lambda x: torch.var_mean(x, 1),
}.items():
    case(
        f"{name}_far_from_zero",
        lambda x, g=normalized: g(x + 1000.0),
        f32("B", 768),
        loose=150,
    )
# eager's own layers of images, and ONNX Runtime's, round the mean of equal numbers
case(
    "layer_norm_of_equal_numbers",
    lambda x: f.layer_norm(x, (768,)),
    f32("B", 768, values=(12345.678,)),
)
case(
    "var_mean_of_equal_numbers",
    lambda x: torch.var_mean(x, 1),
    f32("B", 768, values=(12345.678,)),
)
case("batch_norm_2d", _enlivened(nn.BatchNorm2d), IMAGE, init=(4,), loose=5)
case("batch_norm_1d", _enlivened(nn.BatchNorm1d), f32("B", 4), init=(4,), loose=5)
case("batch_norm_3d", _enlivened(nn.BatchNorm3d), f32("B", 4, 2, 3, 2), init=(4,), loose=5)
case("batch_norm_no_affine", nn.BatchNorm2d, IMAGE, init=(4, 1e-5, 0.1, False), loose=5)
case("instance_norm", _enlivened(nn.InstanceNorm2d), IMAGE, init=(4, 1e-5, 0.1, True), loose=5)
case("rms_norm", _enlivened(nn.RMSNorm), f32("B", "S", 8), init=(8,), loose=5)
case(
    "rms_norm_by_hand",
    lambda x: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6),
    f32("B", "S", 8),
    loose=5,
)
case("local_response_norm", lambda x: f.local_response_norm(x, 2), f32("B", 4, 5, 5), loose=5)


class BatchNormInTraining(nn.Module):
    """Batch statistics are used and the running ones are updated."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.norm.train()
        return self.norm(x)


case(
    "batch_norm_without_statistics",
    lambda x: f.batch_norm(x, None, None, training=True, eps=1e-6),
    f32(1, 4, "S"),
    loose=5,
)
case("batch_norm_in_training", BatchNormInTraining, f32("B", 4), loose=5)
case(
    "batch_norm_f16_far_from_zero",
    lambda x: f.batch_norm(x + 100, torch.full((4,), 100.0).half(), torch.ones(4).half()),
    f16("B", 4, 6),
)
case(
    "instance_norm_f16",
    lambda x, w, b: f.instance_norm(x, weight=w, bias=b),
    f16("B", 4, 6),
    f16(4),
    f16(4),
    loose=4,
)
case(
    "instance_norm_f16_far_from_zero",
    lambda x, mean, var: f.instance_norm(x + 100, mean + 100, var, use_input_stats=False),
    f16("B", 4, 6),
    f16(4, low=0.0, high=0.5),
    f16(4, low=0.5, high=1.5),
)


class _InstanceNormTraining(nn.Module):
    """Each call moves the running statistics, which PyTorch's op does not say."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.InstanceNorm1d(4, affine=True, track_running_stats=True)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        normal = self.norm.train()(x)
        assert self.norm.running_mean is not None
        return normal, self.norm.running_mean + 0


case("instance_norm_training", _InstanceNormTraining, f32("B", 4, 6), loose=5)
