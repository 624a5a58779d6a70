"""A graph of ``torch.compile``, ready to be called: compiled segments, and PyTorch for what cannot be compiled."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch._ops import HigherOrderOperator, OpOverload
from torch.fx import Graph, GraphModule, Node
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
from torch.utils import _pytree as pytree

from torch2mlir.dialects.locations import describe
from torch2mlir.errors import CaptureError, EngineError, InputError, Torch2MLIRError
from torch2mlir.frontends.dynamo.equal_sizes import learn_equal_sizes
from torch2mlir.frontends.dynamo.random_draws import draw_from_shapes, draws
from torch2mlir.frontends.dynamo.segments import (
    Segment,
    detached_results,
    split,
    view_results_in_pytorch,
)
from torch2mlir.frontends.dynamo.writes import updates_in_place, writes_as_results
from torch2mlir.frontends.fx import locations
from torch2mlir.frontends.fx.control_flow import HIGHER_ORDER
from torch2mlir.runtime.calling import write
from torch2mlir.runtime.dynamo_metrics import Recorder
from torch2mlir.runtime.gradients import are_batched, has_tangents
from torch2mlir.runtime.segment import CompiledSegment, Loaded, RunsSegment, Toolchain, Values

_ATTEMPTS = 4
"""How often a graph is split anew around what cannot be compiled, before whole segments are left to PyTorch."""


@dataclass
class _Step:
    """A segment in its turn.

    Attributes:
        segment: the nodes, and what PyTorch runs.
        compiled: what runs instead.
        inputs: places of its inputs among the values of a call.
        outputs: places of its results.
        dead: places of values that nobody reads after it.
    """

    segment: Segment
    compiled: RunsSegment | None
    inputs: list[int]
    outputs: list[int]
    dead: list[int]


class CompiledGraph:
    """A graph that AOTAutograd has captured. Call it with a list of values, which it empties; it returns a list.

    Args:
        module: a functional graph of ATen calls.
        tools: who compiles it.
        fallback: whether PyTorch runs what cannot be compiled.
        recorder: counts.
        in_training: whether it is part of a training step.

    Raises:
        CaptureError, BackendContractError, UnsupportedOpError, EngineError: without ``fallback``, what cannot be
            compiled, and why.
    """

    def __init__(
        self,
        module: GraphModule,
        tools: Toolchain,
        fallback: bool,
        recorder: Recorder,
        in_training: bool = False,
    ) -> None:
        # of the object, not of its class: PyTorch's wrappers copy the attributes of what they wrap
        self._boxed_call = True
        self._tools = tools
        self._fallback = fallback
        self._recorder = recorder
        recorder.count(graphs=1)
        draw_from_shapes(module)
        self._views = view_results_in_pytorch(module) | detached_results(module)
        self._writes = writes_as_results(module)
        self._kernels = self._faster_in_pytorch(module) if in_training else set()
        self._left = self._left_to_pytorch(module)
        segments = self._compile(module)
        self._places = {
            node: place for place, node in enumerate(module.graph.find_nodes(op="placeholder"))
        }
        self._results = list(module.graph.output_node().args[0])  # type: ignore[arg-type]
        self._steps = self._plan(segments)
        places = [self._places[item] if isinstance(item, Node) else None for item in self._results]
        count = len(places) - len(self._writes)
        self._returned, self._written = places[:count], places[count:]

    def __call__(self, arguments: list[Any]) -> list[Any]:
        values: Values = [*arguments, *[None] * (len(self._places) - len(arguments))]
        targets = [arguments[place] for place in self._writes]
        arguments.clear()
        for step in self._steps:
            results = self._run(step, [values[place] for place in step.inputs])
            for place in step.dead:
                values[place] = None
            for place, value in zip(step.outputs, results, strict=True):
                values[place] = value
        with torch.no_grad():
            for target, source in zip(targets, self._written, strict=True):
                assert source is not None
                write(target, values[source])
        return [
            item if place is None else values[place]
            for item, place in zip(self._results, self._returned)
        ]

    def _run(self, step: _Step, arguments: Values) -> Sequence[Any]:
        compiled = step.compiled  # another thread may leave the segment to PyTorch meanwhile
        if has_tangents(arguments) or are_batched(arguments):
            compiled = None
        program = None if compiled is None else self._program(step, compiled, arguments)
        refusal: Torch2MLIRError | None = None
        if compiled is not None and program is not None:
            try:
                return compiled.run(program, arguments)
            except InputError as error:
                # PyTorch's fake tensors promise other sizes than its kernels give, as of embedding bags
                if not self._fallback:
                    raise
                refusal = error
            except (
                EngineError
            ) as error:  # ONNX Runtime multiplies no empty matrices, and says so in the call
                if not self._fallback or program.executable.function.updated:
                    raise
                refusal = error
        results: Sequence[Any] = step.segment.module(*arguments)
        if refusal is not None:  # PyTorch takes the call; of an index out of range it has raised
            self._note_segment(step.segment, refusal)
        return results

    def _program(self, step: _Step, compiled: RunsSegment, arguments: Values) -> Loaded | None:
        """The program for the sizes of a call; without one PyTorch runs the segment from now on."""
        try:
            return compiled.program_for(arguments)
        except Exception as error:
            if not self._fallback:
                raise
            step.compiled = None
            self._note_segment(step.segment, _ours(error))
            return None

    # what is compiled

    def _left_to_pytorch(self, module: GraphModule) -> dict[Node, str]:
        """Nodes that are not tried, and why."""
        left = dict[Node, str]()
        for node in module.graph.nodes:
            if node.op != "call_function" or self._is_pytorchs_own(node):
                continue
            reason = _not_for_engines(node)
            if reason is not None:
                left[node] = reason
                if not self._fallback:
                    raise CaptureError(
                        reason,
                        op=str(node.target),
                        location=describe(locations.of_node(node.meta)),
                        hint="let PyTorch run it: options={'fallback': True}",
                    )
        return left

    def _is_pytorchs_own(self, node: Node) -> bool:
        """What PyTorch runs although it could be compiled: draws, what they need, views of inputs, faster kernels."""
        made_for_draws = node.target is torch.ops.aten.empty_strided.default
        return node in self._views or node in self._kernels or made_for_draws or draws(node)

    def _faster_in_pytorch(self, module: GraphModule) -> set[Node]:
        """Calls for PyTorch's own kernels, where the tools may choose and PyTorch may run anything."""
        if self._tools.in_pytorch is None or not self._fallback:
            return set()
        found, reason = self._tools.in_pytorch(module.graph)
        if found:
            names = [str(node.target) for node in found]
            self._recorder.chose(f"{len(found)} calls: PyTorch, {reason}", names, reason)
        return found

    def _compile(self, module: GraphModule) -> list[tuple[Segment, RunsSegment | None]]:
        """Splits the graph until what is for the compiler can be compiled."""
        compiled = dict[_Key, RunsSegment]()
        refused = dict[_Key, Torch2MLIRError]()
        segments = list[Segment]()
        for attempt in range(_ATTEMPTS):
            segments = split(module, lambda n: n in self._left or self._is_pytorchs_own(n))
            updates = updates_in_place(module, segments, self._writes)
            culprits, has_learned = dict[Node, str](), False
            for segment, updated in zip(segments, updates, strict=True):
                key = _key(segment)
                if not segment.is_compiled or key in compiled or key in refused:
                    continue
                try:
                    compiled[key] = self._compile_segment(segment, updated)
                except Exception as error:
                    if learn_equal_sizes(segment.nodes, getattr(error, "op", None)):
                        has_learned = True
                        continue
                    if not self._fallback:
                        raise
                    found = self._culprits(segment) if attempt < _ATTEMPTS - 1 else {}
                    culprits.update(found)
                    if not found:
                        refused[key] = _ours(error)
            if not culprits and not has_learned:
                break
            self._left.update(culprits)
        for segment in segments:
            self._note(segment, compiled.get(_key(segment)), refused)
        return [(segment, compiled.get(_key(segment))) for segment in segments]

    def _compile_segment(self, segment: Segment, updated: Mapping[int, int]) -> RunsSegment:
        make = self._tools.segment or CompiledSegment
        return make(segment.module, self._tools, lambda: self._recorder.count(programs=1), updated)

    def _culprits(self, segment: Segment) -> dict[Node, str]:
        """The nodes of a segment that cannot be compiled by themselves, and why."""
        found, seen = dict[Node, str](), dict[str, str | None]()
        for node in _calls(segment):
            key = _call_text(node)
            if key not in seen:
                seen[key] = self._reason_against(node)
            reason = seen[key]
            if reason is not None:
                found[node] = reason
        return found

    def _reason_against(self, node: Node) -> str | None:
        try:
            CompiledSegment(_alone(node), self._tools, lambda: None).compile_for_hints()
        except Exception as error:
            return _ours(error).message
        return None

    # counting

    def _note(
        self,
        segment: Segment,
        compiled: RunsSegment | None,
        refused: dict[_Key, Torch2MLIRError],
    ) -> None:
        calls = _calls(segment)
        if compiled is not None:
            self._recorder.count(compiled=1, nodes_compiled=len(calls))
            return
        self._recorder.count(draws=sum(draws(node) for node in calls))
        for node in calls:
            if (reason := self._left.get(node)) is not None:
                self._recorder.fall_back([str(node.target)], reason)
        if segment.is_compiled:
            self._note_segment(segment, refused[_key(segment)])

    def _note_segment(self, segment: Segment, error: Torch2MLIRError) -> None:
        calls = _calls(segment)
        self._recorder.fall_back([str(node.target) for node in calls], error.message)

    # the plan

    def _plan(self, segments: Sequence[tuple[Segment, RunsSegment | None]]) -> list[_Step]:
        places = self._places
        for segment, _ in segments:
            for node in segment.outputs:
                places[node] = len(places)
        kept = {places[item] for item in self._results if isinstance(item, Node)}
        steps = list[_Step]()
        for segment, compiled in reversed(segments):
            inputs = [places[node] for node in segment.inputs]
            dead = [place for place in inputs if place not in kept]
            kept.update(inputs)
            outputs = [places[node] for node in segment.outputs]
            steps.append(_Step(segment, compiled, inputs, outputs, dead))
        return steps[::-1]


