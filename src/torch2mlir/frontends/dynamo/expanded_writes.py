"""Graphs that write to expanded tensors: AOTAutograd adds up what is written to one place of memory."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch._subclasses import FakeTensor
from torch.fx import GraphModule, Interpreter, Node
from torch.utils._python_dispatch import TorchDispatchMode

from torch2mlir.frontends.fx.refused_writes import EXPANDED, is_expanded, writes_elements_of


def write_to_expanded(module: GraphModule) -> str | None:
    """The op that writes to a tensor several of whose elements are one place of memory, if a graph has one.

    Only a graph that may write to memory it has expanded is looked at call by call.
    """
    nodes = list(module.graph.nodes)
    expanded = {_memory(node) for node in nodes if is_expanded(node.meta.get("example_value"))}
    if not any(_memory(node) in expanded for node in _written(nodes)):
        return None
    values = [node.meta.get("example_value") for node in nodes if node.op == "placeholder"]
    mode = next((value.fake_mode for value in values if isinstance(value, FakeTensor)), None)
    env = None if mode is None else mode.shape_env
    if mode is None or env is None:
        return None
    watch, quiet = _Watch(), (env.suppress_guards(), env.ignore_fresh_unbacked_symbols())
    with torch.no_grad(), mode, quiet[0], quiet[1], watch:
        try:
            Interpreter(module).run(
                *(v.detach() if isinstance(v, torch.Tensor) else v for v in values)
            )
        except _Found:
            return watch.op
        except (
            Exception
        ):  # calls that cannot be run twice: AOTAutograd will say what it has against them
            return None
    return None


def _memory(node: Node) -> int | None:
    value = node.meta.get("example_value")
    return value.untyped_storage()._cdata if isinstance(value, FakeTensor) else None


def _written(nodes: Sequence[Node]) -> list[Node]:
    """The tensors that calls may write to, by the names of what is called."""
    written = list[Node]()
    for node in nodes:
        name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")
        in_place = name.endswith("_") and not name.endswith("__")
        if in_place or node.kwargs.get("inplace") is True or node.target in _IN_PLACE:
            written += [value for value in node.args[:1] if isinstance(value, Node)]
        if isinstance(node.kwargs.get("out"), Node):
            written.append(node.kwargs["out"])  # type: ignore[arg-type]
    return written


_IN_PLACE = {
    operator.setitem,
    operator.iadd,
    operator.isub,
    operator.imul,
    operator.itruediv,
    operator.ifloordiv,
    operator.imod,
    operator.ipow,
    operator.iand,
    operator.ior,
    operator.ixor,
    operator.ilshift,
    operator.irshift,
}


class _Found(Exception):
    """There is one; the rest need not run."""


class _Watch(TorchDispatchMode):
    """Looks at what every call writes to."""

    op = EXPANDED

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if isinstance(func, torch._ops.OpOverload) and any(
            is_expanded(value) for value in writes_elements_of(func, args, kwargs or {})
        ):
            self.op = str(func)
            raise _Found
        return func(*args, **(kwargs or {}))
