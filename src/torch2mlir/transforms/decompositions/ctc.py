"""Connectionist temporal classification: the loss of all ways to align a target with the input, and its gradient.

A. Graves et al., "Connectionist temporal classification" (2006), in logarithms as PyTorch's kernel has it: between the
labels of a target and around them stand blanks, and ``log_alpha[b, t, s]`` is the probability of having reached place
``s`` at time ``t``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, NamedTuple

import torch
from torch import Tensor

from torch2mlir.transforms.decompositions.loops import repeat
from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten

Lengths = Tensor | Sequence[int]


class _Places(NamedTuple):
    """The labels of targets with the blanks, ``[batch, places]``, and what holds at them."""

    labels: Tensor
    emitted: Tensor
    """Logarithms of the labels' probabilities, ``[time, batch, places]``."""
    skips: Tensor
    """Whether a place follows the place before the last: a label behind another one, not the blank between equals."""
    inside: Tensor
    """Whether a place is one of the target's own."""
    ends: Tensor
    """Whether an alignment may end at a place."""
    steps: Tensor
    """The inputs' lengths, ``[batch, 1]``."""


def longest_target(targets: Tensor, lengths: Lengths) -> int:
    """Of the targets, where lengths are numbers, as in eager mode; else of the longest target there may be."""
    return targets.shape[-1] if isinstance(lengths, Tensor) else max(lengths, default=0)


def _places(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Lengths,
    target_lengths: Lengths,
    blank: int,
    longest: int,
) -> _Places:
    steps, counts = _column(input_lengths), _column(target_lengths)
    number = torch.arange(longest)
    if targets.dim() == 1:  # one behind the other
        starts = counts.cumsum(0) - counts
        targets = targets[(starts + number).clamp(max=targets.shape[0] - 1)]
    else:
        targets = targets[:, :longest]
    targets = torch.where(number < counts, targets.to(torch.int64), blank)
    blanks = torch.full_like(targets, blank)
    labels = torch.stack([blanks, targets], -1).flatten(1)
    labels = torch.cat([labels, torch.full_like(counts, blank)], 1)
    emitted = log_probs.gather(2, labels.unsqueeze(0).expand(log_probs.shape[0], -1, -1))
    place = torch.arange(labels.shape[1])
    return _Places(
        labels,
        emitted,
        (place >= 2) & (labels != _moved(labels, 2, blank)),
        place <= 2 * counts,
        (place == 2 * counts) | (place == 2 * counts - 1),
        steps,
    )


def _column(lengths: Lengths) -> Tensor:
    known = lengths if isinstance(lengths, Tensor) else torch.tensor(list(lengths))
    return known.to(torch.int64).reshape(-1, 1)


def _moved(x: Tensor, by: int, fill: Any) -> Tensor:
    """Each place as the place ``by`` before it; behind it if ``by`` is negative."""
    size = x.shape[1]
    filling = torch.full_like(x, fill)[:, :1].expand(-1, abs(by))
    if by > 0:
        return torch.cat([filling, x], 1).narrow(1, 0, size)
    return torch.cat([x, filling], 1).narrow(1, -by, size)


def _sum(*logarithms: Tensor) -> Tensor:
    """The logarithm of the sum; of nothing but zeros, minus infinity."""
    stacked = torch.stack(logarithms)
    most = stacked.amax(0)
    most = torch.where(most == -inf, 0.0, most)
    return (stacked - most).exp().sum(0).log() + most


def _reached(before: Tensor, skips: Tensor, by: int) -> Tensor:
    """From the same place, the one next to it, and where that may be skipped, the one behind."""
    skipped = torch.where(skips, _moved(before, 2 * by, -inf), -inf)
    return _sum(before, _moved(before, by, -inf), skipped)


def _at(x: Tensor, t: Tensor) -> Tensor:
    return x.index_select(0, t.reshape(1)).squeeze(0)


def _log_alpha(places: _Places) -> Tensor:
    emitted, skips, inside = places.emitted, places.skips, places.inside
    first = torch.where(inside & (torch.arange(inside.shape[1]) < 2), emitted[0], -inf)
    time = torch.arange(emitted.shape[0]).reshape(1, -1, 1)

    def step(
        k: Tensor,
        now: Tensor,
        all: Tensor,
        emitted: Tensor,
        skips: Tensor,
        inside: Tensor,
        time: Tensor,
    ) -> list[Tensor]:
        now = torch.where(inside, _reached(now, skips, 1) + _at(emitted, k + 1), -inf)
        return [now, torch.where(time == k + 1, now.unsqueeze(1), all)]

    start = torch.where(time == 0, first.unsqueeze(1), -inf)
    outer = (emitted, skips, inside, time)
    return repeat(lambda _, all: all.shape[1] - 1, step, first, start, outer=outer)[1]


