"""Exported programs and graph modules as modules of the torch dialect."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch.export.graph_signature import (
    ConstantArgument,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
)
from torch.fx import Graph, GraphModule, Node
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim, KnownSize, symbol
from torch2mlir.dialects.torch.symbols import declare_symbols
from torch2mlir.errors import CaptureError
from torch2mlir.frontends import dtypes
from torch2mlir.frontends.asked_of_tensors import STRIDES
from torch2mlir.frontends.fx import symbols
from torch2mlir.frontends.fx.calls_by_layout import SHARING_OR_COPYING_OPS, seen_in
from torch2mlir.frontends.fx.compared_sizes import compare_sizes
from torch2mlir.frontends.fx.control_flow import size_operand
from torch2mlir.frontends.fx.decisions import decisions_of, decisions_on_layouts, fixed_sizes
from torch2mlir.frontends.fx.flex_attention import has_flex_attention
from torch2mlir.frontends.fx.function_transforms import check_transforms
from torch2mlir.frontends.fx.functionalization import (
    STATE_MUTATIONS,
    WEIGHT_KINDS,
    functionalized,
    with_tied_state_joined,
    without_tokens,
    written_placeholders,
)
from torch2mlir.frontends.fx.importer import GraphImporter, _attribute
from torch2mlir.frontends.fx.known_sizes import with_known_sizes
from torch2mlir.frontends.fx.mutation import (
    has_transforms,
    is_functional,
    is_pure,
    needs_functionalization,
    written_argument,
    written_if_shared,
    written_nodes,
)
from torch2mlir.frontends.fx.refused_writes import check_memory, check_writes
from torch2mlir.frontends.fx.regions import without_regions
from torch2mlir.frontends.fx.texts_of_numbers import check_texts
from torch2mlir.program import (
    ConstantInput,
    ConstantOutput,
    Decision,
    Layout,
    Mutation,
    Output,
    Program,
    Signature,
    StateInput,
    UserInput,
    UserOutput,
)

_MUTATIONS = {*STATE_MUTATIONS, OutputKind.USER_INPUT_MUTATION}


def import_exported_program(
    exported: torch.export.ExportedProgram,
    func_name: str = "main",
    asked: Collection[str] = (),
    keeps_state: bool = False,
) -> Program:
    """The raw torch-dialect module of an exported program, imported as it is.

    A graph whose in-place writes are seen through views is functionalized first, and one with calls of ``torch.vmap``
    (as ``associative_scan`` has) or ``flex_attention`` is traced through them, as is one whose sizes are known though
    elements decide them.

    Args:
        exported: the program.
        func_name: of the function.
        asked: names that the model's code has for things.
        keeps_state: whether sizes that elements of its tensors decide are what they are now.

    Raises:
        CaptureError: something in the graph has no torch-dialect form.
    """
    check_transforms(exported)
    check_texts(exported)
    exported = without_regions(exported)
    written = _written_by_layout(exported)
    if exported.state_dict or exported.constants:
        exported = with_tied_state_joined(exported)
    graphs = [m.graph for m in exported.graph_module.modules() if isinstance(m, GraphModule)]
    compare_sizes(graphs)
    writing = [graph for graph in graphs if not is_functional(graph)]
    for graph in graphs:
        check_memory(graph)
    for graph in writing:
        check_writes(graph)
    known = with_known_sizes(exported, keeps_state)
    is_to_be_traced = (
        known is not exported
        or any(map(has_flex_attention, graphs))
        or any(map(has_transforms, writing))
    )
    views = [graph for graph in writing if needs_functionalization(graph)]
    layouts = [each for graph in views for each in decisions_on_layouts(graph)]
    seen = seen_in(exported)
    for graph in writing if seen.leaves_as_it_is else views:
        written |= _decide_on_sharing(graph, exported.graph, seen.leaves_as_it_is)
    if is_to_be_traced or views:
        exported = functionalized(known)
    program = _ExportedImport(without_tokens(exported), func_name, written, asked).run()
    if program.signature.ranges:
        own = [Decision(f"{s} >= 2", True, (s,), "", True) for s in program.signature.ranges]
        program.signature.decisions += [*layouts, *(own if seen.asks_for_layouts else ())]
    return program


def _written_by_layout(exported: torch.export.ExportedProgram) -> set[str]:
    """The placeholders that are written, or are not, depending on their strides: ``x.contiguous().add_(1)``."""
    is_called = seen_in(exported).may_share or any(
        node.target in SHARING_OR_COPYING_OPS for node in exported.graph.nodes
    )
    return {node.name for node in written_placeholders(exported)} if is_called else set()


def _decide_on_sharing(graph: Graph, whole: Graph, unseen: bool) -> set[str]:
    """The placeholders by whose strides a call in a graph shares memory that is written: ``(x * 2).reshape(-1)``.

    Args:
        graph: one that writes.
        whole: the program's, of which it may be a part.
        unseen: whether such calls may be of anything that is written.
    """
    work = [*written_if_shared(graph), *(written_nodes(graph) if unseen else ())]
    if graph is not whole:
        return {node.name for node in whole.find_nodes(op="placeholder")} if work else set()
    seen = set[Node]()
    while work:
        node = work.pop()
        if node not in seen:
            seen.add(node)
            work += node.all_input_nodes
    return {node.name for node in seen if node.op == "placeholder"}


class _FunctionImport:
    """One function being built: its block, importer and symbols."""

    def __init__(self, func_name: str, attributes: Any, nodes: Sequence[Node]) -> None:
        self.func_name = func_name
        self.block = Block()
        fixed = fixed_sizes(nodes)
        sizes = partial(symbols.size_of, fixed=fixed) if fixed else symbols.size_of
        self.importer = GraphImporter(self.block.add_op, attributes, sizes)
        self.signature = Signature()

    def argument(self, node: Node) -> SSAValue:
        """Adds a function argument for a placeholder."""
        type = self.importer.type_of(node.meta.get("val"))
        value = self.block.insert_arg(type, len(self.block.args))
        value.name_hint = node.name
        self.importer.values[node] = value
        return value

    def length(self, node: Node, name: str) -> SSAValue:
        """Adds a tensor without elements for a placeholder that is a size, which is the tensor's first."""
        type = t.vtensor((symbol(name), 0), dtypes.TO_ELEMENT_TYPE[torch.float32])
        value = self.block.insert_arg(type, len(self.block.args))
        value.name_hint = node.name
        return value

    def bind_symbols(self, ranges: dict[str, tuple[int, int]], others: Iterable[str] = ()) -> None:
        """Declares the symbols of the arguments' sizes and what the arguments' sizes are, and ``others``."""
        declared = declare_symbols(self.block.args, ranges, others)
        self.block.add_ops(declared.ops)
        self.importer.symbols = declared.values
        self.signature.ranges = declared.ranges

    def finish(self, results: Sequence[SSAValue]) -> Program:
        """Closes the function and wraps it in a module."""
        end = ReturnOp.create(operands=results)
        self.block.add_op(end)
        type = FunctionType.from_lists(self.block.arg_types, end.operand_types)
        function = FuncOp(self.func_name, type, Region(self.block))
        return Program(ModuleOp([function]), self.signature, self.func_name)


