"""Sizes of results that PyTorch's capture takes for decided by elements, where there is a bound to compute with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch._subclasses import fake_impls

from torch2mlir.transforms.decompositions.ctc import longest_target

aten = torch.ops.aten


def _of_alignments(
    _mode: Any,
    _op: Any,
    log_probs: Any,
    targets: Any,
    _input_lengths: Any,
    target_lengths: Any,
    *_: Any,
    **_options: Any,
) -> tuple[Any, Any]:
    """The loss of each target, and what its gradient reads, for places in the longest target."""
    time, batch, _ = log_probs.shape
    places = 2 * longest_target(targets, target_lengths) + 1
    return log_probs.new_empty([batch]), log_probs.new_empty([batch, time, places])


_SIZES = {aten._ctc_loss.default: _of_alignments, aten._ctc_loss.Tensor: _of_alignments}


@contextmanager
def bounded_sizes() -> Iterator[None]:
    """While it holds, fake tensors have these sizes."""
    known = fake_impls.op_implementations_dict
    added = _SIZES.keys() - known.keys()
    for op in added:
        known[op] = _SIZES[op]
    try:
        yield
    finally:
        for op in added:
            known.pop(op, None)
