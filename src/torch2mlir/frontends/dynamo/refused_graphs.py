"""Graphs that write to expanded tensors and the like, or to windows of a tensor, of which AOTAutograd makes others.

It adds up what is written to one place of memory, and makes what no window covers zero. It also takes writes of dtypes
that PyTorch refuses.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch._subclasses import FakeTensor
from torch.fx import GraphModule, Interpreter, Node
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from torch2mlir.errors import CaptureError
from torch2mlir.frontends.fx.refused_dtypes import refused_call
from torch2mlir.frontends.fx.refused_writes import (
    overlaps_itself,
    tensors_in,
    write_to_expanded,
    write_to_windows,
    writes_elements_of,
)
from torch2mlir.frontends.memory import storage_of


def refused_write(module: GraphModule) -> CaptureError | None:
    """What to say of a graph that writes so, if it does.

    Only a graph that may write to memory it has expanded is looked at call by call. One that writes to memory it has
    taken windows of is refused, whatever it writes there; so is one whose branches or loops write to memory they have
    expanded.
    """
    may_write = list[GraphModule]()
    for body in module.modules():
        if not isinstance(body, GraphModule):
            continue
        nodes = list(body.graph.nodes)
        for place, node in enumerate(nodes):
            if (refused := refused_call(_name_of(node), node, "example_value")) is not None:
                return refused
            if _gives_windows(node) and memory_of(node) in map(
                memory_of, written_by(nodes[place:])
            ):
                return write_to_windows()
        written = {memory_of(node) for node in written_by(nodes)}
        given = (node.meta.get("example_value") for node in nodes if _gives_overlap(node))
        if not written.isdisjoint(storage_of(tensor) for tensor in tensors_in(list(given))):
            may_write.append(body)
    if any(body is not module for body in may_write):
        return write_to_expanded("a write in a branch or loop")
    return _write_to_expanded(module) if may_write else None


def _name_of(node: Node) -> str:
    return node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")


def _write_to_expanded(module: GraphModule) -> CaptureError | None:
    placeholders = module.graph.find_nodes(op="placeholder")
    values = [node.meta.get("example_value") for node in placeholders]
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
            return write_to_expanded(watch.op)
        except (
            Exception
        ):  # calls that cannot be run twice: AOTAutograd will say what it has against them
            return None
    return None


def _gives_windows(node: Node) -> bool:
    """Whether the call is ``x.unfold(..)``, a view; ``torch.nn.functional.unfold`` is a copy."""
    return (node.op == "call_method" and node.target == "unfold") or node.target in _UNFOLD


def _gives_overlap(node: Node) -> bool:
    """Whether several elements of what the call gives may be one place of memory; so AOTAutograd takes ``expand``."""
    if getattr(node.target, "__name__", node.target) in _EXPANDING:
        return True
    is_strided = node.target == "as_strided" or node.target in _AS_STRIDED
    return overlaps_itself(node.meta.get("example_value"), is_strided)


def memory_of(node: Node) -> int | None:
    """What the tensors in a graph of TorchDynamo's that share memory have in common; None of what is no tensor."""
    value = node.meta.get("example_value")
    return storage_of(value) if isinstance(value, FakeTensor) else None


def written_by(nodes: Sequence[Node]) -> list[Node]:
    """The tensors that calls may write to, by the names of what is called."""
    written = list[Node]()
    for node in nodes:
        name = _name_of(node)
        in_place = name.endswith("_") and not name.endswith("__")
        if in_place or _is_told_in_place(node) or node.target in _IN_PLACE:
            written += [v for v in pytree.tree_leaves(node.args[:1]) if isinstance(v, Node)]
        if isinstance(node.kwargs.get("out"), Node):
            written.append(node.kwargs["out"])  # type: ignore[arg-type]
    return written


def _is_told_in_place(node: Node) -> bool:
    """Whether an argument says ``inplace=True``, or is a ``True`` that may say it."""
    is_functional = getattr(node.target, "__module__", "") == torch.nn.functional.__name__
    return node.kwargs.get("inplace") is True or (
        is_functional and any(v is True for v in node.args)
    )


_UNFOLD = (torch.Tensor.unfold, torch.ops.aten.unfold.default)
_EXPANDING = {"expand", "expand_as", "broadcast_to", "broadcast_tensors", "meshgrid"}
_AS_STRIDED = (torch.as_strided, torch.Tensor.as_strided, torch.ops.aten.as_strided.default)
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


_EXPAND = torch.ops.aten.expand.default


class _Found(Exception):
    """There is one; the rest need not run."""


class _Watch(TorchDispatchMode):
    """Looks at what every call writes to: what has been expanded, or a part of that."""

    def __init__(self) -> None:
        super().__init__()
        self.op = ""
        self._expanded = dict[int, torch.Tensor]()

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if not isinstance(func, torch._ops.OpOverload):
            return func(*args, **kwargs)
        for value in writes_elements_of(func, args, kwargs):
            if any(self._overlaps(t) for t in tensors_in(value)):
                self.op = str(func)
                raise _Found
        result = func(*args, **kwargs)
        of_expanded = {storage_of(t) for t in tensors_in((args, kwargs)) if self._overlaps(t)}
        is_strided = func is torch.ops.aten.as_strided.default
        for tensor in tensors_in(result):
            overlaps = func is _EXPAND or overlaps_itself(tensor, is_strided)
            if storage_of(tensor) in of_expanded or overlaps:
                self._expanded[id(tensor)] = tensor
        return result

    def _overlaps(self, tensor: torch.Tensor) -> bool:
        return overlaps_itself(tensor) or id(tensor) in self._expanded
