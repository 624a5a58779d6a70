"""What TorchScript's nodes call, as text."""

from __future__ import annotations

from typing import Any

_NO_SCHEMA = "(no schema)"


def node_schema_str(node: Any) -> str:
    """The schema of the op that a node of a TorchScript graph calls, its returns in parentheses.

    ``aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> (Tensor)``; the kind of a node that calls none,
    as ``prim::Constant``.

    Args:
        node: of ``script.graph.nodes()``, a ``torch._C.Node``.
    """
    schema = node.schema()
    if schema == _NO_SCHEMA:
        return str(node.kind())
    call, arrow, returns = schema.rpartition(" -> ")
    return schema if returns.startswith("(") else f"{call}{arrow}({returns})"