def _log_beta(places: _Places) -> Tensor:
    """The same from the end."""
    emitted, inside = places.emitted, places.inside
    skips = _moved(places.skips, -2, False)
    time = torch.arange(emitted.shape[0]).reshape(1, -1, 1)

    def step(
        k: Tensor,
        now: Tensor,
        all: Tensor,
        emitted: Tensor,
        skips: Tensor,
        inside: Tensor,
        ends: Tensor,
        steps: Tensor,
        time: Tensor,
    ) -> list[Tensor]:
        t = all.shape[1] - 1 - k
        own = _at(emitted, t)
        now = torch.where(t < steps - 1, _reached(now, skips, -1) + own, -inf)
        now = torch.where((t == steps - 1) & ends, own, now)
        now = torch.where(inside, now, -inf)
        return [now, torch.where(time == t, now.unsqueeze(1), all)]

    nothing = torch.full_like(emitted[0], -inf)
    start = torch.full_like(emitted.transpose(0, 1), -inf)
    outer = (emitted, skips, inside, places.ends, places.steps, time)
    return repeat(lambda _, all: all.shape[1], step, nothing, start, outer=outer)[1]


@decomposes(aten._ctc_loss.default, aten._ctc_loss.Tensor)
def _ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Lengths,
    target_lengths: Lengths,
    blank: int = 0,
    zero_infinity: bool = False,
) -> tuple[Tensor, Tensor]:
    """The negative logarithm of the probability of each target, and ``log_alpha``."""
    longest = longest_target(targets, target_lengths)
    places = _places(log_probs, targets, input_lengths, target_lengths, blank, longest)
    alpha = _log_alpha(places)
    time = torch.arange(alpha.shape[1]).reshape(1, -1, 1)
    is_last = (time == places.steps.unsqueeze(2) - 1) & places.ends.unsqueeze(1)
    reached = torch.where(is_last, alpha, -inf).flatten(1)
    most = reached.amax(1, keepdim=True)
    most = torch.where(most == -inf, 0.0, most)
    likelihood = (reached - most).exp().sum(1).log() + most.squeeze(1)
    is_empty = (places.steps == 0).squeeze(1) & (places.inside.sum(1) == 1)
    return torch.where(is_empty, 0.0, -likelihood), alpha


@decomposes(aten._ctc_loss_backward.default, aten._ctc_loss_backward.Tensor)
def _ctc_loss_backward(
    grad: Tensor,
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Lengths,
    target_lengths: Lengths,
    loss: Tensor,
    log_alpha: Tensor,
    blank: int,
    zero_infinity: bool = False,
) -> Tensor:
    """What each probability is, less what its labels' share of all alignments is.

    Eager mode leaves ``log_alpha`` as memory was behind a target's places and an input's steps: it is not read there.
    """
    longest = (log_alpha.shape[2] - 1) // 2
    places = _places(log_probs, targets, input_lengths, target_lengths, blank, longest)
    is_in_time = torch.arange(log_alpha.shape[1]) < places.steps
    is_known = is_in_time.unsqueeze(2) & places.inside.unsqueeze(1)
    both = torch.where(is_known, log_alpha, -inf) + _log_beta(places)
    most = both.amax(2, keepdim=True)
    most = torch.where(most == -inf, 0.0, most)
    own = log_probs.transpose(0, 1)
    labels = places.labels.unsqueeze(1).expand_as(both)
    share = torch.zeros_like(own).scatter_add(2, labels, (both - most).exp()).log() + most
    loss, grad = loss.reshape(-1, 1, 1), grad.reshape(-1, 1, 1)
    slope = (own.exp() - (share + loss - own).exp()) * grad
    if zero_infinity:
        slope = torch.where(loss == inf, 0.0, slope)
    time = torch.arange(own.shape[1]).reshape(1, -1, 1)
    return torch.where(time < places.steps.unsqueeze(2), slope, 0.0).transpose(0, 1)
