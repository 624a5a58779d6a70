"""Which of its arguments a TorchScript program writes to, by any name a tensor goes by."""

from __future__ import annotations

from typing import Any

import torch

from torch2mlir.dialects.torch.schema import find_schema
from torch2mlir.errors import CaptureError

_CONTAINERS = {
    "prim::ListConstruct",
    "prim::ListUnpack",
    "prim::TupleConstruct",
    "prim::TupleUnpack",
    "prim::TupleIndex",
    "prim::unchecked_cast",
    "aten::__getitem__",
}


def refuse_writes(graph: Any, method: str) -> None:
    """Refuses a program that writes to the tensors it is given: they are values, nobody would see it.

    Args:
        graph: of the method, all calls inlined.
        method: its name.

    Raises:
        CaptureError: it writes to one.
    """
    graph = graph.copy()
    torch._C._jit_pass_constant_propagation(graph)
    torch._C._jit_pass_dce(graph)
    inputs = [value for value in graph.inputs() if value.type().kind() == "TensorType"]
    names = {value.unique(): value.debugName().partition(".")[0] for value in inputs}
    _Search(names, method).block(graph)


class _Search:
    """Follows arguments through views and branches.

    Args:
        names: value -> the argument whose memory it has.
        method: what is searched.
    """

    def __init__(self, names: dict[int, str], method: str) -> None:
        self._names = names
        self._method = method

    def block(self, block: Any) -> None:
        """Searches a block, or a graph."""
        for node in block.nodes():
            kind = node.kind()
            blocks = list(node.blocks())
            if kind == "prim::Loop":
                self._same(list(node.inputs())[2:], list(blocks[0].inputs())[1:])
            for inner in blocks:
                self.block(inner)
                carried = list(inner.outputs())[1 if kind == "prim::Loop" else 0 :]
                self._same(carried, list(node.outputs()))
            if kind in _CONTAINERS:
                for value in node.inputs():
                    self._same([value] * node.outputsSize(), list(node.outputs()))
            elif not blocks:
                self._call(node)

    def _same(self, values: list[Any], others: list[Any]) -> None:
        for value, other in zip(values, others, strict=True):
            if value.unique() in self._names:
                self._names[other.unique()] = self._names[value.unique()]

    def _call(self, node: Any) -> None:
        text = node.schema()
        schema = find_schema("torch." + text.partition("(")[0].replace("::", "."))
        if schema is None:
            return
        shared = {result.alias for result in schema.returns} - {None}
        for value, argument in zip(node.inputs(), schema.arguments, strict=False):
            name = self._names.get(value.unique())
            if name is None or argument.alias is None:
                continue
            if argument.is_written and argument.is_tensor:
                raise CaptureError(
                    f"'{self._method}' writes to its argument '{name}'",
                    op=node.kind(),
                    hint="clone the argument and return the result, or compile without TorchScript: "
                    "torch2mlir.compile gives back what a model writes to",
                )
            if shared:
                self._same([value] * node.outputsSize(), list(node.outputs()))
