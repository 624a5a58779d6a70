"""``with torch.no_grad():`` and its kin, bodies of their own in an exported program, as part of what is around them.

What a region writes to (a running mean, a codebook) lives outside of it: looked at by itself, a body writes to nothing
but its own arguments.
"""

from __future__ import annotations

import operator
import os
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import ExportGraphSignature, TensorArgument
from torch.fx import Graph, GraphModule, Node
from torch.fx.node import map_arg

from torch2mlir.frontends.fx.functionalization import name_arguments, with_module

_KINDS = (
    torch.ops.higher_order.wrap_with_set_grad_enabled,
    torch.ops.higher_order.wrap_with_autocast,
)
"""Their modes have done what they do when the program was captured."""


def without_regions(exported: ExportedProgram) -> ExportedProgram:
    """The program with the calls of a region in its place, in branches and loops too; itself if it has none."""
    bodies = [m for m in exported.graph_module.modules() if isinstance(m, GraphModule)]
    if not any(
        body.graph.find_nodes(op="call_function", target=kind) for body in bodies for kind in _KINDS
    ):
        return exported
    module = _Flat(exported.graph_module).module()
    signature = exported.graph_signature
    name_arguments(module.graph, signature)
    (output,) = module.graph.find_nodes(op="output")
    outputs = [
        replace(spec, arg=TensorArgument(value.name))
        if isinstance(spec.arg, TensorArgument) and isinstance(value, Node)
        else spec
        for spec, value in zip(signature.output_specs, output.args[0], strict=True)
    ]
    return with_module(exported, module, ExportGraphSignature(signature.input_specs, outputs))


_SPLITTING = os.path.join("_export", "passes", "replace_with_hop_pass_util.py")


def is_lost_body(error: Exception) -> bool:
    """Whether PyTorch has failed to make a region where a branch or loop is in another one.

    It makes bodies of ``with torch.no_grad():`` and copies all others for that: PyTorch 2.13 loses what is in these.
    """
    frames = traceback.walk_tb(error.__traceback__)
    return isinstance(error, AttributeError) and any(
        frame.f_code.co_filename.endswith(_SPLITTING) for frame, _ in frames
    )


@contextmanager
def grad_modes_unrecorded() -> Iterator[None]:
    """While a program is captured, its grad modes do what they do, and are no regions of it."""
    original = torch._C._set_grad_enabled

    def changed(enabled: bool) -> None:
        with torch._C.DisableTorchFunction():
            original(enabled)

    torch._C._set_grad_enabled = changed
    try:
        yield
    finally:
        torch._C._set_grad_enabled = original


class _Flat:
    """A copy of a graph module without regions.

    Args:
        original: the module, which stays as it is.
    """

    def __init__(self, original: GraphModule) -> None:
        self.original = original
        self.graph = Graph()
        self.attributes = dict[str, Any]()

    def module(self) -> GraphModule:
        """The copy."""
        copies = dict[Node, Any]()
        results = self._copy(self.original, copies)
        output = self.graph.output(results)
        (before,) = self.original.graph.find_nodes(op="output")
        output.meta = dict(before.meta)
        module = GraphModule(self.attributes, self.graph)
        module.meta = dict(self.original.meta)
        return module

    def _copy(self, body: GraphModule, copies: dict[Node, Any]) -> Any:
        """Copies the nodes of a body, whose placeholders ``copies`` may have already; returns its results."""
        bodies = dict[Node, GraphModule]()

        def copied(node: Node) -> Any:
            return copies[node]

        for node in body.graph.nodes:
            if node.op == "output":
                return map_arg(node.args[0], copied)
            if node in copies:
                continue
            if node.op == "get_attr":
                attribute = _attribute(body, node.target)
                if isinstance(attribute, GraphModule):
                    if all(user.target in _KINDS for user in node.users):
                        bodies[node] = attribute
                        continue
                    attribute = _Flat(attribute).module()
                copies[node] = self._held(node, attribute)
            elif node.target in _KINDS:
                copies[node] = self._spliced(node, bodies, copied)
            elif node.target is operator.getitem and not isinstance(copied(node.args[0]), Node):
                copies[node] = copied(node.args[0])[node.args[1]]
            else:
                copies[node] = self.graph.node_copy(node, copied)
        raise AssertionError("a graph has an output")

    def _spliced(
        self, node: Node, bodies: dict[Node, GraphModule], copied: Callable[[Node], Any]
    ) -> Sequence[Any]:
        """The results of a region, whose calls are copied here."""
        place = next(i for i, a in enumerate(node.args) if isinstance(a, Node) and a in bodies)
        body = bodies[node.args[place]]  # type: ignore[index]
        placeholders = body.graph.find_nodes(op="placeholder")
        operands = [map_arg(argument, copied) for argument in node.args[place + 1 :]]
        results: Sequence[Any] = self._copy(body, dict(zip(placeholders, operands, strict=True)))
        return results

    def _held(self, node: Node, attribute: Any) -> Node:
        """A node for what a module has, under a name that no other body has given to something else."""
        name = str(node.target).replace(".", "_")
        while self.attributes.get(name, attribute) is not attribute:
            name += "_"
        self.attributes[name] = attribute
        new = self.graph.get_attr(name)
        new.meta = dict(node.meta)
        return new


def _attribute(module: GraphModule, path: Any) -> Any:
    return operator.attrgetter(str(path))(module)
