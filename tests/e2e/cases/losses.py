"""Losses and distances, each with its gradients."""

from __future__ import annotations

import torch
from torch.nn import functional as f

from tests.e2e.registry import b1, case, f16, f32, gradient_of, i64, program

SCORES = f32("B", 5)
LABELS = i64("B", low=0, high=5)
SIGNS = f32("B", values=(1.0, -1.0, -1.0))

LOSSES = {
    "nll": (lambda x, t, w: f.nll_loss(x, t, w.detach(), ignore_index=1), (SCORES, LABELS, f32(5))),
    "nll_of_each": (lambda x, t: f.nll_loss(x, t, reduction="none"), (SCORES, LABELS)),
    "nll_2d": (
        lambda x, t, w: f.nll_loss(x, t, w.detach(), ignore_index=2),
        (f32("B", 4, 2, 3), i64("B", 2, 3, low=0, high=4), f32(4)),
    ),
    "cross_entropy": (f.cross_entropy, (SCORES, LABELS)),
    "cross_entropy_smoothed": (
        lambda x, t, w: f.cross_entropy(x, t, w.detach(), ignore_index=1, label_smoothing=0.2),
        (SCORES, LABELS, f32(5, low=0.5, high=1.5)),
    ),
    "cross_entropy_probabilities": (
        lambda x, t: f.cross_entropy(x, t.detach(), label_smoothing=0.1),
        (SCORES, f32("B", 5, low=0, high=1)),
    ),
    "binary_cross_entropy": (
        lambda x, t, w: f.binary_cross_entropy(x, t.detach(), w.detach()),
        (f32("B", 3, low=0.1, high=0.9), f32("B", 3, low=0, high=1), f32(3)),
    ),
    "binary_cross_entropy_with_logits": (
        lambda x, t, w: f.binary_cross_entropy_with_logits(x, t, pos_weight=w.detach()),
        (f32("B", 3), f32("B", 3, low=0, high=1), f32(3, low=0.5, high=2)),
    ),
    "distances_of_elements": (
        lambda x, t: (
            f.mse_loss(x, t),
            f.l1_loss(x, t, reduction="sum"),
            f.smooth_l1_loss(x, t, beta=0.5),
            f.huber_loss(x, t, reduction="none", delta=0.7),
        ),
        (SCORES, SCORES),
    ),
    "kl_div": (
        lambda x, t: (f.kl_div(x, t, reduction="batchmean"), f.kl_div(x, x.exp(), log_target=True)),
        (SCORES, f32("B", 5, low=0.1, high=1)),
    ),
    "poisson_nll": (
        lambda x, t: f.poisson_nll_loss(x, t.detach(), full=True),
        (SCORES, f32("B", 5, low=0, high=5)),
    ),
    "soft_margins": (
        lambda x, t: (
            f.soft_margin_loss(x, t.detach()),
            f.hinge_embedding_loss(x, t.detach(), margin=0.5),
        ),
        (f32("B"), SIGNS),
    ),
    "multi_margin": (
        lambda x, t: (f.multi_margin_loss(x, t), f.multi_margin_loss(x, t, p=2, margin=0.5)),
        (SCORES, LABELS),
    ),
    "multi_margin_weighted": (
        lambda x, t, w: f.multi_margin_loss(x, t, weight=w.detach(), reduction="none"),
        (SCORES, LABELS, f32(5)),
    ),
    "multilabel_margin": (
        f.multilabel_margin_loss,
        (f32(2, 4), i64(2, 4, values=(3, 0, -1, 1, 2, -1, 1, 0))),
    ),
    "multilabel_soft_margin": (
        lambda x, t: f.multilabel_soft_margin_loss(x, t.float()),
        (SCORES, b1("B", 5)),
    ),
    "margin_ranking": (
        lambda x, y, t: f.margin_ranking_loss(x, y, t, 0.3),
        (f32("B"), f32("B"), SIGNS),
    ),
    "triplet_margin": (
        lambda a, p, n: f.triplet_margin_loss(a, p, n, swap=True),
        (SCORES, SCORES, SCORES),
    ),
    "cosine_embedding": (lambda x, y, t: f.cosine_embedding_loss(x, y, t), (SCORES, SCORES, SIGNS)),
    "cdist": (torch.cdist, (f32("B", 3, 4), f32("B", 2, 4))),
    "cdist_3": (lambda x, y: torch.cdist(x, y, 3.0), (f32(3, 4), f32(2, 4))),
    "cdist_of_largest": (lambda x, y: torch.cdist(x, y, torch.inf), (f32(3, 4), f32(2, 4))),
    "pdist": (f.pdist, (f32("N", 3),)),
    "pairwise_distance": (
        lambda x, y: (f.pairwise_distance(x, y), f.cosine_similarity(x, y)),
        (SCORES, SCORES),
    ),
}
for name, (loss, inputs) in LOSSES.items():
    case(f"loss_{name}", gradient_of(loss), *inputs, loose=20)


@program(f16("B", 5), f32("B", 5), f32(5, values=(0.25, 0.5, 1.5)))
def losses_with_wider_targets(x, target, weight):
    """They have the dtype of the input, and so has what is computed of them."""
    positive, likely = target.sign(), x.sigmoid()
    return (
        f.huber_loss(x, target) * 2,
        f.huber_loss(x, target, reduction="none") + 1,
        f.soft_margin_loss(x, positive) * 2,
        f.binary_cross_entropy(likely, likely.round(), weight) * 2,
        f.mse_loss(x, target) * 2,
    )
