"""Gradients: the ops that AOTAutograd captures for a program and its backward pass."""

from __future__ import annotations

import torch
from torch.nn import functional as f

from tests.e2e.registry import b1, case, f16, f32, gradient_of, i64

IMAGE = f32("B", 2, 6, 5)

# pools

POOLS = {
    "max_pool2d": (lambda x: f.max_pool2d(x, 3, 2, 1), IMAGE),
    "max_pool3d": (lambda x: f.max_pool3d(x, 2, 1), f32(2, 2, 4, 3, 4)),
    "avg_pool1d": (lambda x: f.avg_pool1d(x, 3, 2, 1), f32("B", 2, 7)),
    "avg_pool2d": (lambda x: f.avg_pool2d(x, 2), f32("B", 2, "H", "W")),
    "avg_pool2d_overlapping": (
        lambda x: f.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
        IMAGE,
    ),
    "avg_pool3d": (lambda x: f.avg_pool3d(x, 2, 1, 1), f32("B", 2, 3, 4, 3)),
    "adaptive_avg_pool2d": (lambda x: f.adaptive_avg_pool2d(x, (3, 2)), IMAGE),
    "adaptive_avg_pool2d_one": (lambda x: f.adaptive_avg_pool2d(x, 1), f32("B", 3, "H", "W")),
    "adaptive_avg_pool3d": (lambda x: f.adaptive_avg_pool3d(x, 2), f32("B", 2, 3, 4, 3)),
    "adaptive_max_pool2d": (lambda x: f.adaptive_max_pool2d(x, 2), f32(2, 2, 5, 4)),
}
for name, (program, image) in POOLS.items():
    case(f"{name}_backward", gradient_of(program), image, loose=2)

# convolutions

CONVOLUTIONS = {
    "plain": ((4, 3, 3, 3), {}),
    "strided": ((4, 3, 3, 2), {"stride": (2, 3), "padding": (1, 0)}),
    "dilated": ((4, 3, 2, 2), {"dilation": 2, "padding": 1}),
}
for name, (weight, options) in CONVOLUTIONS.items():
    case(
        f"conv2d_{name}_backward",
        gradient_of(lambda x, w, b, o=options: f.conv2d(x, w, b, **o)),
        f32("B", 3, 7, 6),
        f32(*weight),
        f32(4),
        loose=10,
    )
case(
    "conv2d_grouped_backward",
    gradient_of(lambda x, w: f.conv2d(x, w, padding=1, groups=2)),
    f32(2, 4, 5, 5),
    f32(6, 2, 3, 3),
    loose=10,
)
case(
    "conv2d_dynamic_image_backward",
    gradient_of(lambda x, w: f.conv2d(x, w, stride=2, padding=1)),
    f32(2, 2, "H", "W"),
    f32(3, 2, 3, 3),
    loose=10,
)
case("conv1d_backward", gradient_of(f.conv1d), f32("B", 2, 8), f32(3, 2, 3), f32(3), loose=10)
case("conv3d_backward", gradient_of(f.conv3d), f32(2, 2, 4, 4, 3), f32(3, 2, 2, 2, 2), loose=10)
case(
    "conv_transpose2d_backward",
    gradient_of(lambda x, w, b: f.conv_transpose2d(x, w, b, 2, 1, 1)),
    f32("B", 3, 4, 3),
    f32(3, 2, 3, 3),
    f32(2),
    loose=10,
)

# elementwise

FUNCTIONS = {
    "exponentials": lambda x: (x.exp(), x.expm1(), x.tanh(), x.sigmoid(), f.softplus(x)),
    "gated": lambda x: (f.gelu(x), f.gelu(x, approximate="tanh"), f.silu(x), f.mish(x), f.glu(x)),
    "rectified": lambda x: (
        f.relu6(x),
        f.leaky_relu(x, 0.1),
        f.elu(x, 0.7),
        f.celu(x, 0.8),
        f.hardtanh(x, -0.5, 0.6),
        f.threshold(x, 0.1, 2.0),
    ),
    "hard": lambda x: (
        f.hardswish(x),
        f.hardsigmoid(x),
        f.hardshrink(x, 0.4),
        f.softshrink(x, 0.3),
        f.softsign(x),
        f.logsigmoid(x),
    ),
    "trigonometric": lambda x: (x.sin(), x.cos(), x.atan(), x.erf(), x.abs(), x.square()),
    "soft": lambda x: (x.softmax(-1), x.log_softmax(0), f.softmin(x, -1), f.normalize(x)),
    "powers": lambda x: ((x.abs() + 0.5).log(), (x.abs() + 1).rsqrt(), x**3, 2**x, 1 / (x**2 + 1)),
}
for name, function in FUNCTIONS.items():
    case(f"{name}_backward", gradient_of(function), f32("B", 4), loose=10)
