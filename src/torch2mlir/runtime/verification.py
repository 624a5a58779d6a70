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
        before = {name: state.clone() for name, state in states.items()}
        theirs = pytree.tree_map_only(torch.Tensor, lambda t: t.detach().clone(), (args, kwargs))
        with torch.no_grad():
            expected = self.eager(*theirs[0], **theirs[1])
            states_of_eager = {name: state.clone() for name, state in states.items()}
            for name, state in states.items():
                state.copy_(before[name])
        results = compiled(args, kwargs)
        self._compare("output", results, expected)
        self._compare("input", (args, kwargs), theirs)
        self._compare("state", states, states_of_eager)
        self._verified.add(sizes)
        return results

    def _written_states(self) -> dict[str, torch.Tensor]:
        written = {m.name for m in self._signature.mutations if m.position is None}
        return {s.name: s.tensor for s in self._signature.state_inputs if s.name in written}

    def _compare(self, kind: str, ours: Any, theirs: Any) -> None:
        actual, expected = pytree.tree_leaves(ours), pytree.tree_leaves(theirs)
        if len(actual) != len(expected):
            self._refuse(f"there are {len(actual)} {kind}s where PyTorch has {len(expected)}")
        names = list(ours) if kind == "state" else list(range(len(actual)))
        for name, mine, other in zip(names, actual, expected):
            if isinstance(other, torch.Tensor) and (said := difference(mine, other)):
                self._refuse(f"{kind} {name!r} {said}")
            elif not isinstance(other, torch.Tensor) and mine != other and other == other:
                self._refuse(f"{kind} {name!r} is {mine!r} where it is {other!r} in PyTorch")

    def _refuse(self, said: str) -> None:
        raise EngineError(
            f"engine '{self._engine}' does not agree with PyTorch: {said}",
            hint="please report the program; another engine or output type may take it",
        )