class _ExportedImport(_FunctionImport):
    """The import of one exported program.

    Args:
        exported: the program, whose writes are values.
        func_name: of the function.
        written_by_layout: placeholders that have to lie in memory as they did.
        asked: names that the model's code has for things.
    """

    def __init__(
        self,
        exported: torch.export.ExportedProgram,
        func_name: str,
        written_by_layout: Collection[str],
        asked: Collection[str],
    ) -> None:
        graph_module = exported.graph_module
        self.written_by_layout = written_by_layout
        self.asks_for_strides = not STRIDES.isdisjoint(asked)
        self.exported = exported
        self.nodes: list[Node] = list(exported.graph.nodes)
        super().__init__(func_name, lambda name: _attribute(graph_module, name), self.nodes)

    def run(self) -> Program:
        exported, specs = self.exported, self.exported.graph_signature
        placeholders = exported.graph.find_nodes(op="placeholder")
        pairs = list(zip(placeholders, specs.input_specs, strict=True))
        written = self._written_placeholders()
        position = 0
        written_inputs = list[tuple[Node, int]]()
        written_state = list[tuple[Node, InputSpec]]()
        for node, spec in pairs:
            if spec.kind is InputKind.USER_INPUT:
                self._user_input(node, spec, position)
                if node.name in written:
                    written_inputs.append((node, position))
                position += 1
            elif spec.kind in WEIGHT_KINDS and node.name in written:
                written_state.append((node, spec))
        for node, spec in written_state:
            value = self.argument(node)
            state = StateInput(str(spec.target), self._tensor(spec), value.type)  # type: ignore[arg-type]
            self.signature.inputs.append(state)
        ranges = {str(s): symbols.bounds(r) for s, r in exported.range_constraints.items()}
        self.bind_symbols(ranges)
        for node, spec in pairs:
            if node in self.importer.values or spec.kind is InputKind.USER_INPUT:
                continue
            if spec.kind not in WEIGHT_KINDS:
                raise CaptureError(
                    f"the graph input '{node.name}' is a {spec.kind.name}, not a tensor"
                )
            if node.users:
                tensor = self._tensor(spec)
                self.importer.values[node] = self.importer.literal(tensor, str(spec.target))
        returned = self.importer.run(self.nodes)
        if self.importer.reads_memory:
            self.signature.layouts = {
                item.position: self._layout(node)
                for item in self.signature.user_inputs
                if item.type is not None
                for node in placeholders
                if node.name == item.name
            }
        if self.signature.ranges:
            self.signature.decisions = decisions_of(exported)
        self.signature.in_spec = exported.call_spec.in_spec
        self.signature.out_spec = exported.call_spec.out_spec
        written_to = [node for node in placeholders if node.name in self.written_by_layout]
        self._note_layouts(written_to, lambda layout: replace(layout, is_written=True))
        if self.asks_for_strides:
            self._note_layouts(placeholders, lambda layout: replace(layout, is_asked=True))
        return self.finish(self._results(returned, written_state, written_inputs))

    def _note_layouts(self, nodes: Sequence[Node], noted: Callable[[Layout], Layout]) -> None:
        for node in nodes:
            for item in self.signature.user_inputs:
                if item.type is not None and item.name == node.name:
                    layout = self.signature.layouts.get(item.position) or self._layout(node)
                    self.signature.layouts[item.position] = noted(layout)

    def _layout(self, node: Node) -> Layout:
        fake = node.meta["val"]
        strides = [self.importer.size_of(stride) for stride in fake.stride()]
        is_absolute = node.name in self.importer.read_from_offset
        return Layout(strides, int(fake.storage_offset()) if is_absolute else None)

    def _tensor(self, spec: InputSpec) -> torch.Tensor:
        name = str(spec.target)
        source = (
            self.exported.state_dict
            if name in self.exported.state_dict
            else self.exported.constants
        )
        tensor = source.get(name)
        if not isinstance(tensor, torch.Tensor):
            raise CaptureError(f"the program has no tensor named '{name}'")
        if tensor.layout is not torch.strided:
            raise CaptureError(
                f"the {spec.kind.name.lower()} '{name}' is of layout {tensor.layout}, which no dialect has",
                hint=f"register its dense form: self.register_buffer(.., {name.split('.')[-1]}.to_dense())",
            )
        return tensor

    def _user_input(self, node: Node, spec: InputSpec, position: int) -> None:
        if isinstance(spec.arg, ConstantArgument):
            value = spec.arg.value
            self.signature.constants.append(ConstantInput(node.name, position, value))
            if node.users:
                self.importer.values[node] = self.importer.constants.scalar(value)
            return
        argument = self.argument(node)
        type = argument.type if isinstance(argument.type, t.ValueTensorType) else None
        self.signature.inputs.append(UserInput(node.name, position, type))

    def _written_placeholders(self) -> dict[str, str]:
        """Placeholders the program mutates, by name -> name of their last value, where the signature has it."""
        written = dict[str, str]()
        roots = dict[Node, Node]()
        for node in self.nodes:
            if not is_pure(node.target) and isinstance(node.target, torch._ops.OpOverload):
                target = written_argument(node.target, node)
                if target is not None:
                    roots[node] = root = roots.get(target, target)
                    if root.op == "placeholder":
                        written[root.name] = ""
        for spec in self.exported.graph_signature.output_specs:
            if spec.kind in _MUTATIONS:
                written[self._mutated(spec)] = spec.arg.name
        return written

    def _mutated(self, spec: OutputSpec) -> str:
        """The name of the placeholder that an output is the new value of."""
        if spec.kind is OutputKind.USER_INPUT_MUTATION:
            return str(spec.target)
        inputs = self.exported.graph_signature.input_specs
        return next(i.arg.name for i in inputs if i.target and str(i.target) == str(spec.target))

    def _results(
        self,
        returned: Sequence[Any],
        written_state: Sequence[tuple[Node, InputSpec]],
        written_inputs: Sequence[tuple[Node, int]],
    ) -> list[SSAValue]:
        """Records mutations and outputs in the signature; returns the function results in their order."""
        final = dict[str, SSAValue]()
        outputs = list[Output]()
        values = list[SSAValue]()
        for item, spec in zip(returned, self.exported.graph_signature.output_specs, strict=True):
            if spec.kind in _MUTATIONS:
                final[self._mutated(spec)] = self.importer.operand(item)
            elif isinstance(item, Node):
                value = self.importer.operand(item)
                outputs.append(_output(value))
                values.append(value)
            else:
                outputs.append(ConstantOutput(item))
        results = list[SSAValue]()
        for node, state_spec in written_state:
            self.signature.mutations.append(Mutation(str(state_spec.target)))
            results.append(final.get(node.name) or self.importer.operand(node))
        for node, position in written_inputs:
            self.signature.mutations.append(Mutation(node.name, position))
            results.append(final.get(node.name) or self.importer.operand(node))
        self.signature.outputs = outputs
        return results + values


