"""Writes to tensors several of whose elements are one place of memory: as values they are something else."""

from __future__ import annotations

import torch
from torch.fx import Graph, Node
from xdsl.dialects.builtin import FileLineColLoc

from torch2mlir.errors import CaptureError
from torch2mlir.frontends.fx.locations import of_node


def check_writes(graph: Graph) -> None:
    """Refuses writes to what ``expand`` and ``unfold`` give.

    Eager mode refuses most of the former, ``masked_fill_`` and ``index_put_`` are deprecated there. PyTorch's
    functionalization adds up what is written to one place, and makes what no window covers zero.

    Raises:
        CaptureError: the graph has such a write.
    """
    windows = dict[Node, Node]()
    for node in graph.nodes:
        if not isinstance(node.target, torch._ops.OpOverload):
            continue
        if node.target is torch.ops.aten.unfold.default:
            windows[node] = node
        for argument, value in zip(node.target._schema.arguments, node.args, strict=False):
            if argument.alias_info is None or not isinstance(value, Node):
                continue
            if not argument.alias_info.is_write:
                if value in windows:
                    windows[node] = windows[value]
            elif value in windows:
                raise CaptureError(
                    "the program writes into windows of a tensor, which PyTorch cannot express as values",
                    op="aten.unfold",
                    location=_line_of(node),
                    hint="write into slices of the tensor, x[:, k : k + size]",
                )
            elif torch.Tag.inplace_view not in node.target.tags and _is_expanded(value):
                raise CaptureError(
                    "the program writes to a tensor several of whose elements are one place of memory",
                    op=str(node.target),
                    location=_line_of(node),
                    hint="it was made by expand(..), or by an op that expands: copy it first, x.expand(..).clone()",
                )


def _is_expanded(node: Node) -> bool:
    fake = node.meta.get("val")
    if not isinstance(fake, torch.Tensor):
        return False
    repeats = (
        isinstance(stride, int) and stride == 0 and (isinstance(size, torch.SymInt) or size > 1)
        for size, stride in zip(fake.shape, fake.stride(), strict=True)
    )
    empty = any(isinstance(size, int) and size == 0 for size in fake.shape)
    return any(repeats) and not empty


def _line_of(node: Node) -> str | None:
    place = of_node(node.meta)
    if isinstance(place, FileLineColLoc):
        return f"{place.filename.data}:{place.line.data}"
    return None