def _ours(error: Exception) -> Torch2MLIRError:
    """An error as one of the family: a failure of torch2mlir itself does not stop a model that PyTorch can run."""
    if isinstance(error, Torch2MLIRError):
        return error
    return Torch2MLIRError(f"torch2mlir itself fails with {type(error).__name__}: {error}")


_Key = tuple[str, ...]


def _key(segment: Segment) -> _Key:
    """What a segment is known by when the graph is split again: its nodes and its results."""
    return (*(n.name for n in segment.nodes), "->", *(n.name for n in segment.outputs))


def _calls(segment: Segment) -> list[Node]:
    """The calls of operators in a segment, on tensors."""
    return [
        node
        for node in segment.nodes
        if node.op == "call_function"
        and node.target is not operator.getitem
        and (draws(node) or isinstance(node.meta.get("val"), torch.Tensor | list | tuple))
    ]


def _call_text(node: Node) -> str:
    """A call with the types of its operands: equal for calls that compile alike."""
    types = [str(_type_text(source.meta.get("val"))) for source in node.all_input_nodes]
    names = {source: f"%{index}" for index, source in enumerate(node.all_input_nodes)}
    arguments = torch.fx.node.map_arg((node.args, dict(node.kwargs)), lambda n: names[n])
    return f"{node.target}{arguments}{types}"


