"""Activations, soft maxima and losses, at extreme inputs too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as f

from tests.e2e.registry import bf16, case, f16, f32, f64

EXTREMES = (-100.0, -20.0, -3.0, -1.0, -0.1, 0.0, 0.1, 0.5, 1.0, 2.0, 3.0, 6.0, 20.0, 100.0)

ACTIVATIONS: dict[str, Callable[..., Any]] = {
    "gelu": f.gelu,
    "gelu_tanh": lambda x: f.gelu(x, approximate="tanh"),
    "silu": f.silu,
    "mish": f.mish,
    "elu": lambda x: f.elu(x, alpha=0.7),
    "selu": f.selu,
    "celu": lambda x: f.celu(x, alpha=0.7),
    "relu6": f.relu6,
    "leaky_relu": lambda x: f.leaky_relu(x, 0.1),
    "hardswish": f.hardswish,
    "hardsigmoid": f.hardsigmoid,
    "hardtanh": lambda x: f.hardtanh(x, -2.0, 1.5),
    "hardshrink": f.hardshrink,
    "softshrink": f.softshrink,
    "softplus": f.softplus,
    "softplus_beta": lambda x: f.softplus(x, beta=2.0, threshold=5.0),
    "softsign": f.softsign,
    "tanhshrink": f.tanhshrink,
    "logsigmoid": f.logsigmoid,
    "threshold": lambda x: f.threshold(x, 0.5, -1.0),
    "glu": lambda x: f.glu(x, -1),
    "relu_squared": lambda x: f.relu(x).square(),
    "dropout_in_evaluation": lambda x: f.dropout(x, 0.5, training=False),
}
for name, function in ACTIVATIONS.items():
    case(name, function, f32("B", 14, values=EXTREMES), loose=2)
for name in ("gelu", "gelu_tanh", "silu", "hardswish", "softplus"):
    function = ACTIVATIONS[name]
    case(
        f"{name}_half",
        lambda x, y, g=function: (g(x), g(y)),
        f16(14, values=EXTREMES),
        bf16(14, values=EXTREMES),
    )
    case(f"{name}_f64", function, f64(14, values=EXTREMES))

SOFT: dict[str, Callable[..., Any]] = {
    "softmax": lambda x: f.softmax(x, -1),
    "softmax_first_axis": lambda x: f.softmax(x, 0),
    "log_softmax": lambda x: f.log_softmax(x, -1),
    "softmin": lambda x: f.softmin(x, 1),
}
for name, function in SOFT.items():
    case(name, function, f32("B", 4, "S"))
    case(f"{name}_extremes", function, f32("B", 14, values=EXTREMES))
case("softmax_f64", SOFT["softmax"], f64(3, 4))
case("softmax_half", lambda x, y: (f.softmax(x, -1), f.softmax(y, -1)), f16(3, 8), bf16(3, 8))
case("softmax_to_dtype", lambda x: f.softmax(x, -1, dtype=torch.float32), f16(3, 8))
case(
    "log_softmax_half",
    lambda x, y: (f.log_softmax(x, -1), f.log_softmax(y, -1)),
    f16(3, 8),
    bf16(3, 8),
)
case(
    "softmax_masked",
    lambda x: f.softmax(x.masked_fill(x < 0, float("-inf")), 0),
    f32("B", 2, values=(1.0, -1.0, 2.0, 3.0)),
)

case("prelu", nn.PReLU, f32("B", 3), init=(3,))
case("swiglu", lambda x, y: f.silu(x) * y, f32("B", "S", 4), f32("B", "S", 4))
case("mse_loss", f.mse_loss, f32("B", 3), f32("B", 3))
case("l1_loss", f.l1_loss, f32("B", 3), f32("B", 3))
case("smooth_l1_loss", f.smooth_l1_loss, f32("B", 3), f32("B", 3))
case("huber_loss", f.huber_loss, f32("B", 3), f32("B", 3))
case("bce_with_logits", f.binary_cross_entropy_with_logits, f32("B", 3), f32("B", 3, low=0, high=1))
case(
    "binary_cross_entropy",
    f.binary_cross_entropy,
    f32("B", 3, low=0.1, high=0.9),
    f32("B", 3, low=0, high=1),
)
case("kl_div", f.kl_div, f32("B", 3), f32("B", 3, low=0.1, high=1))
case("cosine_similarity", lambda x, y: f.cosine_similarity(x, y), f32("B", 3), f32("B", 3))
case("pairwise_distance", lambda x, y: f.pairwise_distance(x, y), f32("B", 3), f32("B", 3))