case(
    "arithmetic_backward",
    gradient_of(
        lambda x, y: (x + y, x * y, x / (y * y + 1), torch.where(x > y, x, y), x.pow(2) - y)
    ),
    f32("B", 4),
    f32(4),
    loose=10,
)
case(
    "extrema_of_two_backward",
    gradient_of(lambda x, y: (x.maximum(y), x.minimum(y), x.clamp(-0.5, 0.5), torch.atan2(x, y))),
    f32("B", 4),
    f32("B", 1),
    loose=10,
)
case("prelu_backward", gradient_of(f.prelu), f32("B", 3, 4), f32(3), loose=10)

# reductions and scans

case(
    "sums_backward",
    gradient_of(lambda x: (x.sum(), x.mean(0), x.sum((0, 1), keepdim=True), x.logsumexp(-1))),
    f32("B", 3, 4),
    loose=10,
)
case(
    "moments_backward",
    gradient_of(lambda x: (x.var(), x.std(-1), torch.var_mean(x, 0)[1], x.norm(), x.norm(1, 0))),
    f32("B", 4),
    loose=20,
)
case(
    "extrema_backward",
    gradient_of(lambda x: (x.max(-1)[0], x.min(0)[0], x.amax(0), x.amin((0, 1)), x.max())),
    f32("B", 4),
    loose=10,
)
case("products_backward", gradient_of(lambda x: (x.prod(-1), x.prod())), f32(3, 4), loose=10)
case(
    "cumulative_backward",
    gradient_of(lambda x: (x.cumsum(0), x.cumprod(-1), x.cummax(-1)[0], x.logcumsumexp(0))),
    f32(3, 4, low=0.5, high=1.5),
    loose=10,
)
case(
    "sorted_backward",
    gradient_of(lambda x: (x.sort(-1)[0], x.topk(2, -1)[0], x.kthvalue(2, -1)[0], x.median(-1)[0])),
    f32(3, 5),
    loose=10,
)

# products

case(
    "matrix_products_backward",
    gradient_of(lambda x, y, z: (x @ y, torch.addmm(z[0], x, y, alpha=2), (x @ y) @ z)),
    f32("B", 4),
    f32(4, 3),
    f32(3, 3),
    loose=20,
)
case("linear_backward", gradient_of(f.linear), f32("B", "S", 4), f32(3, 4), f32(3), loose=20)
case(
    "batched_products_backward",
    gradient_of(lambda x, y, z: (torch.bmm(x, y), torch.matmul(x, z), torch.baddbmm(x, x, y @ x))),
    f32("B", 3, 4),
    f32("B", 4, 3),
    f32(4),
    loose=20,
)
case(
    "einsum_backward",
    gradient_of(lambda x, y: torch.einsum("bij,kj->bik", x, y)),
    f32("B", 2, 4),
    f32(3, 4),
    loose=20,
)
case(
    "bilinear_backward",
    gradient_of(f.bilinear),
    f32(3, 2),
    f32(3, 4),
    f32(2, 2, 4),
    f32(2),
    loose=20,
)

# places

INDEX = i64("S", low=0, high=4)
case(
    "gather_backward", gradient_of(lambda x, i: x.gather(1, i)), f32(3, 4), i64(3, 5, low=0, high=4)
)
case(
    "indexing_backward",
    gradient_of(lambda x, i: (x.index_select(0, i), x[i], x[i, 1])),
    f32(4, 3),
    INDEX,
    loose=10,
)
case(
    "scattering_backward",
    gradient_of(
        lambda x, i, s: (
            x.scatter(1, i, s),
            x.scatter_add(1, i, s),
            x.index_add(0, i[0], s.repeat(1, 2)),
        )
    ),
    f32(2, 4),
    i64(2, 2, values=(0, 1, 1, 0)),
    f32(2, 2),
)
case("masked_backward", gradient_of(lambda x, m: x.masked_fill(m, 2.0)), f32("B", 4), b1("B", 4))
case(
    "embedding_backward",
    gradient_of(lambda i, w: f.embedding(i, w, padding_idx=1)),
    i64("B", 3, low=0, high=5),
    f32(5, 4),
    loose=10,
)
for mode in ("sum", "mean", "max"):
    bag = lambda i, w, m=mode: f.embedding_bag(i, w, mode=m)  # noqa: E731
    case(f"embedding_bag_{mode}_backward", gradient_of(bag), i64(3, 2, low=0, high=5), f32(5, 4))
