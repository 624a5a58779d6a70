"""Exported programs without writes through views: PyTorch's own functionalization, and what it needs beforehand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch._export.utils import _is_preservable_cia_op
from torch._ops import OpOverload
from torch.export import ExportedProgram, exported_program
from torch.export._remove_effect_tokens_pass import _remove_effect_tokens
from torch.export.graph_signature import ExportGraphSignature, InputKind, InputSpec, OutputKind
from torch.fx import Graph, GraphModule, Node

from torch2mlir.errors import CaptureError
from torch2mlir.frontends.fx.dtypes_of_results import say_dtypes_of_results
from torch2mlir.frontends.fx.flex_attention import flex_attention_as_ops, has_flex_attention
from torch2mlir.frontends.fx.function_transforms import transforms_ended
from torch2mlir.frontends.fx.lifted_constants import with_lifted_constants
from torch2mlir.frontends.fx.mutation import is_functional, undeclared_views
from torch2mlir.frontends.fx.numbers_of_elements import forget_results, numbers_kept_apart
from torch2mlir.frontends.fx.quiet import quiet
from torch2mlir.frontends.fx.refused_writes import (
    EXPANDING,
    expands_nothing,
    operand_taken,
    writes_elements_of,
)
from torch2mlir.frontends.fx.shared_memory import (
    aliased_arguments,
    shares_memory,
    written_arguments,
)
from torch2mlir.frontends.fx.written_constants import written_constants_forgotten
from torch2mlir.frontends.weights import refuse_sharing_in_part

WEIGHT_KINDS = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)

STATE_MUTATIONS = (OutputKind.BUFFER_MUTATION, OutputKind.PARAMETER_MUTATION)

_COMPOSITE = torch._C.DispatchKey.CompositeImplicitAutograd
_ALL_COMPOSITES = "_collect_all_valid_cia_ops"
"""PyTorch's function for the composite ops that neither write nor give views."""


def _kernel_of(overload: torch._ops.OpOverload) -> Callable[..., Any]:
    """PyTorch's own definition of a composite op; ``decompose`` would find the table's entry, this, again."""

    def composite(*args: Any, **kwargs: Any) -> Any:
        return overload._op_dk(_COMPOSITE, *args, **kwargs)

    return composite


_WITH_HIDDEN_WRITES: dict[Any, Callable[..., Any]] = {
    torch.ops.aten.instance_norm.default: _kernel_of(torch.ops.aten.instance_norm.default)
}
"""Composite ops that write running statistics without saying so: kept whole, the writes would be lost."""

_DECLARED: dict[Any, Any] = {
    torch.ops.aten._unsafe_view.default: torch.ops.aten.view.default,
    torch.ops.aten.dropout.default: torch.ops.aten.alias.default,
}
"""Ops that give views without saying so, nor in what PyTorch writes them in -> ops that say it. Dropout is one of them
out of training: PyTorch's tracing makes a copy there, whatever a table of decompositions says.
"""


def functionalized(exported: ExportedProgram) -> ExportedProgram:
    """The program with every in-place write said as a new value.

    Raises:
        CaptureError: PyTorch cannot say it without writes.
    """
    bodies = [m for m in exported.graph_module.modules() if isinstance(m, GraphModule)]
    views = {view for body in bodies for view in undeclared_views(body.graph)}
    expands = any(
        operand_taken(node) or (node.target in EXPANDING and expands_nothing(node))
        for body in bodies
        for node in body.graph.nodes
    )
    if expands or not views.isdisjoint(_DECLARED):
        module = _with_declared_views(exported.graph_module)
        exported = with_module(exported, module, exported.graph_signature)
    exported = with_lifted_constants(exported)
    for body in exported.graph_module.modules():
        if isinstance(body, GraphModule):
            say_dtypes_of_results(body.graph)
            forget_results(body.graph)
    kernels = {view: _kernel_of(view) for view in views - _DECLARED.keys()}
    table = _WITH_HIDDEN_WRITES | kernels | _by_reduction(bodies)
    try:
        with ExitStack() as around:
            around.enter_context(quiet())
            around.enter_context(transforms_ended())
            around.enter_context(flex_attention_as_ops())
            around.enter_context(_composites_of(exported, table))
            around.enter_context(written_constants_forgotten())
            around.enter_context(numbers_kept_apart())
            return exported.run_decompositions(table)
    except Exception as error:
        reason = next((line for line in str(error).splitlines() if line.strip()), "no reason given")
        writes = any(_writes(node) for body in bodies for node in body.graph.nodes)
        raise CaptureError(
            f"PyTorch cannot {_ABOUT_WRITES if writes else 'decompose the program'}: {type(error).__name__}: {reason}",
            location=_line_of(error),
            hint=_WITHOUT_WRITES if writes else _WITH_CHECKS,
        ) from error


