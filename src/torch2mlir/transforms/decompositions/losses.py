"""Losses, distances, and their gradients where PyTorch leaves them to kernels."""

from __future__ import annotations

from math import inf

import torch
from torch import Tensor
from torch._decomp import decomposition_table
from torch.nn import functional
from torch.types import Number

from torch2mlir.transforms.decompositions.registry import decomposes, decomposes_named

aten = torch.ops.aten

_MEAN, _SUM = 1, 2
"""How ``aten`` numbers the reductions of a loss."""


# losses that have the dtype of their input, whatever that of the target or the weights is


def _reduced(loss: Tensor, reduction: int) -> Tensor:
    return loss.mean() if reduction == _MEAN else loss.sum() if reduction == _SUM else loss


@decomposes(aten.huber_loss.default, gives_dtype=True)
def _huber_loss(x: Tensor, target: Tensor, reduction: int = _MEAN, delta: float = 1.0) -> Tensor:
    loss = decomposition_table[aten.huber_loss.default](x, target, 0, delta)
    return _reduced(loss.to(x.dtype), reduction)


@decomposes(aten.soft_margin_loss.default, gives_dtype=True)
def _soft_margin_loss(x: Tensor, target: Tensor, reduction: int = _MEAN) -> Tensor:
    return _reduced(torch.log1p(torch.exp((-x * target).to(x.dtype))), reduction)


@decomposes(aten.binary_cross_entropy.default, gives_dtype=True)
def _binary_cross_entropy(
    x: Tensor, target: Tensor, weight: Tensor | None = None, reduction: int = _MEAN
) -> Tensor:
    loss = decomposition_table[aten.binary_cross_entropy.default](x, target, weight, 0)
    return _reduced(loss.to(x.dtype), reduction)


# distances


def _norm(difference: Tensor, p: float) -> Tensor:
    """The p-norm over the last dimension; p = 0 counts what is not zero."""
    if p == 0:
        return (difference != 0).to(difference.dtype).sum(-1)
    size = difference.abs()
    if p == 1:
        return size.sum(-1)
    if p == 2:
        return (difference * difference).sum(-1).sqrt()
    if p == inf:
        return size.amax(-1)
    return (size**p).sum(-1) ** (1.0 / p)


def _norm_slope(difference: Tensor, distance: Tensor, p: float) -> Tensor:
    """The derivative of a norm by each difference; zero where the distance is, as PyTorch has it."""
    distance = distance.unsqueeze(-1)
    if p == 0:
        return torch.zeros_like(difference)
    if p == 1:
        return difference.sign()
    if p == inf:
        return difference.sign() * (difference.abs() == distance)
    if p == 2:
        return torch.where(distance == 0, 0.0, difference / distance)
    powers = difference.sign() * difference.abs() ** (p - 1) / distance ** (p - 1)
    return torch.where((distance == 0) | (difference == 0), 0.0, powers)


@decomposes(aten._cdist_forward.default)
def _cdist_forward(x1: Tensor, x2: Tensor, p: float, compute_mode: int | None) -> Tensor:
    """Distances of all rows of two batches of matrices."""
    if isinstance(x1.shape[-1], int) and x1.shape[-1] == 0:
        batch = torch.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
        return x1.new_zeros([*batch, x1.shape[-2], x2.shape[-2]])
    return _norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p)


@decomposes(aten._cdist_backward.default)
def _cdist_backward(grad: Tensor, x1: Tensor, x2: Tensor, p: float, distance: Tensor) -> Tensor:
    slope = _norm_slope(x1.unsqueeze(-2) - x2.unsqueeze(-3), distance, p)
    return (grad.unsqueeze(-1) * slope).sum(-2)


