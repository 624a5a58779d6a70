"""A module as graphs that ``optimize`` can cut: captured whole where PyTorch can, else region by region."""

from __future__ import annotations

import contextlib
import inspect
import io
import logging
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from operator import attrgetter
from typing import Any

import sympy
import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.graph import CodeGen
from torch.utils import _pytree as pytree

from torch2mlir.errors import CaptureError
from torch2mlir.frontends.capture import SizesInCaches, export
from torch2mlir.frontends.fx.compared_sizes import compare_sizes
from torch2mlir.frontends.fx.data_checks import squeezed_by_data
from torch2mlir.frontends.fx.functionalization import functionalized
from torch2mlir.frontends.fx.known_sizes import with_known_sizes
from torch2mlir.frontends.fx.mutation import has_transforms, needs_functionalization
from torch2mlir.frontends.fx.refused_writes import check_writes
from torch2mlir.frontends.fx.regions import without_regions
from torch2mlir.frontends.fx.shared_memory import written_arguments
from torch2mlir.frontends.fx.symbols import bounds
from torch2mlir.frontends.fx.texts_of_numbers import TEXTS, check_texts
from torch2mlir.frontends.pytrees import register_types
from torch2mlir.frontends.updated_caches import Pairs, check_apart
from torch2mlir.hybrid.effects import (
    draws,
    effects,
    returns_views_of_written,
)
from torch2mlir.same_values import is_same

ExportedProgram = torch.export.ExportedProgram