def _by_reduction(bodies: Iterable[GraphModule]) -> dict[OpOverload, Callable[..., Any]]:
    """The losses of a program that reduce as a number says, with PyTorch's kernels for them.

    Of those that are composite, PyTorch finds out the sizes that vary by Python functions which take the word for it:
    the loss of each sample was one of no dimension, or refused.
    """
    ops = {node.target for body in bodies for node in body.graph.nodes}
    composite = [op for op in ops if isinstance(op, OpOverload) and _is_preservable_cia_op(op)]
    return {op: _kernel_of(op) for op in composite if any(map(_is_reduction, op._schema.arguments))}


def _is_reduction(argument: torch.Argument) -> bool:
    return argument.name == "reduction" and str(argument.type) == "int"


_ABOUT_WRITES = "express the program's in-place writes as values"
_WITHOUT_WRITES = (
    "write x = x + 1 for x += 1 where another view of x is read later, and copy before as_strided"
)
_WITH_CHECKS = (
    "where elements decide a size, say what the op takes for granted with torch._check(size > 0), or leave that part "
    "to PyTorch with torch2mlir.optimize"
)


def _writes(node: Node) -> bool:
    """Whether it writes elements; ``detach_`` of what a constant is made of does not."""
    if not isinstance(node.target, OpOverload):
        return False
    return next(writes_elements_of(node.target, node.args, node.kwargs), None) is not None


@contextmanager
def _composites_of(exported: ExportedProgram, table: Iterable[OpOverload]) -> Iterator[None]:
    """While it holds, PyTorch keeps whole the composite ops of this program, not those of all the world.

    It prepares each of them and takes that back, which for all of them takes four times what a small program does.
    """
    before = getattr(exported_program, _ALL_COMPOSITES)
    graphs = [m.graph for m in exported.graph_module.modules() if isinstance(m, GraphModule)]
    if any(map(has_flex_attention, graphs)):  # which is written as other ops, composites among them
        yield
        return
    ops = {*table, *(node.target for graph in graphs for node in graph.nodes)}
    whole = {op for op in ops if isinstance(op, OpOverload) and _is_preservable_cia_op(op)}
    setattr(exported_program, _ALL_COMPOSITES, lambda: whole)
    try:
        yield
    finally:
        setattr(exported_program, _ALL_COMPOSITES, before)


def _line_of(error: Exception) -> str | None:
    """The line of the model that PyTorch names in its message."""
    for line in str(error).splitlines():
        words = line.strip().split('"')
        if words[0] == "File " and len(words) > 2 and "line " in words[2]:
            return f"{words[1]}:{words[2].split('line ')[1].split(',')[0]}"
    return None


def with_tied_state_joined(exported: ExportedProgram) -> ExportedProgram:
    """The program with one placeholder for each tensor that is written, where capture found several names for it.

    A cache that a module holds both as buffers and in an object is such a tensor; so is one that is only in the object,
    and then it is a constant for PyTorch, which it is not if it is written.

    Raises:
        CaptureError: a tensor is written that shares a part of its memory with another one.
    """
    specs = exported.graph_signature.input_specs
    placeholders = [node for node in exported.graph.nodes if node.op == "placeholder"]
    held = {
        node: tensor
        for node, spec in zip(placeholders, specs, strict=True)
        if spec.kind in WEIGHT_KINDS and (tensor := state_tensor(exported, spec)) is not None
    }
    written = written_placeholders(exported) & held.keys()
    by_memory = defaultdict[int, list[Node]](list)
    for node, tensor in held.items():
        by_memory[tensor.untyped_storage()._cdata].append(node)
    joined = dict[str, str]()
    for node in written:
        together = by_memory[held[node].untyped_storage()._cdata]
        refuse_sharing_in_part(held[node], {other.name: held[other] for other in together})
        joined.update((other.name, together[0].name) for other in together[1:])
    constants = {
        node.name
        for node, spec in zip(placeholders, specs, strict=True)
        if node in written and spec.kind is InputKind.CONSTANT_TENSOR and node.name not in joined
    }
    return _rebuilt(exported, joined, constants) if joined or constants else exported


def without_tokens(exported: ExportedProgram) -> ExportedProgram:
    """The program without the tokens that order calls with effects: checks of matrices have them below autograd.

    Calls are imported in their order, which needs no token.
    """
    if not exported.graph_signature.input_tokens:
        return exported
    return _remove_effect_tokens(_rebuilt(exported, {}, set()))