def _type_text(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{value.dtype}{tuple(value.shape)}{value.stride()}"
    return f"{type(value).__name__} {value}"


def _alone(node: Node) -> GraphModule:
    """A graph of one call; its operands are the inputs."""
    graph, copies = Graph(), dict[Node, Node]()
    root = node.graph.owning_module or torch.nn.Module()
    for source in node.all_input_nodes:
        if source.op == "get_attr":
            copies[source] = graph.node_copy(source)
        else:
            copies[source] = graph.placeholder(source.name)
            copies[source].meta = dict(source.meta)
    call = graph.node_copy(node, copies.__getitem__)
    value = node.meta["val"]
    results = list[Node]()
    for index, item in enumerate(value if isinstance(value, list | tuple) else ()):
        if isinstance(item, torch.Tensor):
            results.append(graph.call_function(operator.getitem, (call, index)))
            results[-1].meta = {**node.meta, "val": item}
    graph.output(tuple(results) if results else (call,))
    return GraphModule(root, graph)


def _not_for_engines(node: Node) -> str | None:
    """Why no engine can run a node, as far as it shows without trying."""
    target = node.target
    if isinstance(target, HigherOrderOperator) and target.name() not in HIGHER_ORDER:
        return f"the higher-order operator '{target.name()}' has no form in the torch dialect"
    if isinstance(target, OpOverload) and target._schema.is_mutable:
        return "it gives a tensor other memory"  # other writes are results by now
    values = [node.meta.get("val"), *(source.meta.get("val") for source in node.all_input_nodes)]
    for tensor in filter(_is_tensor, pytree.tree_leaves(values)):
        if tensor.device.type != "cpu":
            return f"it is on the device {tensor.device}"
        if tensor.layout is not torch.strided:
            return f"its tensors are of layout {tensor.layout}"
    known = set[Any]().union(
        *(_unbacked(source.meta.get("val")) for source in node.all_input_nodes)
    )
    if _unbacked(node.meta.get("val")) - known:
        return "a size depends on the elements of a tensor"
    return None


def _is_tensor(value: object) -> bool:
    return isinstance(value, torch.Tensor)


def _unbacked(value: Any) -> set[Any]:
    leaves = [v for v in pytree.tree_leaves(value) if isinstance(v, torch.Tensor | torch.SymInt)]
    return set().union(*(free_unbacked_symbols(leaf) for leaf in leaves))