class Captured:
    """One graph of a model and the calls it is right for.

    Attributes:
        exported: the program, without writes in the middle where PyTorch can do without.
        graph_module: takes the leaves of a call's arguments and returns the leaves of its result.

    Args:
        exported: the program.
        named: the arguments that the model has names for: of others its code may ask for the order. None where an
            exported program is the model.
        caches: the caches among the arguments that a call changes, and where they are in the result.

    Raises:
        TextOfNumber: a result is a text of what elements or sizes decide.
        CaptureError: its results have fewer dimensions for some elements than for others.
    """

    def __init__(
        self,
        exported: ExportedProgram,
        named: Collection[str] | None = None,
        caches: Pairs | None = None,
    ) -> None:
        check_texts(exported)
        compare_sizes(
            m.graph for m in exported.graph_module.modules() if isinstance(m, GraphModule)
        )
        self._named = named
        self.caches = caches or []
        self.exported = functional(exported)
        self.graph_module = _flat(self.exported.module(check_guards=False))
        self.out_spec = exported.call_spec.out_spec
        self.in_spec = exported.call_spec.in_spec
        if any(map(squeezed_by_data, self.graph_module.graph.nodes)):
            raise CaptureError("squeeze of a dimension whose size depends on elements")
        self._guards: Callable[..., Any] | None = getattr(exported.module(), "_guards_fn", None)
        self._inputs = [n for n in self.graph_module.graph.nodes if n.op == "placeholder"]
        self._ranges = {
            str(symbol): bounds(known) for symbol, known in exported.range_constraints.items()
        }
        self._writes_inputs = any(
            target.op == "placeholder"
            for node in self.graph_module.graph.nodes
            if isinstance(node.target, torch._ops.OpOverload)
            for target in written_arguments(node)
        )
        held = set(effects(self.graph_module).written)
        if self._writes_inputs:
            held.update(self.graph_module.graph.nodes)
        self._in_the_way = [str(node.target) for node in held if node.op == "get_attr"]

    @property
    def ranges(self) -> Mapping[str, tuple[int, int]]:
        """The smallest and largest value of every symbolic size."""
        return self._ranges

    @property
    def written(self) -> list[torch.Tensor]:
        """The tensors of the model that a call writes to."""
        tensors = (
            attrgetter(str(node.target))(self.graph_module)
            for node in effects(self.graph_module).written
            if node.op == "get_attr"
        )
        return [tensor for tensor in tensors if isinstance(tensor, torch.Tensor)]

    def leaves(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any] | None:
        """The leaves of a call that the graph is right for; None for another call."""
        ordered = self.ordered(kwargs)
        leaves, spec = pytree.tree_flatten((tuple(args), ordered))
        if self.in_spec is not None and spec != self.in_spec:
            return None
        return leaves if self._takes(leaves) else None

    def ordered(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Named arguments in the order of the leaves, where the model's code cannot tell."""
        names = self.in_spec.child(1).context if self.in_spec is not None else None
        if (
            names is None
            or set(names) != set(kwargs)
            or self._others(names) != self._others(kwargs)
        ):
            return dict(kwargs)
        return {name: kwargs[name] for name in names}

    def _others(self, names: Iterable[str]) -> list[str]:
        """Those of some named arguments that the model has no names for."""
        return [] if self._named is None else [n for n in names if n not in self._named]

    def is_apart(self, leaves: Sequence[Any]) -> bool:
        """Whether arguments lie where a capture takes them to lie: each by itself, if the program writes."""
        if not (self._writes_inputs or self._in_the_way):
            return True
        held = [attrgetter(name)(self.graph_module) for name in self._in_the_way]
        given = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        return not _share_memory(given, held, among=self._writes_inputs)

    def _takes(self, leaves: Sequence[Any]) -> bool:
        values = dict[str, int]()
        if len(leaves) != len(self._inputs):
            return False
        if not all(
            _fits(node.meta.get("val"), leaf, values) for node, leaf in zip(self._inputs, leaves)
        ):
            return False
        if not all(
            low <= value <= high
            for name, value in values.items()
            for low, high in [self._ranges.get(name, (0, value))]
        ):
            return False
        if not self.is_apart(leaves):
            return False
        if self._guards is not None:
            try:
                self._guards(*leaves)
            except AssertionError:
                return False
        return True


def _fits(fake: Any, leaf: Any, values: dict[str, int]) -> bool:
    """Whether an argument is of the captured kind; the values of symbols are added to ``values``."""
    if not isinstance(fake, torch.Tensor):
        return is_same(fake, leaf)
    if not isinstance(leaf, torch.Tensor) or type(leaf) not in (torch.Tensor, torch.nn.Parameter):
        return False
    if leaf.dtype != fake.dtype or leaf.device != fake.device or leaf.dim() != fake.dim():
        return False
    if leaf.layout is not fake.layout or leaf.is_conj() or leaf.is_neg():
        return False
    if fake.is_contiguous() != leaf.is_contiguous():
        return False
    sizes = zip(fake.shape, leaf.shape)
    if not all(_size_fits(known, size, values) for known, size in sizes):
        return False
    return leaf.is_contiguous() or all(
        _size_fits(known, stride, values) for known, stride in zip(fake.stride(), leaf.stride())
    )


def _size_fits(known: int | torch.SymInt, size: int, values: dict[str, int]) -> bool:
    if isinstance(known, int):
        return known == size
    expression = known.node.expr
    if isinstance(expression, sympy.Symbol):
        return values.setdefault(expression.name, size) == size
    names = {symbol: values.get(symbol.name) for symbol in expression.free_symbols}
    if None in names.values():
        return True  # the guards tell
    return bool(expression.subs(names) == size)


def _share_memory(given: Sequence[torch.Tensor], held: Sequence[Any], among: bool) -> bool:
    """Whether tensors have memory in common with others that are held, or ``among`` themselves."""
    places, others = _places(given), _places(held)
    if among:
        begins = sorted(places)
        if any(end > begin for (_, end), (begin, _) in pairwise(begins)):
            return True
    return any(a < end and begin < b for a, b in places for begin, end in others)


def _places(tensors: Sequence[Any]) -> list[tuple[int, int]]:
    """The first byte of each tensor's storage and the first behind it, of those that have one."""
    storages = [
        tensor.untyped_storage()
        for tensor in tensors
        if isinstance(tensor, torch.Tensor) and tensor.layout is torch.strided and tensor.numel()
    ]
    return [(begin := each.data_ptr(), begin + each.nbytes()) for each in storages]


def functional(exported: ExportedProgram) -> ExportedProgram:
    """The program with writes at its end only, if it writes.

    One whose sizes are known though elements decide them has numbers for these.

    One that draws random numbers stays as it is: decomposed, dropout would draw others than PyTorch's. So does one
    whose results are views of what is written: decomposed, they would share no memory with it. And one that writes
    what cannot be said as a value. Calls between the beginning and the end of a ``torch.vmap`` mean nothing by
    themselves: such a program is traced through them.

    Raises:
        CaptureError: it draws random numbers in a function transform.
    """
    exported = without_regions(exported)
    calls = [n for n in exported.graph.nodes if isinstance(n.target, torch._ops.OpOverload)]
    if has_transforms(exported.graph):
        if any(draws(node) for node in calls):
            raise CaptureError("torch.vmap of random numbers")
        return functionalized(exported)
    bodies = [m.graph for m in exported.graph_module.modules() if isinstance(m, GraphModule)]
    writes = any(map(written_arguments, calls)) or any(map(needs_functionalization, bodies))
    known = with_known_sizes(exported)
    if not (writes or known is not exported) or any(map(draws, calls)):
        return exported
    if returns_views_of_written(exported.graph):
        return exported
    try:
        check_writes(exported.graph)
        return functionalized(known)
    except CaptureError:
        return exported


def _flat(module: GraphModule) -> GraphModule:
    """The same graph on leaves, without PyTorch's flattening and unflattening."""
    graph, values = Graph(), dict[Node, Node]()
    inputs = [n for n in module.graph.nodes if n.op == "placeholder"]
    for node in [*inputs, *(n for n in module.graph.nodes if n.op != "placeholder")]:
        values[node] = graph.node_copy(node, values.__getitem__)
    graph.set_codegen(CodeGen())
    return GraphModule(module, graph)


def export_whole(
    model: torch.nn.Module,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    dynamic_shapes: Any,
    caches: Pairs | None = None,
) -> ExportedProgram:
    """``torch.export`` of a model.

    With sizes that vary as far as it lets them, if ``dynamic_shapes`` is "auto", and with the first of each tensor only
    if it is "batch"; where it fixes them, for those of the arguments. What the model changes in caches it is given is
    noted in ``caches``.

    Raises:
        CaptureError: PyTorch cannot capture it whole.
    """
    caches = [] if caches is None else caches
    check_apart(args, kwargs)
    # PyTorch writes what it finds out about sizes to the tensors themselves: to others than the caller's
    args, kwargs = pytree.tree_map_only(
        torch.Tensor,
        lambda x: x.detach().requires_grad_(x.requires_grad),
        (tuple(args), dict(kwargs)),
    )
    with quiet(), torch.no_grad():
        if isinstance(model, torch.jit.ScriptModule):
            return _exported_script(model, args, kwargs)
        if dynamic_shapes in ("auto", "batch"):
            most = 1 if dynamic_shapes == "batch" else None
            dynamic_shapes = None
            try:
                sizes = _sizes_that_vary(model, args, kwargs, most)
                exported = export(model, args, kwargs, sizes, caches=caches)
            except SizesInCaches:  # each call would have a program of its own
                raise
            except CaptureError:  # the structure of the arguments, or the model, fixes its sizes
                pass
            else:
                if not exported.graph_module.meta.get(TEXTS):
                    return exported
        return export(model, args, kwargs, dynamic_shapes, caches=caches)


def _sizes_that_vary(
    model: torch.nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any], most: int | None
) -> Any:
    """As ``dynamic_shapes`` of ``torch.export.export``: all sizes of all tensors, or so many of each."""
    register_types((args, kwargs))
    bound = inspect.signature(model.forward).bind(*args, **kwargs)
    auto = torch.export.Dim.AUTO

    def sizes(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return dict.fromkeys(range(value.dim())[:most], auto)
        return (
            [sizes(leaf) for leaf in pytree.tree_leaves(value)] if _is_registered(value) else None
        )

    return pytree.tree_map(sizes, dict(bound.arguments), is_leaf=_is_registered)


def _is_registered(value: Any) -> bool:
    """Whether somebody has told PyTorch of what parts a value is: of these ``torch.export`` takes a list."""
    return type(value) in pytree.SUPPORTED_NODES.keys() - pytree.BUILTIN_TYPES


def _exported_script(
    model: torch.jit.ScriptModule, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> ExportedProgram:
    """A TorchScript program as PyTorch's converter translates it.

    Raises:
        CaptureError: it cannot be translated, or keeps state in Python attributes.
    """
    from torch._export.converter import TS2EPConverter

    graph: Any = model.inlined_graph
    if graph.findNode("prim::SetAttr"):
        raise CaptureError("the TorchScript program writes to its attributes")
    if graph.findNode("prim::PythonOp"):  # PyTorch's converter ends the process
        raise CaptureError("the TorchScript program calls a Python function, @torch.jit.ignore")
    try:
        return TS2EPConverter(model, tuple(args), dict(kwargs)).convert()
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise CaptureError(f"PyTorch cannot convert the TorchScript program: {reason}") from error


@contextmanager
def quiet() -> Iterator[None]:
    """PyTorch prints graphs it gives up on, and warns about what is handled here."""
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        before = logging.root.manager.disable
        logging.disable(logging.WARNING)
        try:
            yield
        finally:
            logging.disable(before)