def _pairs(x: Tensor) -> tuple[Tensor, Tensor]:
    """The first and the second row of every pair of different rows, in integers: ``triu_indices`` takes a root."""
    count = x.shape[0]
    rows = torch.arange(count)
    starts = rows * (count - 1) - torch.div(rows * (rows - 1), 2, rounding_mode="floor")
    pairs = torch.arange(count * (count - 1) // 2)
    first = (starts <= pairs.unsqueeze(1))[:, : count - 1].to(torch.int64).sum(1) - 1
    return first, pairs - starts.index_select(0, first) + first + 1


@decomposes(aten._pdist_forward.default)
def _pdist_forward(x: Tensor, p: float = 2.0) -> Tensor:
    """Distances of all pairs of rows, as the upper triangle of a matrix in row-major order."""
    first, second = _pairs(x)
    return _norm(x.index_select(0, first) - x.index_select(0, second), p)


@decomposes(aten._pdist_backward.default)
def _pdist_backward(grad: Tensor, x: Tensor, p: float, distance: Tensor) -> Tensor:
    first, second = _pairs(x)
    difference = x.index_select(0, first) - x.index_select(0, second)
    pull = grad.unsqueeze(-1) * _norm_slope(difference, distance, p)
    return torch.zeros_like(x).index_add(0, first, pull).index_add(0, second, -pull)


# margins


@decomposes(aten.multi_margin_loss_backward.default)
def _multi_margin_loss_backward(
    grad: Tensor,
    x: Tensor,
    target: Tensor,
    p: Number,
    margin: Number,
    weight: Tensor | None = None,
    reduction: int = _MEAN,
) -> Tensor:
    """``sum over j != y of max(0, margin - x[y] + x[j]) ** p / classes``, weighted by the target's class."""
    rows, labels = torch.atleast_2d(x), target.reshape(-1, 1)
    classes = rows.shape[1]
    reach = margin - rows.gather(1, labels) + rows
    others = torch.arange(classes) != labels
    share = torch.ones_like(reach) if p == 1 else 2 * reach
    share = share / classes
    if weight is not None:
        share = share * weight.index_select(0, labels.reshape(-1)).unsqueeze(1)
    if reduction == _MEAN:
        share = share / rows.shape[0]
    share = torch.where((reach > 0) & others, share, 0.0)
    pull = torch.where(others, share, 0.0 - share.sum(1, keepdim=True))
    return (pull * grad.reshape(-1, 1)).reshape(x.shape)


def _label_margins(rows: Tensor, labels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """``1 - x[t] + x[j]`` as ``[n, t, j]``, which targets come before the first -1, and which j are targets."""
    valid = (labels < 0).to(torch.int64).cumsum(1) == 0
    reach = 1 - rows.gather(1, labels.clamp(min=0)).unsqueeze(2) + rows.unsqueeze(1)
    hits = (labels.unsqueeze(2) == torch.arange(rows.shape[1])) & valid.unsqueeze(2)
    return reach, valid, hits.any(1)


@decomposes(aten.multilabel_margin_loss_forward.default)
def _multilabel_margin_loss_forward(
    x: Tensor, target: Tensor, reduction: int
) -> tuple[Tensor, Tensor]:
    """``sum of max(0, 1 - x[t] + x[j]) / classes`` for all targets t and all classes j that are none.

    PyTorch's decomposition takes targets behind the first -1 for class 0.
    """
    rows, labels = torch.atleast_2d(x), torch.atleast_2d(target)
    reach, valid, is_target = _label_margins(rows, labels)
    counted = valid.unsqueeze(2) & ~is_target.unsqueeze(1)
    loss = torch.where(counted, reach.clamp(min=0), 0.0).sum([1, 2]) / rows.shape[1]
    marks = is_target.to(x.dtype).reshape(target.shape)
    if reduction == _MEAN:
        return loss.mean(), marks
    return (loss.sum() if reduction == _SUM or x.dim() < 2 else loss), marks


@decomposes(aten.multilabel_margin_loss.default)
def _multilabel_margin_loss(x: Tensor, target: Tensor, reduction: int = 1) -> Tensor:
    """The same as a call of its own, as TorchScript has it: PyTorch's way to the forward op passes ours by."""
    return _multilabel_margin_loss_forward(x, target, reduction)[0]


@decomposes(aten.multilabel_margin_loss_backward.default)
def _multilabel_margin_loss_backward(
    grad: Tensor, x: Tensor, target: Tensor, reduction: int, is_target: Tensor
) -> Tensor:
    """Every positive margin pulls its class down and its target up."""
    rows, labels = torch.atleast_2d(x), torch.atleast_2d(target)
    reach, valid, targets = _label_margins(rows, labels)
    counted = (reach > 0) & valid.unsqueeze(2) & ~targets.unsqueeze(1)
    pairs = counted.to(x.dtype) / rows.shape[1]
    if reduction == _MEAN:
        pairs = pairs / rows.shape[0]
    pull = pairs.sum(1).scatter_add(1, labels.clamp(min=0), -pairs.sum(2))
    return (pull * grad.reshape(-1, 1)).reshape(x.shape)


# a linear layer and its cross entropy


@decomposes_named("torch.torch_nn._linear_cross_entropy_batch_chunked")
def _linear_cross_entropy(
    x: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    linear_bias: Tensor | None,
    weight: Tensor | None,
    reduction: str,
    ignore_index: int,
    label_smoothing: float,
    batch_chunk_size: int,
    acc_policy: str,
    acc_dtype: torch.dtype | None,
    allow_retain_graph: bool,
    compute_input_grad: bool,
    compute_linear_weight_grad: bool,
    compute_linear_bias_grad: bool,
) -> tuple[Tensor, ...]:
    """The loss of ``linear(x)`` and, as far as asked for, its gradients; chunks are the engine's own affair."""
    logits = functional.linear(x, linear_weight, linear_bias)
    loss = functional.cross_entropy(
        logits,
        target,
        weight,
        ignore_index=ignore_index,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )
    pull = _cross_entropy_slope(logits, target, weight, reduction, ignore_index, label_smoothing)
    none = x.new_zeros(0, 0)
    return (
        loss,
        pull @ linear_weight if compute_input_grad else none,
        pull.t() @ x if compute_linear_weight_grad else none,
        pull.sum(0) if compute_linear_bias_grad else x.new_zeros(0),
    )


def _cross_entropy_slope(
    logits: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: str,
    ignore_index: int,
    smoothing: float,
) -> Tensor:
    """The derivative of the cross entropy by the logits ``[n, classes]``."""
    classes = logits.shape[1]
    weights = torch.ones_like(logits[0]) if weight is None else weight
    kept = target != ignore_index
    label = torch.where(kept, target, 0)
    probability = torch.softmax(logits, 1)
    hit = (torch.arange(classes) == label.unsqueeze(1)).to(logits.dtype)
    of_target = weights.index_select(0, label).unsqueeze(1)
    slope = (1 - smoothing) * of_target * (probability - hit)
    slope = slope + smoothing / classes * (probability * weights.sum() - weights)
    slope = torch.where(kept.unsqueeze(1), slope, 0.0)
    if reduction == "mean":
        slope = slope / torch.where(kept, of_target.squeeze(1), 0.0).sum()
    return slope


@decomposes_named("torch.torch_nn._linear_cross_entropy_batch_chunked_no_reduction")
def _linear_cross_entropy_of_each(
    x: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    linear_bias: Tensor | None,
    weight: Tensor | None,
    ignore_index: int,
    *_: object,
) -> Tensor:
    """One loss for each row."""
    logits = functional.linear(x, linear_weight, linear_bias)
    return functional.cross_entropy(
        logits, target, weight, ignore_index=ignore_index, reduction="none"
    )