def _output(value: SSAValue) -> UserOutput:
    return UserOutput(value.type if isinstance(value.type, t.ValueTensorType) else None)


def _no_attribute(name: str) -> Any:
    raise CaptureError(f"the graph names '{name}' and has no attributes")


def import_graph_module(
    module: GraphModule,
    func_name: str = "main",
    ranges: Mapping[str, tuple[int, int]] | None = None,
    bound: Mapping[Node, KnownSize] | None = None,
    lengths: Mapping[Node, str] | None = None,
) -> Program:
    """The raw torch-dialect module of a graph whose placeholders are all function arguments.

    Nodes need ``meta["val"]``, as graphs of ``make_fx``, AOTAutograd and Dynamo have. ``ranges`` bounds symbols;
    ``bound`` has what placeholders are that are no arguments, because sizes of others tell their value; of these
    ``lengths`` has the symbols that come as the first size of a tensor without elements.

    Raises:
        CaptureError: something in the graph has no torch-dialect form.
    """
    attributes = partial(_attribute, module)
    return import_graph(module.graph, func_name, ranges, bound, attributes, lengths)


def import_graph(
    graph: Graph,
    func_name: str = "main",
    ranges: Mapping[str, tuple[int, int]] | None = None,
    bound: Mapping[Node, KnownSize] | None = None,
    attributes: Callable[[str], Any] = _no_attribute,
    lengths: Mapping[Node, str] | None = None,
) -> Program:
    """As :func:`import_graph_module`, of a graph that is no module's; ``attributes`` finds what its nodes name."""
    check_memory(graph)
    if needs_functionalization(graph):
        raise CaptureError(
            "the graph writes to tensors through views",
            hint="functionalize it first (torch.func.functionalize) or capture it with torch.export",
        )
    nodes = list(graph.nodes)
    building = _FunctionImport(func_name, attributes, nodes)
    bound = bound or {}
    for position, node in enumerate(n for n in nodes if n.op == "placeholder"):
        length = (lengths or {}).get(node)
        if node in bound and length is None:
            continue
        argument = building.argument(node) if length is None else building.length(node, length)
        type = argument.type if isinstance(argument.type, t.ValueTensorType) else None
        building.signature.inputs.append(UserInput(node.name, position, type))
    names = {name for size in bound.values() if isinstance(size, Dim) for name in size.symbols()}
    building.bind_symbols(dict(ranges or {}), sorted(names))
    for node, size in bound.items():
        building.importer.values[node] = size_operand(building.importer, size)
    results = list[SSAValue]()
    for item in building.importer.run(nodes):
        if isinstance(item, Node):
            value = building.importer.operand(item)
            results.append(value)
            building.signature.outputs.append(_output(value))
        else:
            building.signature.outputs.append(ConstantOutput(item))
    return building.finish(results)
