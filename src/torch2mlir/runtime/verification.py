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

TOLERANCES = {
    torch.float64: 1e-9,
    torch.complex128: 1e-9,
    torch.float32: 1e-3,
    torch.complex64: 1e-3,
    torch.float16: 2e-2,
    torch.complex32: 2e-2,
    torch.bfloat16: 1e-1,
}
"""Greatest error, as a part of the largest element; other dtypes must agree exactly."""


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
        compiled: Callable[..., Any],
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
        results = compiled(*args, **kwargs)
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


def difference(actual: Any, expected: torch.Tensor) -> str | None:
    """How a tensor differs from the one it should be; None if it does not."""
    if not isinstance(actual, torch.Tensor):
        return f"is no tensor: {actual!r}"
    for what in ("dtype", "shape"):
        mine, other = getattr(actual, what), getattr(expected, what)
        if mine != other:
            return f"has the {what} {mine} where it is {other} in PyTorch"
    tolerance = TOLERANCES.get(expected.dtype)
    if tolerance is None:
        wrong = actual != expected
    else:
        wrong = _too_far(actual.detach(), expected.detach(), tolerance)
    if not bool(wrong.any()):
        return None
    return _worst(actual, expected, wrong)


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)


def _too_far(actual: torch.Tensor, expected: torch.Tensor, tolerance: float) -> torch.Tensor:
    mine, other = _wide(actual), _wide(expected)
    numbers = other.isfinite()
    largest = other[numbers].abs().max() if bool(numbers.any()) else torch.zeros(())
    far = (mine - other).abs() > tolerance * largest.clamp(min=1e-6)
    same = (mine == other) | (mine.isnan() & other.isnan())
    return torch.where(numbers & mine.isfinite(), far, ~same)


def _worst(actual: torch.Tensor, expected: torch.Tensor, wrong: torch.Tensor) -> str:
    error = (_wide(actual.detach()) - _wide(expected.detach())).abs()
    error = torch.where(wrong, error.nan_to_num(nan=torch.inf), -1.0)
    place = torch.unravel_index(error.argmax(), expected.shape) if expected.dim() else ()
    at = tuple(int(p) for p in place)
    return (
        f"is {actual[at].item()} at {list(at)} where it is {expected[at].item()} in PyTorch (error "
        f"{error[at].item():.3g}, in {int(wrong.sum())} of {expected.numel()} elements)"
    )
