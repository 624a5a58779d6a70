"""``nn.TransformerEncoder`` with a padding mask, of which a capture is another program than what eager mode runs.

Eager mode's fast path makes nested tensors of the rows that are not padded, and zeros of the others at the end. PyTorch
takes it neither in torch.export nor under torch.compile; there padded positions are what attention gives for them.
"""

from __future__ import annotations

import warnings
from typing import Any

from torch import nn
from torch.fx import Graph

from torch2mlir.callers import frames_of_ours

_MASK, _OTHER_MASK = "src_key_padding_mask = F._canonical_mask(", "mask = F._canonical_mask("


def warn_of_padding(model: Any, graph: Graph) -> None:
    """Warns of an encoder that takes the fast path in eager mode.

    Args:
        model: a module or a function.
        graph: what ``torch.export`` has captured of it.
    """
    masks = dict[str, set[str]]()
    for node in graph.nodes:
        if stack := node.meta.get("nn_module_stack"):
            path, kind = list(stack.values())[-1]
            if str(kind).endswith("transformer.TransformerEncoder"):
                lines = (node.meta.get("stack_trace") or "").splitlines()
                masks.setdefault(path, set()).update(line.strip() for line in lines)
    for path, lines in masks.items():
        if _MASK in lines and _OTHER_MASK not in lines and _is_fast(model, path):
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
