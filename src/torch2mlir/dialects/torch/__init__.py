"""The torch dialect: any op of PyTorch's registry, with Torch-MLIR's types and spelling, without importing PyTorch."""

from __future__ import annotations

from xdsl.ir import Dialect, Operation

from torch2mlir.dialects.torch import core, object_graph, ops, schema, types

Torch = Dialect("torch", [*core.OPS, *object_graph.OPS], [*types.TYPES, types.SizesAttr])
"""The dialect as xDSL sees it: hand-written ops and types. :func:`find_op` also knows the registry's ops."""

_HAND_WRITTEN: dict[str, type[Operation]] = {op.name: op for op in (*core.OPS, *object_graph.OPS)}


def find_op(name: str) -> type[Operation] | None:
    """The op class for ``torch.aten.add.Tensor`` or ``torch.constant.int``, or None."""
    return _HAND_WRITTEN.get(name) or ops.registry_op(name)


def op_names() -> list[str]:
    """The names of all ops of the dialect."""
    return sorted({*_HAND_WRITTEN, *schema.op_names()})
