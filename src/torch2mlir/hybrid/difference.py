"""What is different about the results of two calls and what they leave behind, beyond the rounding of sums."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch.fx import Graph, Node
from torch.utils import _pytree as pytree

from torch2mlir.frontends.python_state import PythonState
from torch2mlir.runtime import agreement
from torch2mlir.runtime.exact_results import Exact, exact_results


def difference(
    actual: Any,
    expected: Any,
    graph: Graph | None = None,
    again: Callable[[], Any] | None = None,
) -> str | None:
    """What is different about results; None if nothing is.

    Args:
        actual: the results.
        expected: what they should be.
        graph: has computed what they should be.
        again: computes what they should be once more in PyTorch. It is asked where results are far from each other,
            since both may be nothing but rounding.
    """
    return described(first_difference(actual, expected, graph, again))


def described(found: tuple[int, str] | None) -> str | None:
    """In words."""
    if found is None:
        return None
    index, said = found
    return said if index < 0 else f"result {index} {said}"


def first_difference(
    actual: Any,
    expected: Any,
    graph: Graph | None = None,
    again: Callable[[], Any] | None = None,
) -> tuple[int, str] | None:
    """As :func:`difference`: the number of the first result that differs, -1 of none in particular, and how."""
    found = _difference(actual, expected, graph, None)
    if found is None or again is None:
        return found
    exact = exact_results(again)
    if len(exact) != len(pytree.tree_leaves(list(expected))):
        return found
    return _difference(actual, expected, graph, exact)


def _difference(
    actual: Any, expected: Any, graph: Graph | None, exact: Sequence[Exact | None] | None
) -> tuple[int, str] | None:
    left, spec = pytree.tree_flatten(list(actual))
    right, other = pytree.tree_flatten(list(expected))
    if spec != other:
        return -1, "another structure of results"
    computed_in = narrowest_floats(graph) if graph is not None else []
    if len(computed_in) != len(left):  # nobody says, or one node gives several
        computed_in = [None] * len(left)
    for index, (a, b, dtype) in enumerate(zip(left, right, computed_in, strict=True)):
        if isinstance(b, torch.Tensor):
            said = agreement.difference(a, b, dtype, None if exact is None else exact[index])
        else:
            said = None if a == b else f"is {a!r} where it is {b!r}"
        if said is not None:
            return index, said
    return None


def narrowest_floats(graph: Graph) -> list[torch.dtype | None]:
    """For each result of a graph, the narrowest floats that are computed on the way to it.

    None where there are none, or none since integers or booleans, which are compared exactly.
    """
    found = dict[Node, torch.dtype | None]()
    for node in graph.nodes:
        if node.op == "output":
            leaves = pytree.tree_leaves(node.args[0])
            return [found.get(leaf) if isinstance(leaf, Node) else None for leaf in leaves]
        value = node.meta.get("val")
        dtypes = [v.dtype for v in pytree.tree_leaves(value) if isinstance(v, torch.Tensor)]
        floats = [dtype for dtype in dtypes if dtype in agreement.TOLERANCES]
        if node.op != "call_function" or not floats:
            found[node] = None
            continue
        before = [dtype for each in node.all_input_nodes if (dtype := found[each]) is not None]
        found[node] = max([*floats, *before], key=agreement.TOLERANCES.__getitem__)
    return []


def left_behind(state: PythonState) -> dict[str, Any]:
    """What a call has left of what the model's code can read, by where it is.

    That is what is another now, and all buffers there were: kernels of normalizations write to running statistics
    without saying so.
    """
    paths = {id(tensor): path for path, tensor in state.reached.kept.items()}
    left = {change.table.path_of(change.key): change.now for change in state.changes(buffers=True)}
    buffers = [each for each in state.buffers() if id(each) in paths]
    for tensor in (*state.written_in_place(), *buffers):
        left[paths.get(id(tensor), f"tensor {id(tensor):#x}")] = tensor
    return {
        where: value.detach().clone() if isinstance(value, torch.Tensor) else value
        for where, value in left.items()
    }


def difference_left(
    wanted: Mapping[str, Any],
    found: Mapping[str, Any],
    again: Callable[[], Mapping[str, Any]],
) -> str | None:
    """What is different about what two calls of a model leave behind; None if nothing is.

    Args:
        wanted: what a call in PyTorch leaves, see :func:`left_behind`.
        found: what the other one has.
        again: what another call in PyTorch does.
    """
    for where in {**wanted, **found}:
        if where not in wanted or where not in found:
            how = "changes" if where in wanted else "does not change"
            return f"the model {how} '{where}'"
        one, other = found[where], wanted[where]
        if isinstance(one, _COMPARED) and isinstance(other, _COMPARED):
            said = difference([one], [other], again=partial(_entry, again, where))
            if said is not None:
                return f"'{where}' afterwards: {said}"
        elif type(one) is not type(other):
            return f"'{where}' is a {type(one).__name__} afterwards, and a {type(other).__name__} in PyTorch"
    return None


def _entry(again: Callable[[], Mapping[str, Any]], where: str) -> Any:
    return again().get(where)


_COMPARED = torch.Tensor | bool | int | str | bytes | None
