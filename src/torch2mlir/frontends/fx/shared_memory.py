"""Which tensors of a captured graph lie in the memory of others."""

from __future__ import annotations

import operator
from contextlib import ExitStack
from typing import Any

import torch
from torch._subclasses import FakeTensor
from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.utils import _pytree as pytree

from torch2mlir.dialects.torch.schema import UNDECLARED_VIEWS


def memory_of(node: Node) -> Node:
    """The node that made the memory a tensor lies in."""
    while (source := _viewed(node)) is not None:
        node = source
    return node


def _viewed(node: Node) -> Node | None:
    """The tensor that a node is a view of, or None if it is no view."""
    if node.op != "call_function":
        return None
    if node.target is operator.getitem:
        call = node.args[0]
        assert isinstance(call, Node)
        return _viewed(call)
    if not isinstance(node.target, torch._ops.OpOverload):
        return None
    schema = node.target._schema
    values = node.all_input_nodes if schema.name in UNDECLARED_VIEWS else _declared(node, schema)
    return next((value for value in values if shares_memory(node, value)), None)


def _declared(node: Node, schema: torch.FunctionSchema) -> list[Node]:
    arguments = zip(schema.arguments, node.args, strict=False)
    return [
        v for argument, v in arguments if argument.alias_info is not None and isinstance(v, Node)
    ]


def shares_memory(node: Node, source: Node) -> bool:
    """Whether a call gives a view of one of its operands: ``reshape`` does or does not, as the layout is.

    Where elements decide it, as the sizes of what ``broadcast_tensors`` is given, it may.
    """
    fakes = {operand: operand.meta.get("val") for operand in node.all_input_nodes}
    if any(fake is None for fake in fakes.values()):
        return True
    fake = fakes[source]
    if not isinstance(fake, FakeTensor):
        return False

    def value(argument: Any) -> Any:
        return fakes[argument] if isinstance(argument, Node) else argument

    args, kwargs = pytree.tree_map(value, (node.args, dict(node.kwargs)))
    env = fake.fake_mode.shape_env
    try:
        with ExitStack() as around:
            around.enter_context(fake.fake_mode)
            if env is not None:
                around.enter_context(env.suppress_guards())
                around.enter_context(env.ignore_fresh_unbacked_symbols())
            results = pytree.tree_leaves(node.target(*args, **kwargs))  # type: ignore[operator]
    except GuardOnDataDependentSymNode:
        return True
    memory = fake.untyped_storage()._cdata
    return any(r.untyped_storage()._cdata == memory for r in results)