def state_tensor(exported: ExportedProgram, spec: InputSpec) -> torch.Tensor | None:
    """What a program holds for one of its inputs, if that is a dense tensor."""
    name = str(spec.target)
    tensor = exported.state_dict.get(name, exported.constants.get(name))
    return tensor if isinstance(tensor, torch.Tensor) and tensor.layout is torch.strided else None


def written_placeholders(exported: ExportedProgram) -> set[Node]:
    """The placeholders that may be written, themselves or through something that shares their memory."""
    roots, written = dict[Node, Node](), set[Node]()
    if is_functional(exported.graph):
        return written
    for node in exported.graph.nodes:
        if node.op == "placeholder":
            roots[node] = node
        for base in aliased_arguments(node):
            if base in roots:
                roots[node] = roots[base]
        written |= {roots[each] for each in written_arguments(node) if each in roots}
    return written


def _rebuilt(
    exported: ExportedProgram, joined: dict[str, str], constants: set[str]
) -> ExportedProgram:
    """A copy of the program in which some placeholders are others, and some constants are buffers."""
    graph = Graph()
    copies = dict[Node, Node]()
    output = graph.graph_copy(exported.graph, copies)
    graph.output(output)
    by_name = {node.name: copy for node, copy in copies.items()}
    for name, other in joined.items():
        by_name[name].replace_all_uses_with(by_name[other])
        graph.erase_node(by_name[name])
    signature = exported.graph_signature
    inputs = [
        replace(spec, kind=InputKind.BUFFER, persistent=False)
        if getattr(spec.arg, "name", None) in constants
        else spec
        for spec in signature.input_specs
        if getattr(spec.arg, "name", None) not in joined
    ]
    module = GraphModule(exported.graph_module, graph)
    return with_module(exported, module, ExportGraphSignature(inputs, signature.output_specs))


def _with_declared_views(module: GraphModule) -> GraphModule:
    """A copy with the ops that say that they give views, in the bodies of branches and loops too.

    What ``expand`` gives that expands nothing is said by ``unsqueeze``, and what ``broadcast_tensors`` leaves as it was
    by ``alias``: PyTorch adds to the elements of an expanded tensor the difference of what is written there, which is
    NaN if they were infinite.
    """
    graph, copies = Graph(), dict[Node, Node]()
    graph.output(graph.graph_copy(module.graph, copies))
    for node, copied in copies.items():
        if node.target in EXPANDING and expands_nothing(node):
            _as_unsqueezed(copied, copied.meta["val"].dim())
        if (operand := operand_taken(node)) is not None:
            copied.target, copied.args = torch.ops.aten.alias.default, (copies[operand],)
        declared = _DECLARED.get(node.target)
        if declared is not None and shares_memory(node, node.all_input_nodes[0]):
            copied.target = declared
            if declared is torch.ops.aten.alias.default:
                copied.args, copied.kwargs = tuple(copied.all_input_nodes), {}
    result = GraphModule(module, graph)
    for name, child in module.named_children():
        if isinstance(child, GraphModule):
            setattr(result, name, _with_declared_views(child))
    return result


def _as_unsqueezed(expand: Node, rank: int) -> None:
    """Makes a call of ``expand`` one of ``unsqueeze``, behind others where more than one dimension is new."""
    source, graph = expand.all_input_nodes[0], expand.graph
    while source.meta["val"].dim() < rank - 1:
        value = source.meta["val"].unsqueeze(0)
        with graph.inserting_before(expand):
            source = graph.call_function(torch.ops.aten.unsqueeze.default, (source, 0))
        source.meta = {**expand.meta, "val": value}
    is_same = source.meta["val"].dim() == rank
    expand.target = torch.ops.aten.alias.default if is_same else torch.ops.aten.unsqueeze.default
    expand.args, expand.kwargs = ((source,) if is_same else (source, 0)), {}


def name_arguments(graph: Graph, signature: ExportGraphSignature) -> None:
    """Gives the placeholders of a copied graph the names that a signature has for them.

    A copy gives none that a function of Python's has: ``forward(self, input)`` takes ``input_1`` in it.
    """
    placeholders = graph.find_nodes(op="placeholder")
    for node, spec in zip(placeholders, signature.input_specs, strict=True):
        if (name := getattr(spec.arg, "name", None)) is not None:
            node.name = name


def with_module(
    exported: ExportedProgram, module: GraphModule, signature: ExportGraphSignature
) -> ExportedProgram:
    """The program with another graph."""
    name_arguments(module.graph, signature)
    return ExportedProgram(
        root=module,
        graph=module.graph,
        graph_signature=signature,
        state_dict=exported.state_dict,
        range_constraints=exported.range_constraints,
        module_call_graph=exported.module_call_graph,
        example_inputs=exported.example_inputs,
        constants=exported.constants,
        verifiers=exported.verifiers,
    )
