"""Sizes of a graph that only turn out to be equal where an op needs them to be: keys and values of attention.

TorchDynamo gives every size that varies a symbol of its own. PyTorch's kernels for fake tensors do not compare all of
them; an op's decomposition does. Run on the graph's own fake tensors, it makes TorchDynamo guard what it relies on, and
the symbols one, in the sizes of all nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, product
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
    """Makes the factors of sizes one, of ``batch * length`` scores and as many targets, where they are alike.

    TorchDynamo has no word for two products that are equal. For others it compiles the graph again.
    """
    known = environment.backed_var_to_val
    products = [
        [found for size in value.shape if (found := _product(size)) is not None]
        for value in operands
        if isinstance(value, torch.Tensor)
    ]
    for given, others in combinations(products, 2):
        for one, other in product(given, others):
            alike = list[tuple[sympy.Expr, sympy.Expr]]()
            rest = list(other.args)
            for factor in one.args:
                same = (each for each in rest if known[each] == known[factor])
                if (found := next(same, None)) is not None:
                    rest.remove(found)
                    alike.append((factor, found))
            if one != other and not rest and len(alike) == len(one.args):
                for pair in alike:
                    environment.evaluate_expr(sympy.Eq(*pair))


def _product(size: int | torch.SymInt) -> sympy.Mul | None:
    """The expression of a size that is a product of symbols, or None."""
    expression = size.node.expr if isinstance(size, torch.SymInt) else None
    if not isinstance(expression, sympy.Mul) or not all(e.is_Symbol for e in expression.args):
        return None
    return expression


def _fake_mode(node: Node) -> Any:
    values = [source.meta.get("val") for source in node.all_input_nodes]
    return next((value.fake_mode for value in values if isinstance(value, FakeTensor)), None)
