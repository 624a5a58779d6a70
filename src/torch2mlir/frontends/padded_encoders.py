"""``nn.TransformerEncoder`` with a padding mask, of which a capture is another program than what eager mode runs.

Eager mode's fast path makes nested tensors of the rows that are not padded, and zeros of the others at the end. PyTorch
takes it neither in torch.export nor under torch.compile; there padded positions are what attention gives for them.
"""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import nn
from torch.fx import Graph

from torch2mlir.callers import frames_of_ours

_SPREAD, _ADDED = torch.ops.aten.expand.default, torch.ops.aten.add.Tensor
"""What attention does with a padding mask, and with one of them and another mask."""


def warn_of_padding(model: Any, graph: Graph) -> None:
    """Warns of an encoder that takes the fast path in eager mode.

    Args:
        model: a module or a function.
        graph: what ``torch.export`` has captured of it.
    """
    masks = dict[str, set[Any]]()
    for node in graph.nodes:
        modules = list(node.meta.get("nn_module_stack", {}).values())
        if modules and str(modules[-1][1]).endswith("activation.MultiheadAttention"):
            for path, kind in modules:
                if str(kind).endswith("transformer.TransformerEncoder"):
                    masks.setdefault(path, set()).add(node.target)
    for path, does in masks.items():
        if _SPREAD in does and _ADDED not in does and _is_fast(model, path):
            warnings.warn(
                f"eager mode gives zeros at the padded positions of the nn.TransformerEncoder '{path}', and the "
                "compiled function what attention gives for them: read no padded positions, or make the encoder with "
                "enable_nested_tensor=False, for which eager mode does so too",
                stacklevel=frames_of_ours() + 1,
            )


def _is_fast(model: Any, path: str) -> bool:
    try:
        encoder = model.get_submodule(path)
    except AttributeError:  # of a function, or under another name in the trace
        return True
    is_encoder = isinstance(encoder, nn.TransformerEncoder)
    return not is_encoder or bool(encoder.use_nested_tensor and not encoder.layers[0].training)
