"""Tensors that bodies of branches and loops hold, as operands of these: PyTorch cannot say other bodies without writes.

``torch.cond(p, lambda x: x[torch.tensor([0, 2])], ..)`` has a tensor in a body. To say a program without writes PyTorch
2.13 traces it again, and fails where a tensor comes from inside of a body ("Attempting to use FunctionalTensor on its
own"), wherever the writes are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from operator import attrgetter
from typing import Any, NamedTuple

import torch
from torch._subclasses import FakeTensor, FakeTensorMode
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, InputSpec, TensorArgument
from torch.fx import Graph, GraphModule, Node

_ops = torch.ops.higher_order
_BODIES: dict[Any, tuple[Sequence[int], int]] = {
    _ops.cond: ((1, 2), 3),
    _ops.while_loop: ((0, 1), 3),
    _ops.scan: ((0,), 3),
    _ops.map_impl: ((0,), 2),
}
"""Op -> which of its arguments are bodies, and which is a sequence of operands that all of them take last."""


class _Lifted(NamedTuple):
    """A copy of a graph that takes tensors, in this order, behind its other placeholders."""

    module: GraphModule
    tensors: list[torch.Tensor]


def with_lifted_constants(exported: ExportedProgram) -> ExportedProgram:
    """The program, its branches and loops with operands for the tensors in their bodies.

    These are constants of the program then, as those outside of bodies are.
    """
    if not any(node.target in _BODIES for node in exported.graph.nodes):
        return exported
    module, tensors = _Lifting(exported).lifted(exported.graph_module, is_body=False)
    return with_constants(exported, module, tensors)


def with_constants(
    exported: ExportedProgram, module: GraphModule, tensors: Sequence[torch.Tensor]
) -> ExportedProgram:
    """The program with another graph, whose last placeholders are further constants.

    Args:
        exported: the program.
        module: of the graph.
        tensors: what the last placeholders are, in their order; the same program if there are none.
    """
    if not tensors:
        return exported
    placeholders = module.graph.find_nodes(op="placeholder")
    old, new = placeholders[: -len(tensors)], placeholders[-len(tensors) :]
    signature, constants = exported.graph_signature, dict(exported.constants)
    known = [*signature.input_specs]
    specs = list[InputSpec]()
    for node, tensor in zip(new, tensors, strict=True):
        constants[node.name] = tensor
        spec = InputSpec(InputKind.CONSTANT_TENSOR, TensorArgument(name=node.name), node.name)
        specs.append(spec)
    first = next((i for i, s in enumerate(known) if s.kind is InputKind.USER_INPUT), len(known))
    for node in new if first < len(old) else ():
        old[first].prepend(node)
    module.recompile()
    return ExportedProgram(
        root=module,
        graph=module.graph,
        graph_signature=replace(signature, input_specs=[*known[:first], *specs, *known[first:]]),
        state_dict=exported.state_dict,
        range_constraints=exported.range_constraints,
        module_call_graph=exported.module_call_graph,
        example_inputs=exported.example_inputs,
        constants=constants,
        verifiers=exported.verifiers,
    )


class Placeholders:
    """Makes placeholders for further constants of a program."""

    def __init__(self, exported: ExportedProgram) -> None:
        values = (node.meta.get("val") for node in exported.graph.nodes)
        fakes = (value for value in values if isinstance(value, FakeTensor))
        self._fakes = next((fake.fake_mode for fake in fakes), None) or FakeTensorMode()
        taken = {*exported.constants, *exported.state_dict}
        names = (f"lifted_constant_{number}" for number in count())
        self._names = (name for name in names if name not in taken)

    def add(self, graph: Graph, tensor: torch.Tensor) -> Node:
        """A further placeholder, behind the others."""
        known = graph.find_nodes(op="placeholder")
        with graph.inserting_after(known[-1]) if known else graph.inserting_before():
            node = graph.placeholder(next(self._names))
        node.meta["val"] = self._fakes.from_tensor(tensor, static_shapes=True)
        return node


class _Lifting:
    """Makes the copies of the graphs of one program."""

    def __init__(self, exported: ExportedProgram) -> None:
        self._placeholder = Placeholders(exported).add

    def lifted(self, module: GraphModule, is_body: bool) -> _Lifted:
        """A copy of a graph whose branches and loops, and itself if it is a body, have no tensors of their own."""
        graph, copies = Graph(), dict[Node, Node]()
        graph.output(graph.graph_copy(module.graph, copies))
        tensors, children = list[torch.Tensor](), dict[str, GraphModule]()
        for old, node in copies.items():
            node.name = old.name
            if old.op == "get_attr" and is_body:
                value = attrgetter(str(old.target))(module)
                if isinstance(value, torch.Tensor):
                    node.replace_all_uses_with(self._placeholder(graph, value))
                    graph.erase_node(node)
                    tensors.append(value)
        for node in list(graph.nodes):
            if node.target in _BODIES:
                places, last = _BODIES[node.target]
                args: list[Any] = list(node.args)
                names = [str(args[place].target) for place in places]
                if not children.keys().isdisjoint(names):
                    continue  # of a body in two places PyTorch says that their operands differ
                bodies, taken = self._bodies(module, names)
                args[last] = (*args[last], *(self._placeholder(graph, each) for each in taken))
                node.args = tuple(args)
                tensors += taken
                children |= bodies
        result = GraphModule(module, graph)
        for name, child in children.items():
            setattr(result, name, child)
        return _Lifted(result, tensors)

    def _bodies(
        self, module: GraphModule, names: Sequence[str]
    ) -> tuple[dict[str, GraphModule], list[torch.Tensor]]:
        """Copies of the bodies of a branch or loop, and the tensors of all of them, which each is given."""
        bodies = [self.lifted(module.get_submodule(name), is_body=True) for name in names]  # type: ignore[arg-type]
        taken, done = [tensor for body in bodies for tensor in body.tensors], 0
        for body in bodies:
            graph, own = body.module.graph, len(body.tensors)
            first = graph.find_nodes(op="placeholder")[-own] if own else None
            for tensor in taken[:done]:
                node = self._placeholder(graph, tensor)
                if first is not None:
                    first.prepend(node)
            done += own
            for tensor in taken[done:]:
                self._placeholder(graph, tensor)
            body.module.recompile()
        return dict(zip(names, (body.module for body in bodies), strict=True)), taken
