"""Sizes of results that PyTorch's capture takes for decided by elements, where there is a bound to compute with.

And of results that it knows for fixed sizes only, for which it runs the op.
"""

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


def _with_mask(_mode: Any, _op: Any, input: Any, *_: Any, **_options: Any) -> tuple[Any, Any]:
    """What is rounded, and which elements were within bounds."""
    return torch.empty_like(input), torch.empty_like(input, dtype=torch.bool)


def _of_count(
    _mode: Any, _op: Any, input: Any, bins: int = 100, **_options: Any
) -> tuple[Any, Any]:
    """The bins and their edges, one more."""
    return input.new_empty([bins]), input.new_empty([bins + 1])


def _of_edges(_mode: Any, _op: Any, input: Any, bins: Any, **_options: Any) -> tuple[Any, Any]:
    """The bins between edges, and these."""
    return input.new_empty([bins.shape[0] - 1]), input.new_empty(bins.shape)


_SIZES = {
    aten._ctc_loss.default: _of_alignments,
    aten._ctc_loss.Tensor: _of_alignments,
    aten.fake_quantize_per_tensor_affine_cachemask.default: _with_mask,
    aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default: _with_mask,
    aten.fake_quantize_per_channel_affine_cachemask.default: _with_mask,
    aten.histogram.bin_ct: _of_count,
    aten.histogram.bins_tensor: _of_edges,
}
"""Op -> its results, as fake tensors."""


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
