"""Sizes of a graph that only turn out to be equal where an op needs them to be: keys and values of attention.

TorchDynamo gives every size that varies a symbol of its own. PyTorch's kernels for fake tensors do not compare all of
them; an op's decomposition does. Run on the graph's own fake tensors, it makes TorchDynamo guard what it relies on, and
the symbols one, in the sizes of all nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, permutations, product
from typing import Any

import sympy
import torch
from torch._ops import OpOverload
from torch._subclasses import FakeTensor
from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from torch2mlir.frontends.fx.quiet import quiet
from torch2mlir.transforms.decompositions import find_decomposition
from torch2mlir.transforms.decompositions.registry import op_name

_MOST = 3
"""Of how many symbols the sizes are that are compared."""


def learn_equal_sizes(nodes: Iterable[Node], op: str | None) -> bool:
    """Runs the decompositions of the calls of an op, of the torch dialect's name; whether symbols have become one.

    Nothing happens once TorchDynamo has made its guards, as it has when a backward is compiled.
    """
    learned = False
    for node in nodes:
        if isinstance(node.target, OpOverload) and op_name(node.target) == op:
            learned |= _learn(node, node.target)
    return learned


def _learn(node: Node, target: OpOverload) -> bool:
    decomposition = find_decomposition(target)
    mode = _fake_mode(node)
    environment = None if mode is None else mode.shape_env
    if decomposition is None or environment is None or environment.frozen:
        return False
    before = len(environment.replacements)
    args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), lambda n: n.meta["val"])
    try:
        with quiet():
            _learn_factors([each.meta.get("val") for each in node.all_input_nodes], environment)
        with quiet(), mode, torch.no_grad():
            decomposition(*args, **kwargs)
    except Exception:  # it says itself, where it is lowered, what is wrong
        return False
    return len(environment.replacements) > before


def _learn_factors(operands: Sequence[Any], environment: ShapeEnv) -> None:
    """Makes the symbols of sizes one that are alike, of ``batch * (length - 1)`` scores and as many targets.

    TorchDynamo has no word for two such sizes that are equal. For others it compiles the graph again.
    """
    sizes = [
        [size.node.expr for size in value.shape if isinstance(size, torch.SymInt)]  # type: ignore[attr-defined]
        for value in operands
        if isinstance(value, torch.Tensor)
    ]
    for given, others in combinations(sizes, 2):
        for one, other in product(given, others):
            for pair in _alike(one, other, environment.backed_var_to_val):
                environment.evaluate_expr(sympy.Eq(*pair))


def _alike(
    one: sympy.Expr, other: sympy.Expr, known: Mapping[sympy.Symbol, Any]
) -> Sequence[tuple[sympy.Symbol, sympy.Symbol]]:
    """The symbols of two expressions of the same form, those together that have the same value."""
    symbols = sorted(one.free_symbols - other.free_symbols, key=str)
    rest = sorted(other.free_symbols - one.free_symbols, key=str)
    if not 1 < len(symbols) == len(rest) <= _MOST:
        return ()
    for order in permutations(rest):
        pairs = list(zip(symbols, order, strict=True))
        if all(known[a] == known[b] for a, b in pairs) and one.xreplace(dict(pairs)) == other:
            return pairs
    return ()


def _fake_mode(node: Node) -> Any:
    values = [source.meta.get("val") for source in node.all_input_nodes]
    return next((value.fake_mode for value in values if isinstance(value, FakeTensor)), None)