case(
    "embedding_bag_backward_by_frequency",
    gradient_of(
        lambda i, w: tuple(
            f.embedding_bag(i, w, scale_grad_by_freq=True, mode=mode) for mode in ("sum", "mean")
        )
    ),
    i64("B", 2, low=0, high=7),
    f32(9, 4),
)
case(
    "views_backward",
    gradient_of(
        lambda x: (
            x.transpose(0, 1),
            x.reshape(-1, 2),
            x[1:, ::2],
            x.unsqueeze(1).expand(-1, 2, -1),
            x.repeat(2, 1),
            torch.cat([x, x[:1]]),
            torch.stack([x, x], 1),
            x.flip(0),
            x.roll(1, 0),
            x.tril(),
            x.diagonal(),
        )
    ),
    f32(3, 4),
)
case("slices_backward", gradient_of(lambda x: (x[1:], x[:, 1::2], x[-2:])), f32("B", 5))
case("unfold_backward", gradient_of(lambda x: x.unfold(1, 3, 2)), f32("B", 7))
for mode in ("constant", "reflect", "replicate", "circular"):
    pad = lambda x, m=mode: f.pad(x, (1, 2, 2, 0), mode=m)  # noqa: E731
    case(f"pad_{mode}_backward", gradient_of(pad), f32(2, 2, 4, 3))

# normalization

CHANNELS = (f32(4), f32(4))
NORMS = {
    "layer_norm": (lambda x, w, b: f.layer_norm(x, (4,), w, b), f32("B", 3, 4), *CHANNELS),
    "group_norm": (lambda x, w, b: f.group_norm(x, 2, w, b), f32("B", 4, 3, 2), *CHANNELS),
    "instance_norm": (lambda x: f.instance_norm(x), f32("B", 3, 4, 2)),
    "batch_norm": (
        lambda x, w, b: f.batch_norm(x, None, None, w, b, training=True),
        f32("B", 4, 3, 2),
        *CHANNELS,
    ),
    "rms_norm": (lambda x, w: f.rms_norm(x, (4,), w), f32("B", 3, 4), f32(4)),
    "local_response_norm": (lambda x: f.local_response_norm(x, 2), f32("B", 4, 3, 2)),
}
for name, (norm, *inputs) in NORMS.items():
    case(f"{name}_backward", gradient_of(norm), *inputs, loose=20)

# attention

HEADS = (f32("B", 2, 3, 4), f32("B", 2, 5, 4), f32("B", 2, 5, 4))
case("attention_backward", gradient_of(f.scaled_dot_product_attention), *HEADS, loose=20)
case(
    "attention_causal_backward",
    gradient_of(lambda q, k, v: f.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.7)),
    f32(2, 2, 4, 4),
    f32(2, 2, 4, 4),
    f32(2, 2, 4, 4),
    loose=20,
)
case(
    "attention_masked_backward",
    gradient_of(lambda q, k, v, m: f.scaled_dot_product_attention(q, k, v, m)),
    *HEADS,
    b1(3, 5, values=(True, False, True, True, True)),
    loose=20,
)


# steps of training


def _convolutional_step(
    x: torch.Tensor,
    label: torch.Tensor,
    kernel: torch.Tensor,
    scale: torch.Tensor,
    shift: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
) -> torch.Tensor:
    """Convolution, batch norm, ReLU, pool, classifier, cross entropy."""
    features = f.conv2d(x, kernel, padding=1)
    features = f.relu(f.batch_norm(features, None, None, scale, shift, training=True))
    features = f.adaptive_avg_pool2d(f.max_pool2d(features, 2), 1).flatten(1)
    return f.cross_entropy(f.linear(features, weight, bias), label)


case(
    "training_step_of_a_cnn",
    gradient_of(_convolutional_step),
    f32(3, 2, 6, 6),
    i64(3, low=0, high=5),
    f32(4, 2, 3, 3),
    *CHANNELS,
    f32(5, 4),
    f32(5),
    loose=20,
)


def _transformer_step(
    tokens: torch.Tensor,
    following: torch.Tensor,
    table: torch.Tensor,
    projections: torch.Tensor,
    out: torch.Tensor,
    scale: torch.Tensor,
    shift: torch.Tensor,
    up: torch.Tensor,
    down: torch.Tensor,
) -> torch.Tensor:
    """One block, its embedding table also the classifier, and the loss of the following tokens."""
    x = f.embedding(tokens, table)
    normal = f.layer_norm(x, (4,), scale, shift)
    heads = f.linear(normal, projections).unflatten(-1, (3, 2, 2)).permute(2, 0, 3, 1, 4)
    attended = f.scaled_dot_product_attention(heads[0], heads[1], heads[2], is_causal=True)
    x = x + f.linear(attended.transpose(1, 2).flatten(2), out)
    x = x + f.linear(f.gelu(f.linear(f.layer_norm(x, (4,), scale, shift), up)), down)
    return f.cross_entropy(f.linear(x, table).flatten(0, 1), following.flatten())


case(
    "training_step_of_a_transformer",
    gradient_of(_transformer_step),
    i64(2, 5, low=0, high=7),
    i64(2, 5, low=0, high=7),
    f32(7, 4),
    f32(12, 4),
    f32(4, 4),
    *CHANNELS,
    f32(8, 4),
    f32(4, 8),
    loose=20,
)
case(
    "threshold_backward_of_two_types",
    lambda g, x: torch.ops.aten.threshold_backward(g, x, 0.5),
    f16("B", 4),
    f32("B", 4),
)
