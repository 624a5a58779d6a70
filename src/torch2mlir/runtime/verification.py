"""``torch2mlir.compile(.., verify=True)``: the first call with each combination of sizes runs on eager PyTorch too.

Results, inputs and state that the model writes to must agree: dtypes, shapes, places of NaN, integers exactly and
floats to within a part of the largest element, as far as rounding in another order explains it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from torch2mlir.errors import EngineError
from torch2mlir.program import SeedInput, Signature
from torch2mlir.runtime.agreement import difference
from torch2mlir.runtime.exact_results import Exact, exact_results


class Verification:
    """Eager PyTorch beside a compiled program.

    Args:
        eager: what the program was captured from, called as it.
        signature: of the program.
        engine: its name, for errors.
    """

    def __init__(self, eager: Callable[..., Any], signature: Signature, engine: str) -> None:
        self.eager = eager
        self._signature = signature
        self._engine = engine
        self._verified = set[Any]()

    def wants(self, sizes: Any) -> bool:
        """Whether a call with these sizes is to be compared; a program that draws random numbers never is."""
        is_random = any(isinstance(item, SeedInput) for item in self._signature.inputs)
        return not is_random and sizes not in self._verified

    def call(
        self,
        compiled: Callable[[Sequence[Any], Mapping[str, Any]], Any],
        sizes: Any,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
    ) -> Any:
        """The compiled program's results, once they are found to agree.

        Raises:
            EngineError: they do not; it names the first that differs, the place and the error.
        """
        states = self._written_states()
        given = _cloned((args, kwargs))
        before = _cloned(states)
        expected = self._outcome(given, before)
        results = compiled(args, kwargs)
        found = {"output": results, "input": (args, kwargs), "state": states}
        if self._problem(found, expected, None) is not None:
            found = _cloned(found)
            exact = exact_results(lambda: self._outcome(given, before))
            _put(states, found["state"])
            if (said := self._problem(found, expected, exact)) is not None:
                self._refuse(said)
        self._verified.add(sizes)
        return results

    def _outcome(self, given: Any, before: Mapping[str, torch.Tensor]) -> dict[str, Any]:
        """What eager PyTorch makes of arguments and state, which stay as they are."""
        states = self._written_states()
        args, kwargs = _cloned(given)
        with torch.no_grad():
            _put(states, before)
            results = self.eager(*args, **kwargs)
            outcome = {"output": results, "input": (args, kwargs), "state": _cloned(states)}
            _put(states, before)
        return outcome

    def _written_states(self) -> dict[str, torch.Tensor]:
        written = {m.name for m in self._signature.mutations if m.position is None}
        return {s.name: s.tensor for s in self._signature.state_inputs if s.name in written}

    def _problem(
        self,
        found: Mapping[str, Any],
        wanted: Mapping[str, Any],
        exact: Sequence[Exact | None] | None,
    ) -> str | None:
        """What does not agree first; None if all does."""
        count = sum(len(pytree.tree_leaves(theirs)) for theirs in wanted.values())
        known = iter(exact if exact is not None and len(exact) == count else ())
        for kind, theirs in wanted.items():
            actual, expected = pytree.tree_leaves(found[kind]), pytree.tree_leaves(theirs)
            if len(actual) != len(expected):
                return f"there are {len(actual)} {kind}s where PyTorch has {len(expected)}"
            names = list(theirs) if kind == "state" else list(range(len(actual)))
            for name, mine, other in zip(names, actual, expected):
                without_rounding = next(known, None)
                if isinstance(other, torch.Tensor):
                    if said := difference(mine, other, exact=without_rounding):
                        return f"{kind} {name!r} {said}"
                elif mine != other and other == other:
                    return f"{kind} {name!r} is {mine!r} where it is {other!r} in PyTorch"
        return None

    def _refuse(self, said: str) -> None:
        raise EngineError(
            f"engine '{self._engine}' does not agree with PyTorch: {said}",
            hint="please report the program; another engine or output type may take it",
        )


def _cloned(values: Any) -> Any:
    return pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.detach().clone(), values)


def _put(states: Mapping[str, torch.Tensor], values: Mapping[str, torch.Tensor]) -> None:
    with torch.no_grad():
        for name, state in states.items():
            state.copy_(values[name])
