"""Which tensors of a captured graph lie in the memory of others, and which calls write to it."""

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

_UPDATES_STATISTICS = {
    "aten::batch_norm": (3, 4),
    "aten::instance_norm": (3, 4),
    "aten::native_batch_norm": (3, 4),
}
"""Norms that update running statistics without declaring it, if their argument 5 (training) is true."""


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


def is_tensor_node(node: Node) -> bool:
    """Whether a node's value holds a tensor, as far as the graph says; unknown counts as one."""
    value = node.meta.get("val", node.meta.get("example_value"))
    if value is None:
        return True
    return any(isinstance(leaf, torch.Tensor) for leaf in pytree.tree_leaves(value))


def _op(node: Node) -> torch._ops.OpOverload:
    """The op that a node calls."""
    assert isinstance(node.target, torch._ops.OpOverload)
    return node.target


def argument_of(node: Node, name: str) -> Any:
    """The value a node's call gives a parameter of its op, the default included; None if there is none."""
    for index, argument in enumerate(_op(node)._schema.arguments):
        if argument.name == name:
            if index < len(node.args) and not argument.kwarg_only:
                return node.args[index]
            return node.kwargs.get(name, argument.default_value)
    return None


def written_arguments(node: Node) -> list[Node]:
    """The tensors an op writes to when called like this, undeclared ones included."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return []
    schema = node.target._schema
    written = _declared(node, schema, are_written=True)
    if schema.name in _UPDATES_STATISTICS and len(node.args) > 5 and node.args[5] is not False:
        statistics = [node.args[index] for index in _UPDATES_STATISTICS[schema.name]]
        written += [each for each in statistics if isinstance(each, Node)]
    return written


def aliased_arguments(node: Node) -> list[Node]:
    """The arguments whose memory a node's result may share."""
    if node.target is operator.getitem:
        source = node.all_input_nodes[0]  # what computes several tensors computes new ones
        return [source] if aliased_arguments(source) else []
    if not isinstance(node.target, torch._ops.OpOverload):
        # A module, a method or a function of no schema may return anything of what it gets.
        if node.op in ("call_module", "call_method") or (
            node.op == "call_function"
            and is_tensor_node(node)
            and not isinstance(node.target, torch._ops.HigherOrderOperator)
        ):
            return [n for n in node.all_input_nodes if is_tensor_node(n)]
        return []
    schema = node.target._schema
    if schema.name in UNDECLARED_VIEWS:
        return [n for n in node.all_input_nodes if is_tensor_node(n) and shares_memory(node, n)]
    if not any(r.alias_info is not None for r in schema.returns):
        return []
    return _declared(node, schema)


def _declared(node: Node, schema: torch.FunctionSchema, are_written: bool = False) -> list[Node]:
    """The arguments that a schema says share memory with the results, or are written to."""
    values = [
        argument_of(node, argument.name)
        for argument in schema.arguments
        if argument.alias_info is not None and (argument.alias_info.is_write or not are_written)
    ]
    return [leaf for leaf in pytree.tree_leaves(values) if isinstance(leaf, Node)]
