"""Graphs of AOTAutograd as programs: every placeholder an argument, symbolic sizes bound to what carries them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from torch2mlir.conversion.driver import solve
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import Dim, KnownSize
from torch2mlir.errors import CaptureError
from torch2mlir.frontends.fx import symbols
from torch2mlir.frontends.fx.exported import import_graph_module
from torch2mlir.program import Program
from torch2mlir.turns import in_turn


@dataclass(frozen=True)
class SymbolSource:
    """Where the value of a symbol is found in a call: an argument itself, or a formula of one of its sizes.

    ``formula`` is over ``__size``; None where the size is the value.
    """

    name: str
    position: int
    axis: int | None = None
    formula: Any = None

    def value(self, arguments: Sequence[Any]) -> int:
        """The symbol's value in a call."""
        argument = arguments[self.position]
        size = int(argument) if self.axis is None else int(argument.shape[self.axis])
        if self.formula is None:
            return size
        found = dims.substitute(self.formula, {"__size": size})
        assert isinstance(found, int)
        return found


@dataclass(frozen=True)
class CapturedGraph:
    """A graph as a program.

    Attributes:
        program: raw; its user inputs have the positions of the placeholders.
        symbols: where the values of the program's symbols come from.
    """

    program: Program
    symbols: list[SymbolSource]


@in_turn()
def capture_graph(module: GraphModule, sizes_are_known: bool) -> CapturedGraph:
    """The raw torch-dialect program of a functional ATen graph.

    Args:
        module: nodes need ``meta["val"]``; placeholders are tensors and symbolic integers.
        sizes_are_known: whether the program is specialised to each combination of sizes before it is compiled. Then an
            integer argument that sizes depend on is no argument of the program. Otherwise the program is given it as
            the first size of a tensor without elements, if no other argument tells it.

    Raises:
        CaptureError: something in the graph has no torch-dialect form.
    """
    placeholders = list(module.graph.find_nodes(op="placeholder"))
    sources = _symbols_of_sizes(placeholders)
    needed = _symbols_in_types(module)
    lengths = dict[Node, str]()
    for source in _symbols_of_integers(placeholders):
        node = placeholders[source.position]
        if source.name in needed - sources.keys() and (sizes_are_known or _is_length(node)):
            sources[source.name] = source
            if not sizes_are_known:
                lengths[node] = source.name
    for name in needed - sources.keys() if sizes_are_known else ():
        raise CaptureError(f"no input tells the value of the size '{name}'")
    bound = dict[Node, KnownSize]()
    for node in placeholders:
        value = node.meta.get("val")
        known = _known(value) if isinstance(value, torch.SymInt) else None
        if known is not None and sources.keys() >= set(_names(known)):
            bound[node] = known
    program = import_graph_module(module, ranges=_ranges(module), bound=bound, lengths=lengths)
    return CapturedGraph(program, [sources[name] for name in sorted(sources)])


def _symbols_of_sizes(placeholders: Sequence[Node]) -> dict[str, SymbolSource]:
    found = dict[str, SymbolSource]()
    for position, node in enumerate(placeholders):
        value = node.meta.get("val")
        for axis, size in enumerate(value.shape if isinstance(value, torch.Tensor) else ()):
            _add(found, symbols.size_of(size), position, axis)
    return found


def _symbols_of_integers(placeholders: Sequence[Node]) -> list[SymbolSource]:
    found = dict[str, SymbolSource]()
    for position, node in enumerate(placeholders):
        if isinstance(value := node.meta.get("val"), torch.SymInt):
            _add(found, _known(value), position)
    return list(found.values())


def _is_length(node: Node) -> bool:
    """Whether an integer argument is a symbol that is never negative, as the sizes of tensors are."""
    number = node.meta["val"].node
    known = number.shape_env.var_to_range.get(number.expr)
    return known is not None and bool(known.lower >= 0)


def _known(number: torch.SymInt) -> KnownSize | None:
    """The size that an integer argument is; None if it is no polynomial, quotient or remainder of sizes."""
    try:
        return symbols.size_of(number)
    except CaptureError:
        return None


def _add(
    found: dict[str, SymbolSource], known: KnownSize | None, position: int, axis: int | None = None
) -> None:
    """Notes what a number tells: of a symbol by itself rather than of an expression with it."""
    if not isinstance(known, Dim) or (solved := solve(known)) is None:
        return
    name, formula = solved
    if known.op == "symbol":
        found[name] = SymbolSource(name, position, axis)
    else:
        found.setdefault(name, SymbolSource(name, position, axis, formula))


def _names(size: KnownSize) -> Iterator[str]:
    return size.symbols() if isinstance(size, Dim) else iter(())


def _symbols_in_types(module: GraphModule) -> set[str]:
    """The symbols in the sizes of all values."""
    found = set[str]()
    for node in module.graph.nodes:
        for value in _tensors(node.meta.get("val")):
            for size in value.shape:
                if isinstance(size, torch.SymInt):
                    found.update(map(str, size.node.expr.free_symbols))
    return found


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, list | tuple):
        return [item for item in value if isinstance(item, torch.Tensor)]
    return []


def _ranges(module: GraphModule) -> Mapping[str, tuple[int, int]]:
    """The bounds of the symbols of a graph, as its shape environment knows them."""
    environment = _shape_environment(module)
    if environment is None:
        return {}
    return {str(s): symbols.bounds(r) for s, r in environment.var_to_range.items()}


def _shape_environment(module: GraphModule) -> ShapeEnv | None:
    for node in module.graph.find_nodes(op="placeholder"):
        value = node.meta.get("val")
        for size in (value, *(value.shape if isinstance(value, torch.Tensor) else ())):
            if isinstance(size, torch.SymInt):
                return size.node.shape_env
    return None
