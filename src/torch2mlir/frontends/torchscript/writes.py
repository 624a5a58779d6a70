"""Which of its arguments a TorchScript program writes to, by any name a tensor goes by."""

from __future__ import annotations

from typing import Any

import torch

from torch2mlir.contract.op_name import OpName
from torch2mlir.dialects.torch.schema import find_schema, is_new_tensor

_CONTAINERS = {
    "prim::ListConstruct",
    "prim::ListUnpack",
    "prim::TupleConstruct",
    "prim::TupleUnpack",
    "prim::TupleIndex",
    "prim::unchecked_cast",
    "aten::__getitem__",
}


def written_arguments(graph: Any) -> set[int]:
    """The positions of the graph's inputs that it may write to.

    Args:
        graph: of a function or method, all calls inlined.
    """
    graph = graph.copy()
    torch._C._jit_pass_constant_propagation(graph)
    torch._C._jit_pass_dce(graph)
    search = _Search(
        {
            value.unique(): position
            for position, value in enumerate(graph.inputs())
            if value.type().kind() == "TensorType"
        }
    )
    search.block(graph)
    return search.written


class _Search:
    """Follows arguments through views and branches.

    Args:
        memory: value -> the argument whose memory it has.
    """

    def __init__(self, memory: dict[int, int]) -> None:
        self._memory = memory
        self.written = set[int]()

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
            if value.unique() in self._memory:
                self._memory[other.unique()] = self._memory[value.unique()]

    def _call(self, node: Any) -> None:
        text = node.schema()
        schema = find_schema(OpName.of(text.partition("(")[0]))
        if schema is None:
            return
        shared = {result.alias for result in schema.returns} - {None}
        undeclared = schema.is_undeclared_view and not _is_new(node, schema.name)
        for value, argument in zip(node.inputs(), schema.arguments, strict=False):
            position = self._memory.get(value.unique())
            if undeclared:
                self._same([value] * node.outputsSize(), list(node.outputs()))
            if position is None or argument.alias is None:
                continue
            if argument.is_written and argument.is_tensor:
                self.written.add(position)
            if shared:
                self._same([value] * node.outputsSize(), list(node.outputs()))


def _is_new(node: Any, name: str) -> bool:
    """Whether a call that may give a view gives a new tensor."""

    def constant(value: Any) -> object:
        if value.node().kind() == "prim::ListConstruct":
            return list(value.node().inputs())
        return value.toIValue()

    return is_new_tensor(name, [constant(value) for value in node.inputs()])
